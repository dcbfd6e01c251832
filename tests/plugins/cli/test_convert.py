"""`auctrack convert`: from one format into another, with what belongs to the points, and a word on what is lost."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import tifffile
from rich.console import Console

from auctrack.plugins.cli.commands.convert import command
from auctrack.plugins.cli.terminal import console
from auctrack.tracker.formats.registry import FORMATS
from auctrack.tracker.formats.tables import read_either, read_tracks
from auctrack.tracker.points import Tracks
from auctrack.tracker.reading.movie import read_movie


def test_reading_and_writing_are_named_on_a_terminal_while_they_last(auctrack, tmp_path, monkeypatch):
    screen = Console(file=io.StringIO(), force_terminal=True, highlight=False, color_system=None, width=80)
    monkeypatch.setattr(console, "stderr", lambda: screen)
    (tmp_path / "a.csv").write_text("frame,y,x\n0,1,2\n")
    assert auctrack("convert", "a.csv", "b.csv").exit_code == 0
    said = screen.file.getvalue()
    assert said.index("a.csv: reading it") < said.index("b.csv: writing it")


def test_units_lineage_and_settings_go_along(auctrack, samples, tmp_path):
    sent = read_tracks(samples / "movie.truth.csv")
    assert auctrack("convert", samples / "movie.truth.csv", "out/t.parquet").exit_code == 0
    back = read_tracks(tmp_path / "out/t.parquet")
    assert back.calibration == sent.calibration
    assert back.timeline == sent.timeline
    pd.testing.assert_frame_equal(back.table, sent.table)
    beside = json.loads((tmp_path / "out/t.parquet.settings.json").read_text())["settings"]
    assert "simulation" in beside
    assert beside["converted_from"] == str(samples / "movie.truth.csv")


def test_of_2d_tables_the_voxel_is_said_without_a_z(auctrack):
    pd.DataFrame({"frame": [0, 1], "y": [1.0, 2], "x": [3.0, 4]}).to_csv("t.csv", index=False)
    said = auctrack("convert", "t.csv", "t.parquet", "--voxel", "0.5,0.5").stdout
    assert "voxel y × x = 0.5 × 0.5 µm" in said


def test_what_the_input_does_not_say_is_said_by_options(auctrack, tmp_path):
    pd.DataFrame({"Time": [0, 2], "y": [1.0, 2], "x": [3.0, 4], "Cell": [5, 5]}).to_csv("t.csv", index=False)
    words = ("--columns", "frame=Time,track_id=Cell", "--voxel", "0.5,0.5", "--frame-interval", 30, "--frame-step", 2)
    assert auctrack("convert", "t.csv", "t.parquet", *words).exit_code == 0
    back = read_either(tmp_path / "t.parquet")
    assert isinstance(back, Tracks)
    assert back.table["track_id"].tolist() == [5, 5]
    np.testing.assert_array_equal(back.positions, [[0.5, 1.5], [1, 2]])
    assert (back.calibration.frame_interval, back.frame_step) == (30, 2)


def test_points_stay_points_even_with_a_known_truth(auctrack, samples, tmp_path):
    assert auctrack("convert", samples / "points.csv", "p.parquet").exit_code == 0
    back = read_either(tmp_path / "p.parquet")
    assert not isinstance(back, Tracks)
    assert "true_id" in back.table


def test_what_is_lost_is_said(auctrack, samples):
    said = auctrack("convert", samples / "movie.truth.csv", "t.napari.csv")
    assert "cannot hold" in said.stderr
    assert "frame interval" in said.stderr
    assert "t.napari.csv.settings.json" in said.stderr
    assert "cannot hold" not in auctrack("convert", samples / "movie.truth.csv", "t.parquet").stderr


def test_a_result_is_replaced_only_where_that_was_asked_for_and_never_the_input(auctrack, samples, tmp_path):
    assert auctrack("convert", samples / "points.csv", "p.parquet").exit_code == 0
    before = (tmp_path / "p.parquet").read_bytes()
    assert auctrack("convert", samples / "points.truth.csv", "p.parquet").exit_code == 1
    assert (tmp_path / "p.parquet").read_bytes() == before
    assert auctrack("convert", samples / "points.truth.csv", "p.parquet", "--overwrite").exit_code == 0
    assert (tmp_path / "p.parquet").read_bytes() != before
    assert auctrack("convert", "p.parquet", "p.parquet", "--overwrite").exit_code == 1


@pytest.mark.parametrize("words", [("points.csv", "p.xlsx"), ("points.csv", "p", "--format", "excel")])
def test_an_ending_or_format_that_is_not_known(auctrack, samples, words):
    result = auctrack("convert", samples / words[0], *words[1:])
    assert result.exit_code in (1, 2)
    assert "parquet" in result.output


def test_the_page_names_every_format():
    page = command.__doc__ or ""
    for name, known in FORMATS.items():
        assert f"[bold]{name}[/bold] ({', '.join(known.endings)}): {known.program}" in page


@pytest.mark.parametrize("name", ["trackmate", "isbi"])
def test_info_looks_at_what_is_converted(auctrack, samples, name):
    assert auctrack("convert", samples / "movie.truth.csv", "t.xml", "--format", name).exit_code == 0
    seen = auctrack("info", "t.xml", "--json")
    assert seen.exit_code == 0
    facts = json.loads(seen.stdout)
    sent = read_tracks(samples / "movie.truth.csv")
    assert (facts["kind"], facts["format"], facts["rows"]) == ("tracks", name, len(sent))
    assert facts["tracks"] == sent.table["track_id"].nunique()


def test_a_movies_tracks_become_label_images_of_its_size(auctrack, movie, tmp_path):
    made = auctrack("track", movie, "--diameter", 2, "-o", tmp_path / "01_RES")
    assert made.exit_code == 0
    assert "exact positions" in made.stderr
    with read_movie(movie) as opened:
        images = read_movie(tmp_path / "01_RES", axes="TZYX" if opened.ndim == 3 else "TYX", unit="pixel")
        assert (images.shape, len(images)) == (opened.shape, len(opened))
    images.close()
    assert auctrack("convert", tmp_path / "01_RES", "t.csv").exit_code == 0
    assert auctrack("score", "t.csv", tmp_path / "01_RES", "--tolerance", 1).exit_code == 0
    assert auctrack("score", tmp_path / "01_RES", tmp_path / "01_RES", "--tolerance", 1).exit_code == 0
    seen = auctrack("info", tmp_path / "01_RES", "--json")
    assert json.loads(seen.stdout)["format"] == "ctc"


def test_detected_and_then_linked_particles_are_drawn_as_tracked_ones(auctrack, movie, tmp_path):
    settings = "--diameter", 2, "--motion", "none"
    assert auctrack("track", movie, *settings, "-o", "at_once.csv").exit_code == 0
    assert auctrack("detect", movie, "--diameter", 2, "-o", "points.csv").exit_code == 0
    assert auctrack("link", "points.csv", "--motion", "none", "-o", "linked.csv").exit_code == 0
    for name in ("at_once", "linked"):
        assert auctrack("convert", f"{name}.csv", f"{name}_RES").exit_code == 0
        assert auctrack("convert", f"{name}.csv", f"{name}.xml").exit_code == 0
    images = [tifffile.imread(tmp_path / f"{name}_RES/mask000.tif") for name in ("at_once", "linked")]
    assert np.array_equal(*((image > 0) for image in images))
    stated = [
        re.findall(r'(RADIUS|width|height|nslices)="(.*?)"', (tmp_path / f"{name}.xml").read_text())
        for name in ("at_once", "linked")
    ]
    assert stated[0] == stated[1]
    with read_movie(movie) as opened:
        assert ("width", str(opened.shape[-1])) in stated[0]


def test_the_size_of_spheres_and_images_can_be_said(auctrack, samples, tmp_path):
    words = ("--diameter", 4, "--image-shape", "30,150,160")
    assert auctrack("convert", samples / "movie.truth.csv", "01_RES", *words).exit_code == 0
    image = tifffile.imread(tmp_path / "01_RES/mask000.tif")
    assert image.shape == (30, 150, 160)
    in_the_unit = 4 / 3 * np.pi * 2**3
    assert np.bincount(image[image > 0])[1:].max() == pytest.approx(in_the_unit / (1 * 0.5 * 0.5), rel=0.1)


@pytest.mark.parametrize(
    "words", [("--diameter", 0), ("--diameter", "nan"), ("--image-shape", "5,x"), ("--image-shape", "0,5")]
)
def test_sizes_that_make_no_sense_are_wrong_usage(auctrack, samples, words):
    assert auctrack("convert", samples / "movie.truth.csv", "01_RES", *words).exit_code == 2
