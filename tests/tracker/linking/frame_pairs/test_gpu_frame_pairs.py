"""First order on a GPU links what it links on a CPU: by the kernels themselves run on the host, and on a real one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.matching.device import cuda
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput
from auctrack.tracker.linking.frame_pairs import gpu_frame_pairs, gpu_table
from auctrack.tracker.linking.gate import spacing
from auctrack.tracker.linking.link import link, link_points, link_steps
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.unmatched_cost import measured
from auctrack.tracker.points import Points
from auctrack.tracker.stepwise import finished
from auctrack.tracker.timeline import Timeline

from ....matching.hungarian.host_kernels import HostArray
from ..movies import table, walks


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Frames a run ends at, as they are cut."""
    seen: list[int] = []
    cut = gpu_frame_pairs._runs

    def watched(*sizes):
        for a, b, size in cut(*sizes):
            seen.append(b)
            yield a, b, size

    monkeypatch.setattr(gpu_frame_pairs, "_runs", watched)
    return seen


def shuffled(points: Points) -> Points:
    return replace(points, table=points.table.sample(frac=1, random_state=1))


def strided(points: Points) -> Points:
    return Points(points.table.assign(frame=points.frames * 5 - 20), timeline=Timeline(5))


def with_holes(points: Points) -> Points:
    return replace(points, table=points.table[~points.table["frame"].isin([1, 4])])


def lattice(n: int = 6) -> Points:
    grid = np.stack(np.meshgrid(*[np.arange(n, dtype=float)] * 3), axis=-1).reshape(-1, 3)
    return table(np.repeat([0, 1, 2], len(grid)), np.concatenate([grid, grid + 0.25, grid + 0.4]))


SMALL = {"n": 40, "frames": 6}
MOVIES = {
    "3D": walks(**SMALL)[0],
    "2D": walks(**SMALL, ndim=2)[0],
    "voxels that are no cubes": replace(walks(**SMALL)[0], calibration=Calibration((2.0, 0.5, 0.7))),
    "rows in any order": shuffled(walks(**SMALL)[0]),
    "every fifth frame, from before 0": strided(walks(**SMALL)[0]),
    "frames without particles": with_holes(walks(**SMALL)[0]),
    "one frame": walks(40, 1)[0],
    "one particle": table([0, 1, 2], [[0.0, 0.0], [0.0, 1.0], [0.5, 1.0]]),
    "still on a lattice": lattice(4),
    "on a line": table(np.repeat([0, 1], 20), np.stack([np.zeros(40), np.tile(np.arange(20.0), 2)], axis=1)),
}


def links(linking) -> dict[tuple[int, int], float]:
    return dict(
        zip(zip(linking.links["source"], linking.links["target"], strict=True), linking.links["length"], strict=True)
    )


@pytest.mark.parametrize("cost", ["squared", "distance"])
@pytest.mark.parametrize("name", MOVIES)
def test_links_tracks_and_proof_are_those_of_a_cpu(gpu, runs, name, cost):
    settings = LinkSettings(motion="none", cost=cost, device=gpu)
    found, wanted = (link_points(MOVIES[name], replace(settings, device=device)) for device in (gpu, "cpu"))
    assert links(found) == links(wanted)
    np.testing.assert_array_equal(found.tracks.table["track_id"], wanted.tracks.table["track_id"])
    assert len(runs) == found.report["solves"]
    same = ("frame_pairs", "candidate_links", "links", "is_optimal", "median_step")
    assert {key: found.report[key] for key in same} == {key: wanted.report[key] for key in same}
    assert found.report["is_optimal"]
    assert list(found.links["source"]) == sorted(found.links["source"])


@pytest.mark.parametrize("at_a_time", [400, 1_000])
def test_how_a_movie_is_cut_changes_nothing(gpu, runs, monkeypatch, at_a_time):
    points, settings = walks(60, 9, seed=2)[0], LinkSettings(motion="none", device=gpu)
    whole = link_points(points, settings)
    monkeypatch.setattr(gpu_frame_pairs, "AT_A_TIME", at_a_time)
    cut = link_points(points, settings)
    assert cut.report["solves"] > whole.report["solves"] == 1
    pd.testing.assert_frame_equal(cut.links, whole.links)
    assert runs[-1] == 8


def test_a_card_with_little_memory_at_hand_solves_less_at_a_time(monkeypatch):
    monkeypatch.setattr(cuda, "free_bytes", lambda: 1 << 40)
    assert gpu_frame_pairs.at_a_time() == gpu_frame_pairs.AT_A_TIME
    monkeypatch.setattr(cuda, "free_bytes", lambda: 10**9)
    assert gpu_frame_pairs.at_a_time() == 10**9 // gpu_frame_pairs.BYTES_EACH


