"""What a context gains on links that were held out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.linking.motion.learning.held_out import (
    ENOUGH,
    MOST,
    every_other,
    gain_of_link_before,
    gain_without,
    some,
)
from auctrack.tracker.linking.motion.models.step_model import StepModel

N = 4000
LAW = StepModel(
    shares=np.array([0.5, 0.5]),
    first=np.array([[1.0, 1.0], [2.0, 2.0]]),
    second=np.array([[1.0, 1.0], [2.0, 2.0]]),
    persistence=np.full((2, 2), 0.5),
    turns=np.array([0.9, 0.05, 0.05]),
)
ASKED = np.arange(N) % 2 == 1


def drawn(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(N, 2))


@pytest.mark.parametrize("count", [0, 2 * ENOUGH - 1])
def test_of_too_few_links_none_is_asked(count):
    assert every_other(np.arange(count), np.arange(count)) is None


def test_links_of_odd_frames_are_asked():
    frame = np.repeat(np.arange(4), ENOUGH)
    asked = every_other(frame, np.arange(len(frame)))
    np.testing.assert_array_equal(asked, np.isin(frame, (1, 3)))


def test_where_one_side_is_too_small_every_other_rank_is_asked():
    frame = np.repeat([0, 1], [2 * ENOUGH, ENOUGH - 1])
    rank = 10 * np.arange(len(frame))[::-1]
    np.testing.assert_array_equal(every_other(frame, rank), rank // 10 % 2 == 1)


@pytest.mark.parametrize(("count", "marked"), [(MOST, MOST), (MOST + 2, MOST // 2 + 1), (5 * MOST, MOST)])
def test_some_links_stand_for_all(count, marked):
    assert np.count_nonzero(some(np.arange(count))) == marked


def test_a_context_that_explains_three_quarters_of_the_variance_gains_ln_2_an_axis():
    step = drawn(1)
    assert gain_without(step / 2, step, ASKED, LAW) == pytest.approx(2 * np.log(2), abs=0.01)


def test_a_context_is_not_judged_by_the_links_that_taught():
    step = drawn(1)
    taught_only = np.where(ASKED[:, None], step, step / 2)
    assert gain_without(taught_only, step, ASKED, LAW) < 0


@pytest.mark.parametrize("persistence", [0.0, 0.8])
def test_the_step_before_gains_what_it_tells(persistence):
    """Of Gaussian steps that is the mutual information of two in a row, −½ ln(1 − p²) an axis."""
    before = drawn(2)
    step = persistence * before + np.sqrt(1 - persistence**2) * drawn(3)
    information = -np.log(1 - persistence**2)
    assert gain_of_link_before(step, before, ASKED, LAW) == pytest.approx(information, abs=0.03)


def test_where_a_model_begins_does_not_decide_what_the_step_before_gains():
    switching = replace(LAW, turns=np.array([0.05, 0.9, 0.05]))
    before = drawn(2)
    step = 0.8 * before + 0.6 * drawn(3)
    assert gain_of_link_before(step, before, ASKED, switching) == pytest.approx(-np.log(0.36), abs=0.03)
