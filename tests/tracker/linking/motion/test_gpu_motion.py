"""Motion learned on a GPU is what is learned on a CPU: by the kernels themselves run on the host, and on a real one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.matching.device import cuda
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.linking.gate import gpu_movie
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import Ordered
from auctrack.tracker.linking.motion.shared_shift import gpu_drift
from auctrack.tracker.linking.motion.shared_shift.drift import drift_of
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

from ..movies import caged, crystal, in_view, packing, passing, table, walks


def drifting(points: Points) -> Points:
    shift = 3.0 * points.frames
    return replace(points, table=points.table.assign(y=points.table["y"] + shift, x=points.table["x"] - shift))


def bright(points: Points, who: np.ndarray) -> Points:
    """The same, where each particle has a brightness and a size of its own."""
    rng = np.random.default_rng(0)
    own = rng.normal(0, 0.5, (2, who.max() + 1))[:, who] + rng.normal(0, 0.1, (2, len(who)))
    return replace(points, table=points.table.assign(intensity=np.exp(own[0]), size=np.exp(own[1])))


def with_a_cluster() -> Points:
    """A hundred in a place that holds one elsewhere: of most of these more are near than are looked at."""
    points = walks(150, 5, ndim=2, seed=7)[0]
    rng, many = np.random.default_rng(7), 100
    drawn = rng.normal(scale=0.3, size=(many, 2)) + 6.0 + rng.normal(scale=0.02, size=(5, many, 2))
    added = table(np.repeat(np.arange(5), many), drawn.reshape(-1, 2)).table
    return replace(points, table=pd.concat([points.table, added], ignore_index=True))


def along_the_diagonal(step: float, frames: int, ndim: int = 2) -> np.ndarray:
    return np.arange(frames)[:, None] * np.full(ndim, step)


MOVIES = {
    "3D": walks(100, 6)[0],
    "bright and large ones": bright(*walks(200, 6, step=0.8, seed=6)),
    "2D": walks(150, 6, ndim=2, seed=1)[0],
    "clean": walks(150, 6, missed=0.0, false=0.0, seed=2)[0],
    "voxels that are no cubes": replace(walks(150, 5, seed=3)[0], calibration=Calibration((2.0, 0.5, 0.7))),
    "drift": drifting(walks(150, 6, seed=4)[0]),
    "rows in any order": replace(walks(150, 5)[0], table=walks(150, 5)[0].table.sample(frac=1, random_state=1)),
    "a frame without particles": Points(walks(150, 6)[0].table.query("frame != 3")),
    "a field of view that particles leave": in_view(300, 6, step=0.6)[0],
    "steps longer than the spacing": walks(
        150, 8, step=1.5, persistence=1.0, missed=0.0, false=0.0, ndim=2, walls=True
    )[0],
    "a z that is the same everywhere": Points(walks(150, 6, ndim=2, seed=1)[0].table.assign(z=2.0)),
    "a dense cluster": with_a_cluster(),
    "more than a sample": walks(800, 6, seed=5)[0],
    "a packing that moves by its spacing": passing(*packing(200, ndim=2), along_the_diagonal(0.7, 5))[0],
    "a crystal that moves": passing(crystal("fcc", 5.0), 5.0, along_the_diagonal(0.1, 5, ndim=3))[0],
    "jumps out of cages": caged(150, 12, missed=0.02, false=0.02)[0],
    "farther jumps than candidates are": caged(300, 10, shear=0.08)[0],
    "few": walks(12, 4)[0],
    "one frame": walks(20, 1)[0],
    "one particle": table([0, 1, 2], [[0.0, 0.0], [0.0, 1.0], [0.5, 1.0]]),
}


SETTINGS = {
    "nothing given": LinkSettings(),
    "flow and velocity": LinkSettings(motion="flow+velocity"),
    "range and unmatched cost": LinkSettings(0.7, 0.5),
    "divisions": LinkSettings(divisions=True),
}
TRIED = [(name, "nothing given") for name in MOVIES] + [
    (name, given) for name in ("3D", "2D", "few") for given in SETTINGS if given != "nothing given"
]


@pytest.mark.parametrize(("name", "given"), TRIED)
def test_links_tracks_and_what_was_learned_are_those_of_a_cpu(gpu, name, given):
    found, wanted = (link_points(MOVIES[name], replace(SETTINGS[given], device=device)) for device in (gpu, "cpu"))
    columns = ["source", "target", "frames", "kind"]
    pd.testing.assert_frame_equal(found.links[columns], wanted.links[columns])
    np.testing.assert_array_equal(found.tracks.table["track_id"], wanted.tracks.table["track_id"])
    np.testing.assert_allclose(found.links["probability"], wanted.links["probability"], atol=1e-6)
    assert found.report["is_optimal"]
    assert found.report["learned"] == wanted.report["learned"]
    assert found.motion.repeats == wanted.motion.repeats == name.startswith("a crystal")
    assert found.motion.features == (("intensity", "size") if name.startswith("bright") else ())
    assert found.report["median_step"] == pytest.approx(wanted.report["median_step"])


def dense_clusters(ndim: int) -> Points:
    """Frames of particles that share a shift with the frame before, near or far, or none; few and none among them."""
    rng = np.random.default_rng(ndim)
    size = 8.0 if ndim == 3 else 16.0
    first = rng.uniform(0, size, (250, ndim))
    jumped = first + np.array([2.5, -1.4, 3.7])[-ndim:] + rng.normal(0, 0.1, first.shape)
    frames = [first, jumped, jumped + 0.1, rng.uniform(0, size, (251, ndim)), first[:5], first, first[::2] + 4.0]
    near = np.array([0.5, -1.2, 0.75])[-ndim:] + rng.normal(0, 0.05, (2, *first.shape))
    lattice = np.array(list(np.ndindex(*[6 if ndim == 3 else 15] * ndim))) + 0.3
    frames += [first, first + near[0], first + near[0] + near[1], lattice, lattice + 0.4]
    numbers = np.repeat([0, 1, 2, 3, 4, 6, 7, 9, 10, 11, 13, 14], [len(frame) for frame in frames])
    return table(numbers, np.concatenate(frames))


@pytest.mark.parametrize(("ndim", "kept", "at_once"), [(2, 1984, 256), (3, 1984, 256), (3, 5, 256), (3, 1984, 4)])
def test_the_common_shifts_of_all_frame_pairs_are_those_of_a_cpu_to_the_last_digit(
    gpu, monkeypatch, ndim, kept, at_once
):
    monkeypatch.setattr(gpu_drift, "KEPT", kept)
    monkeypatch.setattr(gpu_drift, "AT_ONCE", at_once)
    points = dense_clusters(ndim)
    with cuda.using(gpu) as cp:
        columns = tuple(cp.asarray(points.table[axis].to_numpy()) for axis in points.axes)
        frame = cp.asarray(points.frames)
        grid = gpu_movie.movie_on_device(cp, gpu_movie.DeviceTable(frame, columns, np.ones(ndim), 1), 0.0)
        starts = np.append(np.unique(grid.first_of_frame[:-1]), len(points))
        position = cp.ascontiguousarray(grid.position[:, 3 - ndim :])
        extent = np.ptp(cuda.to_host(position), axis=0)
        still = np.zeros((12, ndim))
        known = 1.0, extent, still, 0.0, np.zeros(ndim)
        movie = Ordered(position, np.unique(points.frames), starts, None, grid.row, *known, grid)
        found = drift_of(movie).of_frames
        wanted = drift_of(replace(movie, position=cuda.to_host(position), host_row=movie.row, grid=None)).of_frames
    assert (wanted[1] != wanted[0]).all()
    assert (wanted[2] == wanted[1]).all()
    assert (np.diff(wanted, axis=0)[[7, 8]] != 0).all()
    np.testing.assert_array_equal(found, wanted)
