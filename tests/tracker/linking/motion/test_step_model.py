"""A model of motion is never narrower, and no class of it rarer, than can be true."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.motion.step_model import LEAST_SHARE, NARROWEST, RELATIVE, StepModel


def model(shares: list[float], first: list[float], second: list[float]) -> StepModel:
    parts = (np.array(part) for part in (shares, first, second, [0.5] * len(shares)))
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
