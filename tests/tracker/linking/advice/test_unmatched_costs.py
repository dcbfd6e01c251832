"""Links, lost and new over the unmatched cost: counted on frames that have a frame after or before them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.advice.unmatched_costs import at_unmatched_costs
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points


def on_a_line(*frames: list[float]) -> Points:
    number = np.repeat(np.arange(len(frames)), [len(places) for places in frames])
    return Points(pd.DataFrame({"frame": number, "y": 0.0, "x": np.concatenate(frames)}))


def test_each_unmatched_cost_pays_for_links_of_twice_its_length():
    """Steps of 1, 2 and 4; the last particle of the later frame has none before it."""
    points = on_a_line([0.0, 100, 200], [1.0, 102, 204, 300])
    made = at_unmatched_costs(points, LinkSettings(50.0), [0.4, 0.6, 1.1, 2.1])
    assert [at.links for at in made] == [0, 1, 2, 3]
    assert [at.lost for at in made] == pytest.approx([1, 2 / 3, 1 / 3, 0])
    assert [at.new for at in made] == pytest.approx([1, 3 / 4, 2 / 4, 1 / 4])


def test_the_first_frame_has_no_new_particles_and_the_last_none_lost():
    (at,) = at_unmatched_costs(on_a_line([0.0, 10], [0.0], [0.0, 10, 20]), LinkSettings(50.0), [1.0])
    assert (at.links, at.lost, at.new) == (2, pytest.approx(1 / 3), pytest.approx(1 / 2))


def test_the_range_stays():
    (at,) = at_unmatched_costs(on_a_line([0.0], [4.0]), LinkSettings(3.0), [100.0])
    assert at.links == 0


def test_without_a_frame_pair_nothing_is_lost_or_new():
    (at,) = at_unmatched_costs(on_a_line([0.0, 1.0]), LinkSettings(3.0), [1.0])
    assert (at.links, at.lost, at.new) == (0, 0.0, 0.0)
