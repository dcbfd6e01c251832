"""Frame pairs gated many at a time have the candidate links that each has alone, whatever there is room for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.linking.gate import candidates
from auctrack.tracker.linking.gate.candidates import CandidateLinks, WideGate, frame_pairs, gate, gated_pairs, in_runs
from auctrack.tracker.linking.gate.limits import GateLimits
from auctrack.tracker.points import Points

Pair = tuple[list[int], list[int], list[int], list[int], list[float]]


def pairs_of(links: CandidateLinks) -> list[Pair]:
    """Return what is said of each frame pair."""
    pairs = []
    for rows, cols in zip(np.diff(links.row_offsets).cumsum(), np.diff(links.col_offsets).cumsum(), strict=True):
        at = len(pairs)
        first, col = int(links.row_offsets[at]), int(links.col_offsets[at])
        own = slice(*links.indptr[[first, rows]].tolist())
        pairs.append(
            (
                links.row_points[first:rows].tolist(),
                links.col_points[col:cols].tolist(),
                np.diff(links.indptr[first : rows + 1]).tolist(),
                links.indices[own].tolist(),
                links.distance[own].tolist(),
            )
        )
    return pairs


def movie(seed: int, sizes: list[int], *, kind: str, in_order: bool, voxel: float) -> Points:
    """Return a movie with frames of some sizes, none of those of size 0."""
    rng = np.random.default_rng(seed)
    frame = np.repeat(np.arange(len(sizes)), sizes)
    at = rng.random((len(frame), 3)) * 6
    if kind == "ties":
        at = np.round(at)
    elif kind == "one place":
        at[:] = 1.5
    table = pd.DataFrame({"frame": frame, "z": at[:, 0], "y": at[:, 1], "x": at[:, 2]})
    table = table if in_order else table.sample(frac=1, random_state=seed % 1000).reset_index(drop=True)
    return Points(table, Calibration((voxel, 0.5, 0.5)))


@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.lists(st.sampled_from([0, 1, 2, 7, 30, 60]), min_size=1, max_size=14),
    kind=st.sampled_from(["even", "ties", "one place"]),
    in_order=st.booleans(),
    voxel=st.sampled_from([0.5, 2.0]),
    radius=st.sampled_from([0.0, 0.4, 1.0, 50.0]),
    together=st.sampled_from([0, 1, 50, 400, 5000, 10**6]),
    written=st.sampled_from([0, 100, 900, 10**7]),
)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_gated_at_once_is_gated_one_by_one(seed, sizes, kind, in_order, voxel, radius, together, written):
    if sum(sizes) == 0:
        return
    points = movie(seed, sizes, kind=kind, in_order=in_order, voxel=voxel)
    limits = GateLimits(together, written, 10**6)
    alone = [gate(*pair, radius, limits) for pair in frame_pairs(points, radius)]
    expected = [None if isinstance(links, WideGate) else pairs_of(links)[0] for links in alone]
    for runs in (gated_pairs(points, radius, limits), in_runs(gated_pairs(points, radius, limits), limits)):
        found = []
        for links in runs:
            if isinstance(links, WideGate):
                found.append(None)
                continue
            own = pairs_of(links)
            assert len(own) == 1 or links.size <= together, "one frame pair alone may have more"
            found += own
        assert found == expected


def test_small_frames_are_asked_in_one_call(monkeypatch: pytest.MonkeyPatch):
    points = movie(0, [30] * 100, kind="even", in_order=True, voxel=0.5)
    calls = []
    asked = candidates.pairs_in_grids
    monkeypatch.setattr(candidates, "pairs_in_grids", lambda *given: calls.append(1) or asked(*given))
    (links,) = gated_pairs(points, 0.4)
    assert len(links.row_offsets) - 1 == 99
    assert len(calls) == 1


def test_ends_are_the_rows_of_the_table_that_are_so_far_apart():
    points = movie(3, [30, 5, 0, 12, 40, 8], kind="even", in_order=False, voxel=2.0)
    (links,) = in_runs(gated_pairs(points, 2.0))
    source, target = links.ends
    assert len(links.row_offsets) > 2
    assert (points.frames[target] - points.frames[source] == 1).all()
    length = np.linalg.norm(points.positions[target] - points.positions[source], axis=1)
    np.testing.assert_allclose(length, links.distance, rtol=1e-12)
