"""How far a link may reach over several frames when one is made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking.motion.models.step_model import StepModel
from auctrack.tracker.linking.whole_movie.link_gain import LearnedGain

LAW = StepModel(np.ones(1), np.ones((1, 2)), np.ones((1, 2)), np.zeros((1, 2)), np.ones(3) / 3)
ANY = np.zeros(1)


@pytest.mark.parametrize(("lag", "radius"), [(1, 3.0), (4, 6.0), (9, 6.0)])
def test_it_grows_with_the_root_of_the_frames_up_to_three_spacings(lag, radius):
    gain = LearnedGain(LAW, ANY, ANY, ANY, ANY, ANY, np.zeros((1, 2)), spacing=2.0, reach=1.5, longest=100.0)
    assert gain.radius(lag) == radius


def test_a_search_range_limits_each_frame_of_it():
    gain = LearnedGain(LAW, ANY, ANY, ANY, ANY, ANY, np.zeros((1, 2)), spacing=2.0, reach=1.5, longest=2.5)
    assert [gain.radius(lag) for lag in (1, 2, 3)] == pytest.approx([2.5, 3 * np.sqrt(2), 3 * np.sqrt(3)])
