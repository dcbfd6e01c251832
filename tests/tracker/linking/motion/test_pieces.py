"""Learning in pieces, side by side: how many processors there are changes nothing, and neither does the cut."""

import numpy as np
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings

from ..movies import walks


@pytest.fixture
def in_pieces(monkeypatch):
    """Link a movie of persistent walks, some detections missed, by so many detections a piece and processors."""

    def link(detections, processors):
        monkeypatch.setattr("auctrack.tracker.linking.motion.candidates.graph.PIECE", detections)
        monkeypatch.setattr("auctrack.matching.jit.threads.processors", lambda: processors)
        points, _ = walks(400, step=0.4, persistence=0.8, missed=0.05)
        return link_points(points, LinkSettings(max_missed_frames=1, device="cpu")).links

    return link


def test_links_are_the_same_to_the_last_digit_whatever_the_number_of_processors(in_pieces):
    one, four = in_pieces(100, 1), in_pieces(100, 4)
    for column in one:
        np.testing.assert_array_equal(one[column], four[column])


def test_the_cut_changes_probabilities_by_rounding_only(in_pieces):
    whole, cut = in_pieces(1 << 15, 1), in_pieces(37, 2)
    np.testing.assert_array_equal(whole[["source", "target"]], cut[["source", "target"]])
    np.testing.assert_allclose(whole["probability"], cut["probability"], atol=1e-9)
    np.testing.assert_allclose(whole["margin"], cut["margin"], rtol=1e-7)
