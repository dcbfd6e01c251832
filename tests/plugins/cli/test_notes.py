"""What is empty, or not what it was given for, is said to be; and nothing is said of what is as it should be."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import tifffile

FAR = {"frame": [0, 1], "y": [0.0, 50.0], "x": [0.0, 50.0]}


def notes(result):
    assert result.exit_code == 0, result.output
    return [line for line in result.stderr.splitlines() if line.startswith("note:")]


def table(tmp_path, **columns):
    pd.DataFrame(columns).to_csv(tmp_path / "points.csv", index=False)
    return tmp_path / "points.csv"


@pytest.mark.parametrize("command", ["track", "link"])
@pytest.mark.parametrize(
    ("columns", "options", "says"),
    [
        (FAR, ("--roi", "90:99,90:99"), "no particles were found"),
        ({"frame": [4, 4], "y": [0.0, 1.0], "x": [0.0, 1.0]}, (), "all particles are in one frame (4)"),
        ({"frame": [0, 2, 5], "y": [0.0] * 3, "x": [0.0] * 3}, (), "no frame follows another"),
        (FAR, ("--search-range", 3), "within the search range of 3 pixel"),
    ],
    ids=["no points", "one frame", "no consecutive frames", "out of range"],
)
def test_a_run_without_links_says_why_and_claims_no_proof(auctrack, tmp_path, command, columns, options, says):
    result = auctrack(command, table(tmp_path, **columns), *options)
    (note,) = notes(result)
    assert says in note
    for claim in ("optimal", "solver", "unmatched cost", "candidates"):
        assert claim not in result.stdout


def test_a_length_that_no_track_has_is_said(auctrack, tmp_path):
    near = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0])
    result = auctrack("link", near, "--search-range", 3, "--min-length", 3)
    assert notes(result) == ["note: no track is as long as --min-length 3; the longest has length 2."]
    assert "tracks    0\n" in result.stdout


def test_a_movie_without_particles(auctrack, movie):
    for command in ("detect", "track"):
        (note,) = notes(auctrack(command, movie, "--threshold", "1e6", "--diameter", 3))
        assert "--threshold" in note


def test_nothing_is_said_of_a_run_as_it_should_be(auctrack, movie):
    assert notes(auctrack("track", movie, "--min-length", 2)) == []


def test_info_says_it_too_and_names_no_price(auctrack, tmp_path):
    result = auctrack("info", table(tmp_path, frame=[4, 4], y=[0.0, 1.0], x=[0.0, 1.0]))
    (note,) = notes(result)
    assert "one frame (4)" in note
    assert "seen in   frame 4," in result.stdout
    assert "unmatched cost" not in result.stdout


@pytest.mark.parametrize(("unit", "told"), [((), True), (("--unit", "pixel"), False)])
def test_pixels_are_explained_unless_asked_for(auctrack, tmp_path, unit, told):
    near = table(tmp_path, frame=[0, 1], y=[0.0, 1.0], x=[0.0, 1.0])
    for command in ("link", "info"):
        assert ("no unit is known" in auctrack(command, near, *unit).stdout) is told


def labels(tmp_path):
    image = np.zeros((3, 48, 48), np.uint16)
    for number, corner in enumerate((4, 20, 34), start=1):
        image[:, corner : corner + 9, corner : corner + 9] = number
    tifffile.imwrite(tmp_path / "masks.tif", image, imagej=True, metadata={"axes": "TYX"})
    return tmp_path / "masks.tif"


def test_labels_given_as_a_movie_and_a_movie_given_as_labels_are_noticed(auctrack, movie, tmp_path):
    masks = ("track", labels(tmp_path), "--voxel", "1,1")
    assert notes(auctrack(*masks, "--labels")) == []
    (as_movie,) = notes(auctrack(*masks, "--diameter", 8, "--overwrite"))
    assert "looks like labels" in as_movie
    noise = np.random.default_rng(0).poisson(3.0, (2, 32, 32)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "noise.tif", noise, imagej=True, metadata={"axes": "TYX"})
    (as_labels,) = notes(auctrack("detect", tmp_path / "noise.tif", "--voxel", "1,1", "--labels"))
    assert "does not look like labels" in as_labels
    assert "look" not in auctrack("detect", movie).stderr
    (without_background,) = notes(auctrack("track", movie, "--labels"))
    assert "does not look like labels" in without_background


def test_the_frames_that_count_are_said_as_they_are_written(auctrack, samples):
    auctrack("track", samples / "movie.ome.tif", "--frames", "0:3", "--diameter", 2.5)
    (note,) = notes(auctrack("score", "movie.tracks.csv", samples / "movie.truth.csv", "--tolerance", 1))
    assert "(--frames 0:3)" in note


def test_one_is_counted_in_the_singular(auctrack, tmp_path):
    said = auctrack("link", table(tmp_path, frame=[0], y=[1.0], x=[1.0])).stdout
    assert "1 in 1 frame;" in said
    assert json.loads((tmp_path / "points.tracks.csv.settings.json").read_text())["columns"]["track_id"] == "int64"
