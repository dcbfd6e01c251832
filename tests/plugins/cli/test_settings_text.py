"""Settings as text: TOML and options give back what went in."""

from __future__ import annotations

import inspect
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
import typer

from auctrack.plugins.cli.arguments.command_settings import given_settings
from auctrack.plugins.cli.arguments.settings_file import settings_file
from auctrack.plugins.cli.commands import track
from auctrack.plugins.cli.runs.inputs import stem
from auctrack.plugins.words.setting_options import SETTINGS, as_options
from auctrack.plugins.words.toml import to_toml
from auctrack.tracker.linking.gate.spacing import WIDEST
from auctrack.tracker.linking.settings import HOOKS, LinkSettings
from auctrack.tracker.setting_words import WORDS
from auctrack.tracker.settings import Settings

README = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
EVERYTHING = {
    "input": {
        "kind": "labels",
        "axes": "TZYX",
        "scale": [2.0, 0.1 + 0.2, 1e-7],
        "unit": "nm",
        "frame_interval": 1.5,
        "time_unit": "min",
        "channel": "GFP",
        "series": "Pos1",
        "frames": "::5",
        "roi": "0:10,100:300,:",
        "columns": {"frame": "Time", "z": "Pos_Z"},
        "intensity": "m.tif",
        "intensity_channel": "reporter",
    },
    "detect": {"diameter": 3.5, "threshold": 0.0, "method": "dog", "bright_on_dark": False, "separation": 2.0},
    "link": {
        "search_range": 1 / 3,
        "unmatched_cost": 5e-324,
        "cost": "distance",
        "motion": "none",
        "max_missed_frames": 0,
        "solver": "auction",
        "device": "cpu",
        "memory_budget_gb": 1 / 3,
    },
    "min_length": 4,
}


JAQAMAN = {
    "linking": "jaqaman",
    "search_range": 15.0,
    "max_missed_frames": 2,
    "divisions": True,
    "merges": True,
    "gap_closing_range": 1 / 3,
    "division_range": 7.0,
    "merge_range": 8.0,
    "link_penalties": {"intensity": 1.0, "size": 0.1 + 0.2},
    "gap_closing_penalties": {"intensity": 0.0},
    "division_penalties": {"size": 2.0},
    "merge_penalties": {"a b": 1e-7},
}
FLAGS = ("--labels", "--dark", "--divisions", "--merges")


def parsed(words):
    """The parameters of `auctrack track` as typer would pass them on."""
    params = {}
    while words:
        name, *words = words
        params[name.removeprefix("--").replace("-", "_")] = True if name in FLAGS else words.pop(0)
    numbers = {name: float(params[name]) for name in ("frame_interval", "separation") if name in params}
    return {**params, **numbers, **({"min_length": int(params["min_length"])} if "min_length" in params else {})}


@pytest.mark.parametrize(
    "mapping", [EVERYTHING, {"link": JAQAMAN}, {}, {"link": {"search_range": 2.0}}, {"detect": {"threshold": 7.0}}]
)
def test_settings_come_back_from_toml_and_from_options(mapping):
    settings = Settings.from_mapping(mapping)
    assert Settings.from_mapping(tomllib.loads(to_toml(settings.to_mapping()))) == settings
    assert given_settings(parsed(as_options(settings))) == settings


def test_every_setting_that_is_not_at_its_default_becomes_an_option_of_track():
    words = [word for word in as_options(Settings.from_mapping(EVERYTHING)) if word.startswith("--")]
    known = {f"--{name.replace('_', '-')}" for name in inspect.signature(track.command).parameters}
    assert set(words) <= known
    assert len(words) == 27
    assert as_options(Settings()) == []


def test_every_setting_but_functions_has_one_option():
    whole = Settings()
    settings = [(name, f.name) for name in ("input", "detect", "link") for f in fields(getattr(whole, name))]
    has_none = [("link", name) for name in HOOKS]
    options = [(option.section, option.key) for option in SETTINGS.values()]
    assert sorted(options) == sorted([("", "min_length"), *(one for one in settings if one not in has_none)])


@pytest.mark.parametrize(
    "text", [SETTINGS["search_range"].help, LinkSettings.__doc__, README], ids=["help", "docstring", "README"]
)
def test_what_is_read_states_the_search_range_that_is_taken(text):
    assert f"{WIDEST:g} times the mean distance" in text


@pytest.mark.parametrize(
    "mapping",
    [
        {"a": 1, "b": -2.5e-300, "c": True, "d": 'µm "quoted" \\ line\n', "e": [1, [2.0, "x"], []]},
        {"table": {"a": 1, "inner": {"deep": {"x": False}}}, "other key": {"with space": "é", "": 1}},
        {"empty": {}},
        {},
    ],
)
def test_toml_is_read_back_as_it_was(mapping):
    assert tomllib.loads(to_toml(mapping)) == mapping


def test_what_toml_cannot_say_is_refused():
    with pytest.raises(TypeError, match="None"):
        to_toml({"a": None})


@pytest.mark.parametrize("mapping", [EVERYTHING, {"link": JAQAMAN}, {}])
def test_a_settings_file_holds_every_setting_and_comes_back(mapping):
    settings = Settings.from_mapping(mapping)
    text = settings_file(settings)
    assert Settings.from_mapping(tomllib.loads(text)) == settings
    named = set(re.findall(r"^(?:# )?(\w+) = |^\[(?:\w+\.)?(\w+)\]", text, re.MULTILINE))
    unstated = {"pinned", "forbidden"}  # tables of links, which have files of their own
    assert {one or other for one, other in named} >= WORDS.keys() - unstated


def test_what_a_settings_file_leaves_open_is_filled_in_behind_its_mark():
    text = settings_file(Settings())
    filled = re.sub(r"^# (threshold|frame_step) = ", r"\1 = 7", text, flags=re.MULTILINE)
    assert Settings.from_mapping(tomllib.loads(filled)) == Settings().replaced(threshold=7, frame_step=7)


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("a/movie.ome.tif", "movie"),
        ("movie.TIFF", "movie"),
        ("movie.points.csv", "movie"),
        ("tracks_um.csv.gz", "tracks_um"),
        ("m.tracks.napari.csv", "m"),
        ("day1/frames_*.tif", "frames"),
        ("day1/*.tif", "day1"),
        ("day1/", "day1"),
        ("t.1.2.parquet", "t.1.2"),
    ],
)
def test_a_result_is_named_after_its_input(source, name):
    assert stem(source) == name


@pytest.mark.parametrize(
    ("text", "gb"), [("16", 16), ("0.5", 0.5), ("16GB", 16), ("1.5 gb", 1.5), ("500MB", 0.5), ("2g", 2)]
)
def test_a_memory_budget_is_in_gb_unless_it_says_so(text, gb):
    assert given_settings({"memory_budget": text}).link.memory_budget_gb == gb


@pytest.mark.parametrize("text", ["much", "16KB", "GB", "0", "-1", "inf"])
def test_what_is_no_memory_budget_is_refused_by_its_option(text):
    with pytest.raises(typer.BadParameter, match="--memory-budget "):
        given_settings({"memory_budget": text})
