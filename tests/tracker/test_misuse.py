"""What a newcomer gives in the wrong place ends in a sentence that names the argument, not in an error of ours."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import auctrack
from auctrack.tracker.errors import InvalidInput, InvalidSetting

from .linking.movies import walks

POINTS, NAMES = walks(40, 4, missed=0, false=0)
TRACKS = POINTS.with_track_ids(NAMES)


class OfDask:
    def compute(self): ...


class OfPolars:
    def to_pandas(self): ...


def read_array(**part):
    return auctrack.read_movie(np.zeros((4, 16, 16)), axes="TYX", unit="pixel", **part)


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: auctrack.read_points(None), InvalidInput, "^source needs a DataFrame.*NoneType"),
        (lambda: auctrack.read_tracks({"frame": [0]}), InvalidInput, "^source needs a DataFrame.*dict"),
        (lambda: auctrack.read_points(POINTS.table, columns=["frame"]), InvalidSetting, "^columns needs names such as"),
        (
            lambda: auctrack.link(pd.concat({"spots": POINTS.table}, axis=1)),
            InvalidInput,
            r"in one level; it has 2, .*get_level_values\(-1\)\.$",
        ),
        (lambda: auctrack.link(OfDask()), InvalidInput, r"^points needs .* OfDask of \w+\. Give its \.compute\(\)"),
        (lambda: auctrack.read_points(OfPolars()), InvalidInput, r"^source needs .* Give its \.to_pandas\(\)"),
        (lambda: auctrack.Points(OfPolars()), InvalidInput, r"^table needs .* Give its \.to_pandas\(\)"),
        (lambda: auctrack.track("m.tif", auctrack.LinkSettings()), InvalidSetting, r"Say Settings\(link=…\)\.$"),
        (lambda: auctrack.track("m.tif", {"link": {}}), InvalidSetting, r"got dict\. Settings\.from_mapping"),
        (lambda: auctrack.link(pd.DataFrame()), InvalidInput, "were not all recognised; it has none"),
        (lambda: auctrack.link_points(POINTS, samples=-1), InvalidSetting, "^samples needs a whole number .*-1"),
        (lambda: auctrack.link_points(POINTS, samples=0.5), InvalidSetting, "^samples needs a whole number .*0.5"),
        (
            lambda: auctrack.mean_squared_displacement(TRACKS, "3"),
            InvalidSetting,
            "^max_lag needs a whole number .*'3'",
        ),
        (lambda: auctrack.mean_squared_displacement(TRACKS, 2.5), InvalidSetting, "^max_lag needs a whole .*2.5"),
        (lambda: POINTS.cut((0, 3)), InvalidSetting, r"^frames needs a range .*\(0, 3\)"),
        (lambda: POINTS.cut(slice(0, 2.5)), InvalidSetting, "^frames needs a range of whole numbers.*2.5"),
        (lambda: POINTS.cut(slice(0, 5, 0)), InvalidSetting, "^frames needs a range .*0, 5, 0"),
        (lambda: POINTS.cut(roi=[(0, 9)] * 3), InvalidSetting, r"^roi needs one range an axis.*\(0, 9\)"),
        (lambda: POINTS.with_track_ids(NAMES[:3]), InvalidInput, "^columns to add .* 3 for 'track_id'"),
        (lambda: POINTS.with_track_ids(NAMES, x=NAMES), InvalidInput, "^columns to add .* for 'x'"),
        (lambda: TRACKS.only([3, 4]), InvalidInput, "^rows needs True or False .*int64"),
        (lambda: POINTS.only([True]), InvalidInput, r"^rows needs True or False .*shape \(1,\)"),
        (lambda: auctrack.Points(POINTS.table, (2, 1, 1)), InvalidInput, "^calibration needs a Calibration.*tuple"),
        (lambda: auctrack.Settings(link={"motion": "none"}), InvalidSetting, "^link needs LinkSettings; got dict"),
        (lambda: auctrack.read_points(POINTS.table, frame_interval="5 s"), InvalidSetting, "^frame_interval .*'5 s'"),
        (lambda: auctrack.write_points(POINTS, "x.csv", settings="x"), InvalidSetting, "^settings .*mapping.*str"),
        (lambda: auctrack.write_tracks(TRACKS, None), InvalidSetting, "^path needs the name of a file.*None"),
        (lambda: read_array(frames=[1, 2]), InvalidSetting, r"^frames needs a range .*\[1, 2\]"),
        (lambda: read_array(roi=(slice(0.5, 3), slice(None))), InvalidSetting, "^roi along y needs .*0.5:3"),
        (lambda: auctrack.ensemble_intervals(TRACKS), InvalidSetting, "^sampled needs several trackings"),
        (lambda: auctrack.msd_intervals(TRACKS), InvalidSetting, "^sampled needs several trackings"),
        (lambda: auctrack.ensemble_intervals(None), InvalidSetting, "^sampled needs several trackings.*NoneType"),
        (lambda: auctrack.ensemble_intervals(TRACKS.table), InvalidSetting, "^sampled needs .*; got DataFrame"),
        (lambda: auctrack.msd_intervals([TRACKS, POINTS]), InvalidSetting, "^sampled needs .*; got Points"),
        (lambda: auctrack.ensemble_intervals([TRACKS] * 2, level="95%"), InvalidSetting, "^level needs .*'95%'"),
        (
            lambda: auctrack.measure_tracks(auctrack.link_points(POINTS)),
            InvalidInput,
            r"^tracks needs Tracks; got Linking\. Give its \.tracks\.$",
        ),
        (lambda: auctrack.detect(POINTS), InvalidInput, "^movie needs a Movie; got Points"),
        (lambda: auctrack.link(POINTS.table, features=None), InvalidSetting, "^features needs 'auto'.*None"),
        (lambda: auctrack.read_points(POINTS.table, unit=3), InvalidSetting, "^unit needs one of .* 3"),
        (lambda: auctrack.read_points(POINTS.table, time_unit=3), InvalidSetting, "^time_unit needs one of .* 3"),
        (lambda: auctrack.read_session(None), InvalidSetting, "^path needs the name of a file.*None"),
        (
            lambda: auctrack.write_session(auctrack.Session(auctrack.link_points(POINTS)), None),
            InvalidSetting,
            "^path needs the name of a file.*None",
        ),
        (
            lambda: auctrack.score_links(TRACKS, TRACKS, max_missed_frames="1"),
            InvalidSetting,
            "^max_missed_frames needs a whole number .*'1'",
        ),
        (
            lambda: auctrack.score_lineages(TRACKS, TRACKS, frame_tolerance=None),
            InvalidSetting,
            "^frame_tolerance needs a whole number .*None",
        ),
        (
            lambda: auctrack.track(np.zeros((3, 9, 9)), axes="TYX", intensity=np.zeros((3, 9, 9))),
            InvalidSetting,
            r"^intensity needs a text in quotes; got ndarray of shape \(3, 9, 9\)\.$",
        ),
        (
            lambda: auctrack.track([np.zeros((9, 9))] * 3, axes="TYX"),
            InvalidInput,
            r"^source needs an array, .*; got list\. numpy\.stack makes one array of frames\.$",
        ),
        (lambda: auctrack.detect(POINTS.table), InvalidInput, "^movie needs a Movie; got DataFrame"),
        (lambda: auctrack.Session(TRACKS), InvalidInput, "^linking needs what link_points returned; got Tracks"),
        *(
            (lambda score=score: score(TRACKS, TRACKS.table), InvalidInput, "^truth needs Points; got DataFrame")
            for score in (
                auctrack.score_links,
                auctrack.score_isbi,
                lambda *given: auctrack.score_lineages(*given, tolerance=1),
                lambda *given: auctrack.score_sparse(*given, tolerance=1),
            )
        ),
        (lambda: auctrack.score_isbi(TRACKS.table, TRACKS), InvalidInput, "^tracks needs Tracks; got DataFrame"),
    ],
)
def test_what_is_in_the_wrong_place_is_named(call, error, says):
    with pytest.raises(error, match=says):
        call()


def test_a_number_of_samples_may_be_a_float_that_is_whole():
    assert len(list(auctrack.link_points(POINTS, samples=2.0).sampled_tracks())) == 2


def test_a_movie_is_detected_in_without_any_setting():
    image = np.random.default_rng(0).poisson(10, (3, 32, 32)).astype(np.float32)
    y, x = np.mgrid[:32, :32]
    image += 500 * np.exp(-((y - 16) ** 2 + (x - 9) ** 2) / 8)
    movie = auctrack.read_movie(image, axes="TYX", unit="pixel")
    assert len(auctrack.detect(movie)) == 3