def test_a_link_as_long_as_the_range_is_a_candidate_and_a_longer_one_none(gpu):
    points = table([0, 0, 1, 1], [[0.0, 0.0], [0.0, 50.0], [3.0, 4.0], [3.0, np.nextafter(54.0, 60.0)]])
    made = link_points(points, LinkSettings(5.0, 100.0, motion="none", device=gpu))
    assert set(links(made)) == {(0, 2)}


@pytest.mark.parametrize("why", ["too many for memory", "dense", "scattered frames"])
def test_what_one_grid_cannot_serve_is_linked_frame_pair_by_frame_pair(gpu, monkeypatch, why):
    points = walks(**SMALL)[0]
    if why == "too many for memory":
        monkeypatch.setattr(gpu_frame_pairs, "AT_A_TIME", 50)
    if why == "dense":
        points = table(np.repeat([0, 1], 100), np.repeat([[0.0, 0.0], [9.0, 9.0]], 100, axis=0))
    if why == "scattered frames":
        points = replace(points, table=points.table.assign(frame=points.frames + 10**12 * (points.frames > 2)))
    settings = LinkSettings(2.0, 1.0, motion="none")
    taken: list[int] = []
    monkeypatch.setattr(gpu_frame_pairs.PairLinks, "add", lambda *solved: taken.append(len(solved)))
    assert gpu_frame_pairs.takes_gpu(points, replace(settings, device=gpu))
    link_points(points, replace(settings, device=gpu, solver="auction"))
    assert taken


def test_a_range_that_decides_among_more_links_than_fit_anywhere_gives_those_of_much_memory(gpu, monkeypatch):
    """Too many for the GPU are left to the host, and too many for its budget are worked through."""
    points = walks(**SMALL)[0]
    much = LinkSettings(2.0, 5.0, motion="none", device=gpu)
    made = link_points(points, much)
    monkeypatch.setattr(gpu_frame_pairs, "AT_A_TIME", 50)
    little = link_points(points, replace(much, memory_budget_gb=1e-9))
    assert (made.report["device"], little.report["device"]) == ("cuda:0", "cpu")
    assert links(little) == pytest.approx(links(made), rel=1e-12)
    assert little.report["is_optimal"]


def test_progress_counts_frame_pairs(gpu, monkeypatch):
    monkeypatch.setattr(gpu_frame_pairs, "AT_A_TIME", 1_000)
    seen: list[tuple[int, int]] = []
    points = walks(60, 9, seed=2)[0]
    link_points(points, LinkSettings(motion="none", device=gpu), progress=lambda *done: seen.append(done))
    assert seen[-1] == (9, 9)
    assert seen == sorted(seen)


@pytest.mark.parametrize("motion", ["none", "auto"])
def test_steps_say_that_they_are_done_on_a_gpu(gpu, motion):
    seen: list[str] = []
    steps = link_steps(walks(60, 9, seed=2)[0], LinkSettings(motion=motion, device=gpu))
    finished(steps, lambda step: seen.append(step.device))
    assert set(seen) == {gpu}


def test_a_table_gets_its_tracks(gpu):
    spots = walks(60, 5)[0].table
    found, wanted = (link(spots, 1.0, motion="none", device=device) for device in (gpu, "cpu"))
    pd.testing.assert_frame_equal(found, wanted)


class ColumnOnHost(HostArray):
    """What stands for an array of any library on a GPU."""

    __cuda_array_interface__ = property(lambda self: {"shape": self.shape})


def on_gpu(points: Points) -> dict[str, np.ndarray]:
    cp = cuda.cupy()
    columns = {name: cp.asarray(points.table[name].to_numpy()) for name in ("frame", *points.axes)}
    is_host = isinstance(columns["frame"], HostArray)
    return {name: column.view(ColumnOnHost) for name, column in columns.items()} if is_host else columns


@pytest.mark.parametrize("name", ["3D", "2D", "rows in any order", "frames without particles", "one frame"])
@pytest.mark.parametrize("given", [{}, {"search_range": 1.2}, {"search_range": 1.0, "unmatched_cost": 0.7}])
def test_columns_on_a_gpu_are_linked_there_as_on_a_cpu(gpu, name, given):
    del gpu
    points = MOVIES[name]
    table = on_gpu(points)
    linked = link(table, **given, motion="none", scale=(0.5,) * points.ndim)
    wanted = link(points.table, **given, motion="none", device="cpu", scale=(0.5,) * points.ndim)
    assert list(linked) == [*table, "track_id"]
    assert cuda.is_device_array(linked["track_id"])
    np.testing.assert_array_equal(cuda.to_host(linked["track_id"]), wanted["track_id"])


