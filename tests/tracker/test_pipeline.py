"""From pixels, labels or a table to tracks in one call."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile

from auctrack.matching import AuctrackError
from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.detecting.detect import detect
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.formats.write import write_tracks
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.pipeline import stages, track
from auctrack.tracker.points import Tracks
from auctrack.tracker.scoring.score import score_links
from auctrack.tracker.settings import InputSettings, Settings
from auctrack.tracker.stepwise import finished

ROOT = Path(__file__).parents[2]
MOVIE = ROOT / "sample_data/movie.ome.tif"


def test_the_sample_movie_with_nothing_given():
    result = track(MOVIE, Settings())
    truth = read_tracks(ROOT / "sample_data/movie.truth.csv")
    score = score_links(result.tracks, truth, tolerance=1.0)
    assert result.linking.report["is_optimal"]
    assert score.links.f1 > 0.95
    assert score.detections.f1 > 0.96


def test_the_result_says_where_the_time_went():
    movie = track(MOVIE, Settings(InputSettings(frames="0:4")))
    table = track(ROOT / "sample_data/points.csv")
    assert list(movie.seconds) == ["read", "detect", "link"]
    assert list(table.seconds) == ["read", "link"]
    assert min(*movie.seconds.values(), *table.seconds.values()) > 0


def test_the_settings_that_took_effect_give_the_same_tracks():
    piece = Settings(InputSettings(frames="0:4"))
    first = track(MOVIE, piece)
    again = track(MOVIE, Settings.from_mapping(first.settings.to_mapping()))
    pd.testing.assert_frame_equal(first.tracks.table, again.tracks.table)


def test_settings_are_taken_as_keywords_by_the_names_of_their_fields():
    plainly = track(MOVIE, Settings(InputSettings(frames="0:4"), DetectSettings(diameter=3), LinkSettings(8), 2))
    assert plainly.settings == track(MOVIE, frames="0:4", diameter=3, search_range=8, min_length=2).settings
    settings = Settings(InputSettings(frames="0:4"), DetectSettings(diameter=5))
    over_others = track(MOVIE, settings, diameter=3, search_range=8, min_length=2)
    pd.testing.assert_frame_equal(over_others.tracks.table, plainly.tracks.table)


@pytest.mark.parametrize("section", [InputSettings, DetectSettings, LinkSettings])
def test_every_setting_is_a_keyword(section):
    for field in fields(section):
        assert Settings().replaced(**{field.name: getattr(section(), field.name)}) == Settings()


def test_a_keyword_that_is_no_setting_is_refused_by_its_name():
    with pytest.raises(InvalidSetting, match="'diametre', 'input'"):
        track("nowhere.tif", diametre=3, search_range=8, input=InputSettings())


def test_a_point_table_cut_to_frames():
    result = track(ROOT / "sample_data/points.csv", Settings(InputSettings(frames="5:10")))
    assert sorted(result.tracks.frame_numbers) == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("frames", ["20:30", "25:"])
def test_frames_that_a_table_does_not_have_are_refused(frames):
    with pytest.raises(InvalidSetting, match="0 to 19"):
        track(ROOT / "sample_data/points.csv", Settings(InputSettings(frames=frames)))


def test_short_tracks_are_left_out_but_not_forgotten():
    result = track(ROOT / "sample_data/points.csv", Settings(min_length=5))
    assert result.tracks.table.groupby("track_id").size().min() >= 5
    assert len(result.linking.tracks) > len(result.tracks)


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        (pd.DataFrame({"frame": [0], "y": [0.0], "x": [0.0]}), None, "DataFrame.*auctrack.link"),
        (MOVIE, {"link": {"search_range": 3}}, "^settings .*Settings.*dict"),
    ],
    ids=["table in memory", "mapping"],
)
def test_what_is_no_path_or_no_settings_is_refused(source, settings, message):
    with pytest.raises(AuctrackError, match=message):
        track(source, settings)


def test_progress_names_its_stages():
    seen: dict[str, tuple[int, int]] = {}
    track(MOVIE, Settings(InputSettings(frames="0:3")), progress=lambda stage, *at: seen.__setitem__(stage, at))
    assert seen == {"detect": (3, 3), "link": (3, 3)}


@pytest.mark.parametrize("motion", ["auto", "none"])
def test_every_stage_says_where_it_runs(motion):
    where = {}
    asked = Settings(InputSettings(frames="0:4"), link=LinkSettings(motion=motion, device="cpu"))
    finished(stages(MOVIE, asked), lambda at: where.__setitem__(at.stage, at.device))
    assert where == {"detect": "cpu", "link": "cpu"}


def test_hl60_nuclei_from_labels_are_linked_as_they_are_named(real_data):
    """Every detection is right here, so what is missing is linking alone."""
    result = track(real_data("hl60_3d/labels.tif"), Settings(InputSettings(kind="labels", scale=(2, 1, 1))))
    truth = pd.read_csv(real_data("hl60_3d/truth.csv")).rename(columns={"true_id": "track_id"})
    score = score_links(result.tracks, Tracks(truth, Calibration((2, 1, 1), "µm")), tolerance=0.01)
    assert score.detections.f1 == 1
    assert score.links.f1 > 0.985


def test_an_array_is_tracked_as_the_file_it_was_read_from():
    piece = InputSettings(frames="2:6", roi="0:12,10:60,10:60")
    of_file = track(MOVIE, Settings(piece))
    said = replace(piece, axes="TZYX", scale=of_file.tracks.calibration.scale, frame_interval=10)
    of_array = track(tifffile.imread(MOVIE), Settings(said))
    pd.testing.assert_frame_equal(of_array.tracks.table, of_file.tracks.table)
    assert of_array.tracks.calibration == of_file.tracks.calibration


@pytest.mark.parametrize("kept", ["array", "file"])
def test_a_mask_that_is_taken_for_labels_is_warned_of(tmp_path, kept):
    mask = np.zeros((3, 16, 16), np.uint8)
    mask[:, 2:5, 2:5] = mask[:, 9:12, 9:12] = 255
    tifffile.imwrite(tmp_path / "mask.tif", mask, photometric="minisblack")
    source = mask if kept == "array" else tmp_path / "mask.tif"
    with pytest.warns(UserWarning, match="is a mask: its 2 regions share one number"):
        result = track(source, Settings(InputSettings(kind="labels", axes="TYX", unit="pixel")))
    assert len(result.linking.tracks) == 3


def test_a_label_array_is_tracked():
    labels = np.zeros((2, 8, 8), np.uint8)
    labels[0, 2, 2] = labels[1, 3, 2] = 7
    result = track(labels, Settings(InputSettings(kind="labels", axes="TYX", unit="pixel"), link=LinkSettings(3)))
    assert result.tracks.table["track_id"].tolist() == [0, 0]


@pytest.mark.parametrize("source", [None, [1.0, 2.0], pd.DataFrame({"x": [0]})], ids=lambda x: type(x).__name__)
def test_what_is_neither_path_nor_array_is_refused(source):
    with pytest.raises(InvalidInput, match=r"^source .*auctrack\.link"):
        track(source)


def test_an_array_is_no_table():
    with pytest.raises(InvalidInput, match=r"^source .*auctrack\.link"):
        track(np.zeros((5, 4)), Settings(InputSettings(kind="table")))


@pytest.mark.parametrize(
    "movie", [None, [np.zeros((2, 8, 8))], pd.DataFrame({"x": [0]})], ids=lambda x: type(x).__name__
)
def test_detect_refuses_what_is_no_movie_with_the_way_to_make_one(movie):
    with pytest.raises(InvalidInput, match=r"^movie .*Movie.*auctrack\.read_movie"):
        detect(movie, DetectSettings())


def test_a_result_shows_its_counts_in_a_line_and_is_written_without_settings(tmp_path):
    pd.DataFrame({"frame": [0, 1], "y": [0.0, 1.0], "x": [0.0, 1.0]}).to_csv(tmp_path / "spots.csv", index=False)
    result = track(tmp_path / "spots.csv", Settings(link=LinkSettings(search_range=3)))
    for said in (repr(result), repr(result.linking)):
        assert "tracks: 1, points: 2, links: 1" in said
        assert len(said) < 150
    write_tracks(result.tracks, tmp_path / "out.csv")
    assert read_tracks(tmp_path / "out.csv").table["track_id"].tolist() == [0, 0]


def movie_of_one_spot(folder: Path, frames: dict[int, bool]) -> Path:
    """Write a folder of one 2D file a frame; those that say so hold a spot that stands still."""
    folder.mkdir()
    y, x = np.mgrid[:32, :32]
    spot = 500 * np.exp(-((y - 16) ** 2 + (x - 16) ** 2) / 8)
    for number, has_spot in frames.items():
        image = np.random.default_rng(number).normal(100, 1, (32, 32)) + has_spot * spot
        tifffile.imwrite(folder / f"t{number}.tif", image.astype(np.uint16), metadata={"axes": "YX"})
    return folder


ONE_SPOT = Settings(InputSettings(axes="YX", unit="pixel"), DetectSettings(4.0, 50.0), LinkSettings(3.0))


def test_frames_without_a_detection_are_frames_all_the_same(tmp_path):
    folder = movie_of_one_spot(tmp_path / "m", {n: n % 2 == 0 for n in range(5)})
    result = track(folder, ONE_SPOT)
    assert result.tracks.frames.tolist() == [0, 2, 4]
    assert result.tracks.timeline.numbers == (0, 1, 2, 3, 4)
    assert result.linking.report["links"] == 0
    every_other = replace(ONE_SPOT, input=replace(ONE_SPOT.input, frames="::2"))
    assert track(folder, every_other).linking.report["links"] == 2


def test_no_link_crosses_frames_of_which_there_is_no_file_and_the_files_are_written_down(tmp_path):
    folder = movie_of_one_spot(tmp_path / "m", dict.fromkeys([*range(5), *range(8, 12)], True))
    result = track(folder, ONE_SPOT)
    assert result.tracks.table.groupby("track_id").size().tolist() == [5, 4]
    write_tracks(result.tracks, tmp_path / "m.tracks.csv")
    back = read_tracks(tmp_path / "m.tracks.csv")
    assert back.timeline == result.tracks.timeline
    assert back.timeline.files[8] == "t8.tif"
    beside = json.loads((tmp_path / "m.tracks.csv.settings.json").read_text("utf-8"))
    assert beside["frames"]["looked_at"] == [[0, 4], [8, 11]]
    assert beside["frames"]["files"]["11"] == "t11.tif"
