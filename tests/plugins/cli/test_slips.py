"""Slips in what is typed are answered with what was likely meant, as wrong usage: nothing is read or written."""

from __future__ import annotations

import pytest


def refused(result, tmp_path):
    assert result.exit_code == 2
    assert not [path for path in tmp_path.iterdir() if path.name != "in"]
    return " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        (("-channel", "GFP"), "--channel"),
        (("-channel=GFP",), "--channel"),
        (("–channel", "GFP"), "--channel"),
        (("-chanel", "GFP"), "--channel"),
        (("-search_range", 3), "--search-range"),
        (("-overwrite",), "--overwrite"),
        (("-output", "results"), "--output"),
    ],
)
def test_an_option_with_one_dash_is_answered_with_its_name(auctrack, movie, tmp_path, typed, meant):
    said = refused(auctrack("track", movie, *typed), tmp_path)
    assert f"No such option: {typed[0].partition('=')[0]}. Give {meant}." in said


@pytest.mark.parametrize("words", [("-oresults",), ("-o", "results"), ("-o", "-results")])
def test_a_value_behind_a_short_option_is_no_slip(auctrack, movie, tmp_path, words):
    assert auctrack("track", movie, *words).exit_code == 0
    assert len([*tmp_path.glob("*results/spots.tracks.csv")]) == 1


@pytest.mark.parametrize(
    ("given", "remedy"),
    [
        (("--diameter", "3,5"), "Give 3.5."),
        (("--diameter", "3um"), "Give 3, without the unit"),
        (("--diameter", "3,5 µm"), "Give 3.5, without the unit"),
        (("--search-range", "500nm"), "Give 0.5, without the unit"),
        (("--separation", "2,5"), "Give 2.5."),
        (("--diameter", "3px"), "Give the number alone"),
        (("--threshold", "7,25"), "Give 7.25."),
        (("--threshold", "1,000"), "Give 1000 or 1.000"),
        (("--frame-interval", "2 min"), "Give 120: it is in s, unless --time-unit"),
        (("--frame-interval", "0,5"), "Give 0.5."),
    ],
)
def test_a_number_with_a_comma_or_a_unit_is_answered_with_the_number(auctrack, movie, tmp_path, given, remedy):
    said = refused(auctrack("track", movie, *given), tmp_path)
    assert given[0] in said
    assert repr(given[1]) in said
    assert remedy in said


def test_what_is_no_number_at_all_is_answered_with_none(auctrack, movie, tmp_path):
    assert "Give" not in refused(auctrack("track", movie, "--diameter", "big"), tmp_path)


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("file:///data/a.tif", "/data/a.tif"),
        ("file:///data/my%20cells.tif", "'/data/my cells.tif'"),
        ("file://localhost/data/a#1.tif", "'/data/a#1.tif'"),
        ("file:/data/a.tif", "/data/a.tif"),
        ("FILE:///data/a.tif", "/data/a.tif"),
    ],
)
@pytest.mark.parametrize("words", [("track",), ("info",), ("draw", "t.csv", "--movie"), ("track", "a.tif", "-o")])
def test_an_address_of_a_file_is_answered_with_its_path(auctrack, tmp_path, words, address, path):
    said = refused(auctrack(*words, address), tmp_path)
    assert f"{address} is an address; give the path: {path}" in said
    assert said.count("data") == 2


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        ("link", "auctrack track links each of several, or of a folder."),
        ("detect", "of several files its folder, or a pattern in quotes."),
        ("info", "of a movie of several files the folder, or a pattern in quotes."),
    ],
)
def test_several_inputs_where_one_is_taken_are_answered_with_what_takes_them(auctrack, tmp_path, command, remedy):
    said = refused(auctrack(command, "a.csv", "b.csv"), tmp_path)
    assert "unexpected extra argument" in said
    assert remedy in said