def test_the_first_frames_tell_range_and_unmatched_cost_of_all_on_a_gpu(gpu, monkeypatch):
    del gpu
    points = walks(60, 9, seed=2)[0]
    for module in (gpu_table, measured, spacing):
        monkeypatch.setattr(module, "ENOUGH", 100)
    first: list[int] = []
    found = gpu_table._first_frames

    def watched(*given):
        first.append(len(some := found(*given)))
        return some

    monkeypatch.setattr(gpu_table, "_first_frames", watched)
    linked, wanted = link(on_gpu(points), motion="none"), link(points.table, motion="none", device="cpu")
    np.testing.assert_array_equal(cuda.to_host(linked["track_id"]), wanted["track_id"])
    assert first[0] < len(points)


def test_an_empty_table_on_a_gpu_stays_empty(gpu):
    del gpu
    empty = {name: column[:0] for name, column in on_gpu(MOVIES["3D"]).items()}
    assert len(link(empty, motion="none")["track_id"]) == 0


BROKEN = {
    "a column is missing": lambda table: {name: column for name, column in table.items() if name != "y"},
    "a column is shorter": lambda table: table | {"x": table["x"][1:]},
    "a position is none": lambda table: table | {"x": table["x"] * np.nan},
    "frames in between": lambda table: table | {"frame": table["frame"] + 0.5},
}


@pytest.mark.parametrize("how", BROKEN)
def test_columns_on_a_gpu_are_checked(gpu, how):
    del gpu
    with pytest.raises(InvalidInput):
        link(BROKEN[how](on_gpu(MOVIES["3D"])), motion="none")


ON_THE_HOST = {
    "learned motion, the default": {},
    "another solver": {"motion": "none", "solver": "jv"},
    "a CPU": {"motion": "none", "device": "cpu"},
    "segments": {"linking": "jaqaman", "search_range": 1.0},
    "divisions": {"divisions": True},
    "a predictor": {"predict": lambda points, rows, _: points.positions_of(rows) + 0.1},
}


@pytest.mark.parametrize("what", ON_THE_HOST)
@pytest.mark.parametrize("name", ["3D", "2D"])
def test_what_a_gpu_does_not_do_where_columns_are_is_done_on_a_copy(gpu, name, what, monkeypatch):
    del gpu
    points, table = MOVIES[name], on_gpu(MOVIES[name])
    if isinstance(table["frame"], HostArray):
        monkeypatch.setattr(cuda, "devices", tuple)  # there is none to solve on
    linked = link(table, **ON_THE_HOST[what], scale=(0.5,) * points.ndim)
    wanted = link(points.table[list(table)], **ON_THE_HOST[what], scale=(0.5,) * points.ndim)
    assert list(linked) == list(wanted)
    for column, values in linked.items():
        assert cuda.is_device_array(values)
        np.testing.assert_array_equal(cuda.to_host(values), wanted[column].to_numpy(float))


def test_particles_too_dense_for_a_gpu_to_look_for_links_are_linked_by_their_copy(gpu, monkeypatch):
    del gpu
    points = MOVIES["3D"]
    monkeypatch.setattr(gpu_table, "linked_on_device", lambda *_: (yield from ()))
    linked, wanted = link(on_gpu(points), motion="none"), link(points.table, motion="none", device="cpu")
    np.testing.assert_array_equal(cuda.to_host(linked["track_id"]), wanted["track_id"])


@pytest.mark.parametrize("features", ["auto", ["intensity"]])
def test_features_are_read_from_columns_on_a_gpu(gpu, features):
    del gpu
    points, who = walks(300, frames=5, step=0.8)
    bright = np.random.default_rng(0).lognormal(0, 0.5, len(who) + 1)[who]
    table = points.table.assign(intensity=bright)
    there = on_gpu(points) | {"intensity": cuda.cupy().asarray(bright)}
    found, wanted = link(there, features=features), link(table, features=features, device="cpu")
    np.testing.assert_array_equal(cuda.to_host(found["track_id"]), wanted["track_id"])
    plain = link(table, features="none", device="cpu")
    assert not wanted["track_id"].equals(plain["track_id"])


def test_auto_takes_a_gpu_for_many_particles(monkeypatch):
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setattr(gpu_frame_pairs, "GPU_PAYS", 300)
    few, many = walks(40, 2)[0], walks(400, 2)[0]
    settings = LinkSettings(motion="none")
    assert gpu_frame_pairs.takes_gpu(many, settings)
    assert not gpu_frame_pairs.takes_gpu(few, settings)
    assert gpu_frame_pairs.takes_gpu(few, replace(settings, device="cuda"))
    assert not gpu_frame_pairs.takes_gpu(many, replace(settings, solver="jv"))
    assert not gpu_frame_pairs.takes_gpu(many, replace(settings, device="cpu"))
