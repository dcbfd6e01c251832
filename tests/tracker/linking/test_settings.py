"""What the settings of linking mean, with learned motion and without."""

import functools
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.link import link, link_points
from auctrack.tracker.linking.motion.candidates.graph import MOST
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import MOTIONS, LinkSettings
from auctrack.tracker.points import Points

from ...refusals import refused
from .movies import f1, table, walks

PLACES = np.random.default_rng(0).uniform(0, 5, (60, 3))
COLUMNS = ["source", "target", "frames", "length", "probability", "margin", "kind"]


def ends(linking) -> list[tuple[int, int]]:
    return sorted(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


@pytest.fixture(scope="module")
def movie() -> Points:
    return walks(300, step=0.3, missed=0.1)[0]


@pytest.fixture(scope="module")
def linked(movie) -> Callable[[str], Linking]:
    """Link the movie by a motion, once for all tests that only look at it."""
    return functools.cache(lambda motion: link_points(movie, LinkSettings(motion=motion)))


@pytest.mark.parametrize("motion", MOTIONS)
class TestEveryMotion:
    def test_links_have_the_same_columns(self, linked, motion):
        links = linked(motion).links
        assert links.columns.tolist() == COLUMNS
        assert [links[name].dtype.kind for name in COLUMNS[:-1]] == ["i", "i", "i", "f", "f", "f"]
        assert set(links["kind"]) <= {"step", "gap"}

    def test_the_settings_that_took_effect_give_the_same_tracks(self, movie, linked, motion):
        made = linked(motion)
        again = link_points(movie, made.settings)
        pd.testing.assert_frame_equal(made.links, again.links)
        pd.testing.assert_frame_equal(made.tracks.table, again.tracks.table)

    def test_tracks_that_are_linked_again_keep_no_old_probability(self, linked, motion):
        twice = link_points(linked(motion).tracks, LinkSettings(motion="none"))
        assert "link_probability" not in twice.tracks.table

    def test_no_link_is_longer_than_the_range(self, movie, motion):
        links = link_points(movie, LinkSettings(search_range=0.3, motion=motion)).links
        assert 0 < (links["length"] / links["frames"]).max() <= 0.3

    def test_no_link_is_longer_than_twice_the_unmatched_cost(self, movie, motion):
        links = link_points(movie, LinkSettings(unmatched_cost=0.15, motion=motion)).links
        assert 0 < (links["length"] / links["frames"]).max() <= 0.3

    def test_the_dearer_it_is_to_leave_particles_unlinked_the_more_links_there_are(self, movie, motion):
        settings = [LinkSettings(unmatched_cost=cost, motion=motion) for cost in (0.1, 0.2, 0.4)]
        counts = [len(link_points(movie, each).links) for each in settings]
        assert counts[0] < counts[1] < counts[2]

    def test_a_step_as_long_as_the_range_is_made(self, motion):
        points = table(np.repeat(np.arange(4), 40), np.tile(8 * PLACES[:40], (4, 1)))
        points.table["x"] = np.round(points.table["x"]) + points.frames
        made = link_points(points, LinkSettings(search_range=1.0, motion=motion, max_missed_frames=0))
        assert ends(made) == [(k, k + 40) for k in range(120)]


@pytest.mark.parametrize("motion", ["diffusion", "velocity", "flow", "flow+velocity"])
def test_contexts_that_are_named_are_taken_and_no_others(linked, motion):
    assert linked(motion).report["motion"] == motion


def test_without_motion_only_margins_that_are_asked_for_are_worked_out(movie):
    plain, asked = (link_points(movie, LinkSettings(motion="none"), margins=of) for of in (False, True))
    assert plain.links["margin"].isna().all()
    assert (asked.links["margin"] >= 0).all()
    assert asked.links["probability"].isna().all()
    assert ends(plain) == ends(asked)


def test_each_detection_bears_the_probability_of_the_link_that_leads_to_it(movie, linked):
    linking = linked("auto")
    of_row = linking.tracks.table["link_probability"].to_numpy()
    np.testing.assert_array_equal(of_row[linking.links["target"]], linking.links["probability"])
    assert np.isnan(of_row).sum() == len(movie) - len(linking.links)


def test_doubtful_links_come_least_sure_first(linked):
    linking = linked("auto")
    doubtful = linking.doubtful(20)
    assert len(doubtful) == 20
    assert doubtful["probability"].is_monotonic_increasing
    assert doubtful["probability"].iloc[-1] <= linking.links["probability"].drop(doubtful.index).min()


@pytest.mark.parametrize("width", [1.05, 1.3, 1.8])
def test_a_range_that_is_given_hardly_changes_what_is_found(width):
    points, names = walks(800, step=0.45)
    free, limited = (link_points(points, LinkSettings(search_range=of)).links for of in ("auto", width * 0.554))
    scores = [f1(points, names, links["source"], links["target"]) for links in (free, limited)]
    assert scores[1] == pytest.approx(scores[0], abs=2e-3)


@pytest.mark.parametrize(
    "given",
    [
        {"motion": "brownian"},
        {"cost": "distance"},
        {"motion": "none", "max_missed_frames": 1},
        {"motion": "none", "divisions": True},
        {"motion": "none", "merges": True},
        {"divisions": 1},
        {"max_missed_frames": -1},
        {"max_missed_frames": 1.5},
        {"max_missed_frames": True},
    ],
    ids=str,
)
def test_settings_that_are_none_or_contradict_each_other_are_refused(given):
    with pytest.raises(InvalidSetting, match=list(given)[-1]):
        LinkSettings(**given)


class TestFrames:
    def test_missed_frames_may_be_counted_by_a_float(self, movie):
        by_float, by_int = (link(movie, memory=memory)["track_id"] for memory in (2.0, 2))
        pd.testing.assert_series_equal(by_float, by_int)

    def test_a_frame_that_is_missing_is_bridged_where_others_follow_each_other(self):
        points = table(np.repeat([0, 1, 3, 4], 60), np.tile(PLACES, (4, 1)))
        assert link(points.table)["track_id"].nunique() == 60
        assert link(points.table, memory=0)["track_id"].nunique() == 120

    def test_frames_that_never_follow_each_other_are_not_bridged_unasked(self):
        points = table(np.repeat([0, 2, 4], 60), np.tile(PLACES, (3, 1)))
        with pytest.warns(UserWarning, match="frame_step=2"):
            assert link(points.table)["track_id"].nunique() == 180
        assert link(points.table, memory=1)["track_id"].nunique() == 60
        assert link(points.table, frame_step=2)["track_id"].nunique() == 60


def test_motion_is_learned_however_dense_a_cluster_is():
    rng = np.random.default_rng(0)
    cluster = np.concatenate([rng.normal(0, 0.001, (2000, 3)), rng.uniform(-500, 500, (500, 3))])
    points = table(np.repeat(np.arange(3), 2500), np.tile(cluster, (3, 1)))
    linking = link_points(points, LinkSettings(device="cpu", max_missed_frames=0))
    assert linking.settings.motion == "auto"
    assert linking.motion is not None
    assert linking.report["candidate_links"] <= MOST * 5000
    assert len(linking.links) == 5000
    assert (linking.links["length"] == 0).all()


class TestSettingsInTheWrongPlace:
    """`link_points` takes them as one object; what is given otherwise is refused by name, with what to say."""

    POINTS = Points(pd.DataFrame({"frame": [0, 1], "y": 0.0, "x": 0.0}))

    @pytest.mark.parametrize(("name", "value"), [("forbidden", [[0, 1]]), ("divisions", True), ("search_range", 3.0)])
    def test_given_by_itself(self, name, value):
        with pytest.raises(InvalidSetting, match=rf"LinkSettings\({name}=") as refused:
            link_points(self.POINTS, **{name: value})
        assert refused.value.setting == name

    @pytest.mark.parametrize("settings", [3.0, {"divisions": True}, [[0, 1]]])
    def test_something_else_in_their_place(self, settings):
        with pytest.raises(InvalidSetting, match=type(settings).__name__) as refused:
            link_points(self.POINTS, settings)
        assert refused.value.setting == "settings"

    def test_a_word_that_is_none(self):
        with refused(InvalidSetting, match=r"'forbiden'.* forbidden\?"):
            link_points(self.POINTS, forbiden=[])
