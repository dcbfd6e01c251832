"""Movies with hardly anything in them, through `link` and through `track`, with learned motion and without."""

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link, link_points
from auctrack.tracker.pipeline import track
from auctrack.tracker.points import Points

pytestmark = pytest.mark.filterwarnings("ignore:.*exactly where another one")  # which some of these are

PLACES = np.random.default_rng(0).uniform(0, 50, (60, 2))


def movie(frames, places) -> pd.DataFrame:
    """The same places in each of some frames."""
    places = np.asarray(places, dtype=float)
    rows = np.tile(places, (len(frames), 1))
    return pd.DataFrame({"frame": np.repeat(frames, len(places)), "y": rows[:, 0], "x": rows[:, 1]})


@pytest.fixture(params=["link", "track"])
def tracks(request, tmp_path):
    """How many tracks come of a table, by way of a table in memory and of a file."""

    def in_memory(table, motion, **given):
        given["memory"] = given.pop("max_missed_frames", "auto")
        return link(table, motion=motion, **given)["track_id"].nunique()

    def from_file(table, motion, **given):
        table.to_csv(tmp_path / "points.csv", index=False)
        return track(tmp_path / "points.csv", motion=motion, **given).tracks.table["track_id"].nunique()

    return {"link": in_memory, "track": from_file}[request.param]


@pytest.mark.parametrize("motion", ["auto", "none", "velocity", "flow"])
@pytest.mark.parametrize(
    ("frames", "places", "expected"),
    [
        ([0], PLACES, 60),
        ([0, 1], PLACES, 60),
        (range(5), PLACES[:3], 3),
        (range(5), PLACES[:1], 1),
        (range(5), np.ones((20, 2)), 20),
        (range(5), np.repeat(PLACES[:20], 2, axis=0), 40),
        (range(12), PLACES, 60),
    ],
    ids=["one frame", "two frames", "three particles", "one particle", "all at one place", "each twice", "still"],
)
def test_each_particle_is_one_track(tracks, motion, frames, places, expected):
    assert tracks(movie(list(frames), places), motion) == expected


@pytest.mark.parametrize("motion", ["auto", "none"])
def test_frozen_frames_end_no_track(tracks, motion):
    """Particles that go on by 1 a frame, but for three frames that show what the one before them showed."""
    shown = np.array([0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8])
    table = movie(list(range(12)), PLACES)
    table["x"] += shown[table["frame"]]
    assert tracks(table, motion) == 60


@pytest.mark.parametrize("motion", ["auto", "none"])
def test_a_stride_that_is_stated_is_linked_over(tracks, motion):
    assert tracks(movie([0, 5, 10, 15], PLACES), motion, frame_step=5) == 60


def test_a_gap_may_be_longer_than_a_byte_counts(tracks):
    assert tracks(movie([0, 1, 150, 151], PLACES), "auto", max_missed_frames=200) == 60


def test_empty_frames_are_bridged_by_learned_motion_alone(tracks):
    table = movie([0, 1, 2, 4, 5, 6], PLACES)
    assert tracks(table, "auto") == 60
    assert tracks(table, "none") == 120


@pytest.mark.parametrize("motion", ["auto", "none"])
@pytest.mark.parametrize("later", [0, 3], ids=["one frame", "few in the next"])
def test_a_million_particles_in_one_frame(motion, later):
    places = np.random.default_rng(1).uniform(0, 1000, (1_000_000, 2))
    table = pd.DataFrame(np.vstack([places, places[:later]]), columns=["y", "x"])
    table["frame"] = np.repeat([0, 1], [len(places), later])
    found = link(table, motion=motion)["track_id"]
    assert found.nunique() == 1_000_000
    assert found.iloc[1_000_000:].tolist() == list(range(later))


def test_of_thousands_at_one_place_each_is_one_track():
    """Of 5,000 each has thousands as near, of whom its candidates, the sample and each margin's search look at few."""
    assert link(movie([0, 1, 2], np.ones((5_000, 2))))["track_id"].nunique() == 5_000


def test_too_few_particles_to_learn_from_are_said(tmp_path):
    movie(list(range(4)), PLACES[:3]).to_csv(tmp_path / "points.csv", index=False)
    report = track(tmp_path / "points.csv").linking.report
    assert report["motion"] == "diffusion"
    assert any("too few" in line for line in report["learned"])


@pytest.mark.parametrize("frames", [[], [0], [0, 5]], ids=["none", "one frame", "frames too far apart"])
def test_where_no_link_was_made_no_motion_is_said_to_be_learned(frames):
    """Steps, and half of all lost from frame to frame, were stated of a single frame: what is assumed before."""
    (said,) = link_points(Points(movie(frames, PLACES[:3]))).report["learned"]
    assert "no link" in said
