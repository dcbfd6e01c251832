"""How wide divisions are, and which share of ends come from one, as learned from the ends that nothing leads to."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.whole_movie.branching import FIRST_WIDTH, RAREST, _learned, _OtherLinks

ENDS = np.arange(200)
NOBODY = np.zeros(200)
UNLINKED = _OtherLinks(np.empty(0, np.int32), *np.empty((3, 0)), np.arange(200), np.full(200, -1), 200, 3)
"""Mothers with no other link, which say nothing of whether they divide."""


def test_ends_with_nobody_near_leave_the_rarest_share_there_is():
    _, share = _learned(np.full((200, 3), 30.0), ENDS, NOBODY, 0.0, UNLINKED)
    assert share == RAREST == 0.01


def test_ends_that_all_lie_beside_a_track_leave_no_more_than_all_but_that():
    away = np.random.default_rng(0).normal(0, 0.3, (200, 3))
    variance, share = _learned(away, ENDS, NOBODY, -30.0, UNLINKED)
    assert share == 1 - RAREST
    assert variance == pytest.approx((away**2).mean(), rel=0.01)


def test_ends_in_one_place_are_not_taken_for_sure():
    variance, _ = _learned(np.zeros((200, 3)), ENDS, NOBODY, -30.0, UNLINKED)
    assert variance == pytest.approx((0.1 * FIRST_WIDTH) ** 2)


def test_ends_that_are_linked_already_teach_nothing():
    assert _learned(np.zeros((200, 3)), ENDS, np.ones(200), 0.0, UNLINKED) == (FIRST_WIDTH**2, 0.5)
