"""How wide divisions are, and which share of ends come from one, as learned from the ends that nothing leads to."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.whole_movie.branching import FIRST_WIDTH, RAREST, _learned, _OtherLinks, _Ways
from auctrack.tracker.points import Points

ENDS = np.arange(200)
NOBODY = np.zeros(200)
UNLINKED = _OtherLinks(np.empty(0, np.int32), *np.empty((4, 0)), np.arange(200), np.full(200, -1), 200, 3)
"""Mothers with no other link, which say nothing of whether they divide."""


def ways(away: np.ndarray, log_density: float, lag: np.ndarray | None = None, added: float = 0.0) -> _Ways:
    lag = np.ones(len(away), np.int32) if lag is None else lag
    return _Ways(int(lag.max()), lag, (away**2).sum(axis=1), 3, added * (lag - 1), log_density)


def test_ends_with_nobody_near_leave_the_rarest_share_there_is():
    _, share = _learned(ways(np.full((200, 3), 30.0), 0.0), ENDS, NOBODY, UNLINKED)
    assert share.tolist() == [RAREST] == [0.01]


def test_ends_that_all_lie_beside_a_track_leave_no_more_than_all_but_that():
    away = np.random.default_rng(0).normal(0, 0.3, (200, 3))
    variance, share = _learned(ways(away, -30.0), ENDS, NOBODY, UNLINKED)
    assert share.tolist() == [1 - RAREST]
    assert variance == pytest.approx((away**2).mean(), rel=0.01)


def test_ends_in_one_place_are_not_taken_for_sure():
    variance, _ = _learned(ways(np.zeros((200, 3)), -30.0), ENDS, NOBODY, UNLINKED)
    assert variance == pytest.approx((0.1 * FIRST_WIDTH) ** 2)


def test_ends_that_are_linked_already_teach_nothing():
    variance, share = _learned(ways(np.zeros((200, 3)), 0.0), ENDS, np.ones(200), UNLINKED)
    assert (variance, share.tolist()) == (FIRST_WIDTH**2, [0.5])


def test_daughters_a_frame_late_have_a_share_of_their_own_and_an_ordinary_step_more():
    lag = np.where(np.arange(200) < 150, 1, 2).astype(np.int32)
    away = np.random.default_rng(0).normal(0, np.where(lag == 1, 0.2, 0.3)[:, None], (200, 3))
    variance, share = _learned(ways(away, -30.0, lag, added=0.05), ENDS, NOBODY, UNLINKED)
    assert share == pytest.approx(np.array([0.75, 0.25]) * (1 - RAREST), rel=0.01)
    assert variance == pytest.approx(0.04, rel=0.1)


def dividing_cells(missed: str) -> tuple[Points, np.ndarray]:
    """Twenty-five cells far apart, one detection missed of every other division; and who each detection is.

    Cell k is number 3k; after frame 3 its daughters 3k + 1 and 3k + 2 are on either side of it.
    """
    rng, rows, names = np.random.default_rng(0), [], []
    for k, corner in enumerate(np.mgrid[:5, :5].reshape(2, -1).T * 10.0):
        for frame in range(8):
            for name, side in [(3 * k, 0.0)] if frame < 4 else [(3 * k + 1, -1.5), (3 * k + 2, 1.5)]:
                is_missed = frame == {"mother": 3, "daughter": 4}[missed] and (missed == "mother" or side > 0)
                if k % 2 and is_missed:
                    continue
                y, x = corner + rng.normal(0, 0.2, 2)
                rows.append((frame, y + side, x))
                names.append(name)
    return Points(pd.DataFrame(rows, columns=["frame", "y", "x"])), np.array(names)


@pytest.mark.parametrize("missed", ["mother", "daughter"])
def test_a_division_is_found_where_one_of_its_detections_is_missed(missed):
    points, who = dividing_cells(missed)
    links = link_points(points, LinkSettings(divisions=True, max_missed_frames=1)).links
    found = {(int(who[a]), int(who[b])) for a, b in links[["source", "target"]].to_numpy() if who[a] != who[b]}
    assert found == {(3 * k, 3 * k + daughter) for k in range(25) for daughter in (1, 2)}
    assert links.query("kind == 'division'")["frames"].max() == 2


def test_no_frame_between_a_mother_and_her_daughters_is_missed_where_none_may_be():
    points, _ = dividing_cells("daughter")
    links = link_points(points, LinkSettings(divisions=True, max_missed_frames=0)).links
    assert links["frames"].max() == 1
