"""A model of motion is never narrower, and no class of it rarer, than can be true."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.motion.detections.rounding import NARROWEST
from auctrack.tracker.linking.motion.models.step_model import LEAST_SHARE, RELATIVE, StepModel, Sums


def model(shares: list[float], first: list[float], second: list[float]) -> StepModel:
    parts = (np.array(part) for part in (shares, first, second, [[0.5]] * len(shares)))
    return StepModel(*parts, 1.0)


def test_a_class_is_at_least_as_wide_as_measurement_allows():
    still = model([0.5, 0.5], [0.0, 0.0], [0.0, 0.0]).floored()
    assert still.first.tolist() == pytest.approx([NARROWEST**2] * 2, rel=1e-12)
    assert still.second.tolist() == pytest.approx([NARROWEST**2] * 2, rel=1e-12)


def test_a_class_is_no_narrower_than_a_share_of_the_whole():
    floored = model([0.5, 0.5], [1.0, 0.0], [0.0, 0.0]).floored()
    least = RELATIVE**2 * 0.5
    assert floored.first.tolist() == pytest.approx([1.0, least], rel=1e-12)
    assert floored.second.tolist() == pytest.approx([RELATIVE**2, max(NARROWEST**2, RELATIVE**2 * least)], rel=1e-12)


def test_the_rarest_class_has_the_least_share():
    floored = model([1.0, 0.0], [1.0, 1.0], [1.0, 1.0]).floored()
    assert floored.shares.tolist() == pytest.approx([1 / (1 + LEAST_SHARE), LEAST_SHARE / (1 + LEAST_SHARE)])


def test_idle_classes_are_left_out_and_the_others_share_all():
    busy = model([0.3, 0.6, LEAST_SHARE], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]).without_idle_classes()
    assert busy.shares.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert busy.first.tolist() == [1.0, 2.0]
    assert busy.second.tolist() == [4.0, 5.0]


def test_a_class_that_is_known_to_be_rare_stays_as_rare():
    first = np.array([[1.0, 1.0], [2.0, 3.0]])
    usual = StepModel(np.array([0.4, 0.6]), first, first, np.full_like(first, 0.5), np.ones(3) / 3)
    rare = usual.with_rare_class(0.001, 9.0)
    assert rare.shares.tolist() == pytest.approx([0.3996, 0.5994, 0.001])
    assert rare.first.tolist() == [[1.0, 1.0], [2.0, 3.0], [9.0, 9.0]]
    assert (rare.second[-1].tolist(), rare.persistence[-1].tolist()) == ([9.0, 9.0], [0.0, 0.0])
    assert rare.floored().shares.tolist() == pytest.approx(rare.shares.tolist())


def pairs(persistence: list[float], count: int) -> Sums:
    """What pairs of steps say whose axes repeat so much of the step before, each with a variance of its own."""
    rng = np.random.default_rng(0)
    width = np.array([3.0, 1.0, 1.0])
    before = rng.normal(size=(count, 3)) * width
    later = before * persistence + rng.normal(size=(count, 3)) * width
    sums = ((later**2).sum(axis=0), (later * before).sum(axis=0), (before**2).sum(axis=0))
    return Sums(count, count, 0.0, np.array([float(count)]), *(each[None] for each in sums))


def learned(persistence: list[float], count: int) -> list[float]:
    """What a model of one class learns of them."""
    whole = StepModel(np.ones(1), np.ones((1, 3)), np.array([[9.0, 1.0, 1.0]]), np.zeros((1, 3)), np.ones(3) / 3)
    return whole.learned_from(pairs(persistence, count)).persistence[0].tolist()


def test_a_depth_that_goes_back_has_a_persistence_of_its_own():
    assert learned([-0.4, 0.7, 0.7], 2000) == pytest.approx([-0.4, 0.7, 0.7], abs=0.05)


@pytest.mark.parametrize(("persistence", "count"), [([0.7, 0.7, 0.7], 2000), ([-0.4, 0.7, 0.7], 5)])
def test_axes_that_are_alike_and_few_pairs_share_one(persistence, count):
    assert len(set(learned(persistence, count))) == 1
