"""Frames that a camera dropped or froze: steps over them are known from the others, whatever the numbers say."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.tracker.linking import dropped_frames
from auctrack.tracker.linking.dropped_frames import as_if_later, dropped_after
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points, Tracks
from auctrack.tracker.timeline import Timeline

from .movies import f1, stirred, table, walks

DROPPED = 5, 11


def without(points: Points, names: np.ndarray) -> tuple[Points, Points, np.ndarray]:
    """Return a movie without some frames, numbered through and as it was, and who each detection is."""
    kept = ~np.isin(points.frames, DROPPED)
    frames, places = points.frames[kept], points.positions[kept]
    through = frames - np.searchsorted(DROPPED, frames)
    return table(through, places), table(frames, places), names[kept]


def frozen(points: Points, names: np.ndarray) -> tuple[Points, np.ndarray]:
    """Return a movie in which some frames are the ones before them once more, and who each detection is."""
    frames = np.arange(points.frames.max() + 1)
    shown = np.where(np.isin(frames, DROPPED), frames - 1, frames)
    rows = [np.flatnonzero(points.frames == frame) for frame in shown]
    of_each = np.concatenate(rows)
    return table(np.repeat(frames, [len(each) for each in rows]), points.positions[of_each]), names[of_each]


def dropped(linking: Linking) -> dict[int, int]:
    assert linking.motion is not None
    return dropped_after(linking.tracks, linking.motion.persistence or 0.0)


@pytest.fixture(scope="module")
def movie() -> tuple[Points, Points, np.ndarray]:
    return without(*walks(300, 16, step=0.7, missed=0.03, false=0.03))


@pytest.fixture(scope="module")
def linking(movie) -> Linking:
    return link_points(movie[0])


def test_frames_that_are_missing_are_known_though_the_numbers_go_on(movie, linking):
    """F1 of these links was .98 where numbers that say so give .997."""
    through, numbered, names = movie
    told = link_points(numbered)
    assert np.array_equal(linking.links[["source", "target"]], told.links[["source", "target"]])
    assert f1(through, names, linking.links["source"], linking.links["target"]) > 0.99
    (note,) = linking.report["notes"]
    assert "from frame 4 to 5, 9 to 10," in note
    assert not told.report["notes"]


def test_steps_of_every_other_track_tell_as_well(linking, monkeypatch):
    monkeypatch.setattr(dropped_frames, "SAMPLE_A_FRAME", 150)
    assert dropped(linking) == {4: 1, 9: 1}


def test_a_gpu_knows_them_as_a_cpu_does(gpu):
    through, _, _ = without(*walks(80, 16, step=0.6, missed=0.03, false=0.03))
    found, wanted = (link_points(through, LinkSettings(device=device)) for device in (gpu, "cpu"))
    assert np.array_equal(found.links[["source", "target", "frames"]], wanted.links[["source", "target", "frames"]])
    assert found.report["notes"] == wanted.report["notes"] != []


def test_frames_and_kinds_of_links_are_those_of_the_numbers_given(movie, linking):
    through = movie[0]
    assert linking.report["notes"]
    assert np.array_equal(linking.tracks.frames, through.frames)
    across = linking.links[through.frames[linking.links["source"]] == 4]
    assert set(across.loc[across["kind"] == "step", "frames"]) == {1}
    assert (across["kind"] == "step").sum() > 200


def test_frames_that_are_shown_twice_are_known():
    """They are linked as where numbers say that more time passed after them; F1 was .972, now .981."""
    points, names = frozen(*walks(100, 16, step=0.7, missed=0.03, false=0.03))
    later = points.frames + np.searchsorted(DROPPED, points.frames)
    linking, told = link_points(points), link_points(table(later, points.positions))
    assert np.array_equal(linking.links[["source", "target"]], told.links[["source", "target"]])
    assert f1(points, names, linking.links["source"], linking.links["target"]) > 0.978
    assert "from frame 5 to 6, 11 to 12," in linking.report["notes"][0]


@pytest.mark.parametrize(("step", "persistence"), [(0.1, 0.9), (0.7, 0.9), (0.4, 0.0)])
def test_nothing_is_missing_where_particles_move_alike_in_all_frames(step, persistence):
    points, _ = walks(150, 16, step=step, persistence=persistence, missed=0.05, false=0.05, seed=2)
    assert not dropped(link_points(points))


@pytest.mark.parametrize("pixels", [2, 4, 8])
@pytest.mark.parametrize(("step", "persistence"), [(0.4, 0.9), (0.4, 0.0), (0.7, 0.0)])
def test_nor_where_positions_are_whole_pixels(step, persistence, pixels):
    """The median of their squared steps leaps from level to level, which looked like frames in ten such movies."""
    for seed in range(4):
        for ndim in (2, 3):
            points, names = walks(150, 30, step=step, persistence=persistence, ndim=ndim, seed=seed)
            assert not dropped_after(in_pixels(points, names, pixels), persistence), (seed, ndim)


def test_frames_are_missed_in_whole_pixels_too():
    points, _, names = without(*walks(300, 16, step=0.7, missed=0.03, false=0.03))
    assert dropped_after(in_pixels(points, names, 4), 0.9) == {4: 1, 9: 1}


def in_pixels(points: Points, names: np.ndarray, pixels: float) -> Tracks:
    """Return the real tracks at whole pixels, so many a spacing."""
    apart = np.where(names < 0, names.max() + 1 + np.arange(len(names)), names)
    return table(points.frames, np.rint(pixels * points.positions)).with_track_ids(apart)


def test_too_few_frames_or_particles_tell_nothing():
    few_frames, _, _ = without(*walks(150, 8, step=0.3))
    assert not dropped(link_points(few_frames))
    few_particles, _, _ = without(*walks(9, 16, step=0.3, missed=0.0, false=0.0))
    assert not dropped(link_points(few_particles))


def test_steps_that_are_longer_for_another_reason_are_linked_as_they_were():
    """A flow that is stronger in some frames; as over missing frames F1 would be .91."""
    points, names = stirred(n=500, frames=12, seed=0)
    linking = link_points(points)
    assert dropped(linking)
    assert not linking.report["notes"]
    assert f1(points, names, linking.links["source"], linking.links["target"]) > 0.97


def test_who_predicts_steps_or_allows_no_missed_frame_is_left_with_the_numbers_given():
    through, _, _ = without(*walks(80, 16, step=0.4, missed=0.03, false=0.03))
    at = through.positions

    def stays(_points: Points, rows: np.ndarray, _frame: int) -> np.ndarray:
        return at[rows]

    for settings in (LinkSettings(predict=stays), LinkSettings(max_missed_frames=0)):
        assert not link_points(through, settings).report["notes"]


def test_frames_are_put_later_by_those_missing_before_them():
    points = table([0, 2, 4, 6, 8], np.zeros((5, 3)))
    points = Points(points.table, timeline=Timeline(2))
    assert as_if_later(points, {2: 1, 4: 3}).frames.tolist() == [0, 2, 6, 14, 16]
