"""One detection far from all others, such as a sentinel in place of a position: the others are linked as without it."""

from __future__ import annotations

import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from tests.tracker.linking.movies import walks


@pytest.mark.parametrize("away", [1e3, 1e6], ids="{:g} spacings away".format)
@pytest.mark.parametrize("ndim", [2, 3])
def test_a_detection_far_away_changes_no_link(ndim, away):
    points, _ = walks(150, 10, ndim=ndim)
    last = points.table.iloc[[-1]]
    with_it = Points(pd.concat([points.table, last.assign(y=last["y"] + away)], ignore_index=True))
    without, made = (link_points(each, LinkSettings(device="cpu")) for each in (points, with_it))
    ends = ["source", "target"]
    pd.testing.assert_frame_equal(made.links[ends], without.links[ends])
    assert made.report["expected_wrong"] == pytest.approx(without.report["expected_wrong"], rel=0.05)
