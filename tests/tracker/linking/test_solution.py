"""What corrections start from is kept where linking has it at hand, and nothing is linked otherwise for it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.editing.session import Session
from auctrack.tracker.linking.link import link_points, link_steps
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.solution import KeepSolution
from auctrack.tracker.linking.whole_movie.windows import BYTES_A_DETECTION
from auctrack.tracker.points import Points
from auctrack.tracker.stepwise import finished

from .movies import table, walks

MOTIONS = {"learned": LinkSettings(), "none": LinkSettings(motion="none")}


def linked(points: Points, settings: LinkSettings, keeping: KeepSolution) -> Linking:
    return finished(link_steps(points, settings, keeping=keeping, margins=True))


@pytest.mark.parametrize("settings", MOTIONS.values(), ids=MOTIONS)
def test_links_are_the_same_whether_or_not_anything_is_kept(settings):
    points = walks(70, 6, seed=4)[0]
    kept, plain = (linked(points, settings, keeping) for keeping in (KeepSolution.AT_HAND, KeepSolution.NOTHING))
    assert plain.solution is None
    assert kept.solution is not None
    pd.testing.assert_frame_equal(kept.links, plain.links)
    assert kept.report == plain.report


@pytest.mark.parametrize("settings", MOTIONS.values(), ids=MOTIONS)
def test_corrections_start_from_it_without_linking_again(settings, monkeypatch):
    linking = linked(walks(70, 6, seed=4)[0], settings, KeepSolution.AT_HAND)
    monkeypatch.delattr("auctrack.tracker.editing.session.link_points")
    session = Session(linking)
    wrong = [int(end) for end in linking.doubtful(1)[["source", "target"]].to_numpy()[0]]
    session.break_link(*wrong)
    assert wrong not in session.linking().links[["source", "target"]].to_numpy().tolist()


class TestNothingIsKept:
    @pytest.mark.filterwarnings("ignore:the fewest frames")
    def test_of_a_movie_that_is_worked_through_in_windows(self):
        points = walks(60, 40, seed=1)[0]
        linking = linked(points, LinkSettings(memory_budget_gb=600 * BYTES_A_DETECTION / 1e9), KeepSolution.AT_HAND)
        assert linking.report["windows"] > 1
        assert linking.solution is None

    def test_of_candidates_that_are_too_many_to_write_out(self):
        random = np.random.default_rng(0)
        points = table(np.repeat([0, 1], 1100), random.random((2200, 2)))
        settings = LinkSettings(search_range=2, unmatched_cost=2, motion="none")
        assert linked(points, settings, KeepSolution.AT_HAND).solution is None

    @pytest.mark.parametrize("settings", MOTIONS.values(), ids=MOTIONS)
    def test_of_too_many_candidates_unless_corrections_were_asked_for(self, settings, monkeypatch):
        monkeypatch.setattr("auctrack.tracker.linking.solution.MOST_AT_HAND", 100)
        points = walks(70, 6, seed=4)[0]
        assert linked(points, settings, KeepSolution.AT_HAND).solution is None
        assert linked(points, settings, KeepSolution.ALWAYS).solution is not None

    def test_where_links_are_pinned(self):
        points = walks(70, 6, seed=4)[0]
        link = link_points(points).links[["source", "target"]].to_numpy()[0].tolist()
        assert linked(points, LinkSettings(pinned=[link]), KeepSolution.AT_HAND).solution is None

    def test_of_jaqamans_two_steps(self):
        settings = LinkSettings(5.0, linking="jaqaman")
        assert linked(walks(70, 6, seed=4)[0], settings, KeepSolution.AT_HAND).solution is None


def test_a_session_tells_how_far_linking_once_more_is():
    reports_seen: list[tuple[int, int]] = []
    Session(link_points(walks(70, 6, seed=4)[0]), progress=lambda done, total: reports_seen.append((done, total)))
    assert reports_seen[0][0] == 0
    assert reports_seen[-1][0] == reports_seen[-1][1] > 0
