"""Bytes that a movie takes while its motion is learned and its links are found, a detection."""

import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.candidates import graph
from auctrack.tracker.linking.settings import LinkSettings

from ...traced import with_peak
from ..movies import walks


@pytest.mark.parametrize(
    ("points", "model", "most"),
    [
        (walks(3000, 8, step=0.2, persistence=0.0, missed=0.0, false=0.0)[0], "diffusion", 460),
        (walks(3000, 8)[0], "velocity", 670),
    ],
)
def test_no_more_is_held_at_a_time(monkeypatch, points, model, most):
    monkeypatch.setattr(graph, "PIECE", 256)  # of large movies one piece is next to nothing
    settings = LinkSettings(memory_budget_gb=10)
    link_points(points, settings)  # compiling allocates too
    linking, taken = with_peak(lambda: link_points(points, settings))
    assert linking.report["motion"] == model
    assert taken < most * len(points)
