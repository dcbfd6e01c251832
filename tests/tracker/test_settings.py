"""Settings as a TOML file states them."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.settings import InputSettings, Settings, merged

from ..refusals import refused


def test_what_is_written_is_read_back():
    settings = Settings(
        InputSettings(scale=(2.0, 1.0, 1.0), frames="0:20:2", channel="GFP"),
        DetectSettings(diameter=5.0, threshold=3.0),
        LinkSettings(search_range=8.0, cost="distance", motion="none"),
        min_length=3,
    )
    assert Settings.from_mapping(settings.to_mapping()) == settings


@pytest.mark.parametrize(
    "settings",
    [
        Settings(InputSettings(columns={"frame": "Time"})),
        Settings(link=LinkSettings(linking="jaqaman", search_range=5.0, link_penalties={"intensity": 1.0})),
    ],
    ids=["columns", "penalties"],
)
def test_settings_that_are_equal_are_one_key_of_a_dictionary(settings):
    assert {settings: "seen"}[Settings.from_mapping(settings.to_mapping())] == "seen"


def test_counts_that_came_as_floats_are_kept_as_whole_numbers():
    settings = Settings.from_mapping(
        {"link": {"max_missed_frames": np.float64(2)}, "input": {"frame_step": 5.0}, "min_length": 3.0}
    )
    kept = settings.link.max_missed_frames, settings.input.frame_step, settings.min_length
    assert [(type(count), count) for count in kept] == [(int, 2), (int, 5), (int, 3)]


def test_nothing_stated_is_all_automatic():
    settings = Settings.from_mapping({})
    assert settings.link == LinkSettings("auto", "auto")
    assert settings.min_length == 1


@pytest.mark.parametrize(
    ("stated", "setting"),
    [
        ({"link": {"search_range": -3}}, "search_range"),
        ({"link": {"search_range": True}}, "search_range"),
        ({"link": {"max_missed_frames": 1.5}}, "max_missed_frames"),
        ({"min_length": 0}, "min_length"),
        ({"min_length": float("nan")}, "min_length"),
        ({"detect": {"diameter": "six"}}, "diameter"),
        ({"detect": {"threshold": -1}}, "threshold"),
        ({"detect": {"bright_on_dark": "no"}}, "bright_on_dark"),
        ({"input": {"kind": "film"}}, "kind"),
        ({"input": {"scale": "2,1,1"}}, "scale"),
        ({"input": {"columns": {"frame": {"name": "t"}}}}, "columns"),
        ({"input": {"columns": {"frame": 1}}}, "columns"),
        ({"input": {"channel": True}}, "channel"),
        ({"input": {"frame_interval": "10 s"}}, "frame_interval"),
        ({"input": {"intensity": "a.tif"}}, "intensity"),
        ({"input": {"kind": "labels", "intensity_channel": 1}}, "intensity_channel"),
    ],
)
def test_what_a_setting_cannot_be_is_refused_by_its_name(stated, setting):
    with refused(InvalidSetting, match=f"^{setting} ", setting=setting):
        Settings.from_mapping(stated)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"links": {}}, "'links'.* It has input, detect, link, min_length"),
        ({"link": {"range": 3}}, r"\[link\] .* 'range'"),
        ({"link": 7}, r"\[link\] .* 7"),
    ],
)
def test_what_is_no_setting_is_refused(stated, message):
    with refused(InvalidSetting, match=message, setting=""):
        Settings.from_mapping(stated)


@pytest.mark.parametrize("stated", [None, [], "link"])
def test_what_is_no_mapping_is_refused(stated):
    with pytest.raises(InvalidSetting, match=r"^settings .*input, detect.* link"):
        Settings.from_mapping(stated)


def test_numbers_may_be_numpys():
    given = InputSettings(scale=(np.float32(2), np.int64(1), 0.5), frame_interval=np.int64(10))
    assert Settings(given, min_length=np.int64(3)).to_mapping()["input"] == {
        "kind": "auto",
        "scale": (2.0, 1, 0.5),
        "frame_interval": 10,
    }


def test_options_override_a_file_one_by_one():
    file = {"link": {"search_range": 8.0, "cost": "distance"}, "min_length": 3}
    assert merged(file, {"link": {"search_range": 5.0}}) == {
        "link": {"search_range": 5.0, "cost": "distance"},
        "min_length": 3,
    }


@pytest.mark.parametrize("name", ["a.csv", "b.CSV.GZ", "c.parquet"])
def test_tables_are_known_by_their_suffix(name):
    assert InputSettings().is_table(name)
    assert not InputSettings(kind="labels").is_table(name)


def test_movies_are_what_is_not_a_table():
    assert not InputSettings().is_table("a.ome.tif")


def test_a_mistyped_setting_is_answered_with_the_one_that_was_meant():
    with pytest.raises(InvalidSetting, match=r"'diametre'.* diameter\?"):
        Settings().replaced(diametre=3)
    with pytest.raises(InvalidSetting) as refused:
        Settings().replaced(xyzzy=3)
    assert "mean" not in str(refused.value).split("There are")[0]


@pytest.mark.parametrize(
    ("other", "name"), [("dark", "bright_on_dark=False"), ("voxel", "scale"), ("max_gap", "max_missed_frames")]
)
def test_what_the_command_line_or_others_call_a_setting_is_answered_with_its_own_name(other, name):
    with pytest.raises(InvalidSetting) as refused:
        Settings().replaced(**{other: True})
    assert f"mean {name}?" in str(refused.value)


def test_a_mistyped_key_of_a_file_is_answered_with_the_one_that_was_meant():
    with pytest.raises(InvalidSetting, match=r"'serch_range'.* search_range\?") as refused:
        Settings.from_mapping({"link": {"serch_range": 3}})
    assert not {"predict", "extra_cost"} & set(re.findall(r"\w+", str(refused.value)))
    with pytest.raises(InvalidSetting, match=r"'min_lenght'.* min_length\?"):
        Settings.from_mapping({"min_lenght": 3})


@pytest.mark.parametrize(
    "sizes", [np.array([2.0, 0.5, 0.5]), pd.Series([2.0, 0.5, 0.5], index=[3, 2, 1]), [2, 0.5, 0.5]]
)
def test_sizes_may_come_as_an_array(sizes):
    assert InputSettings(scale=sizes) == InputSettings(scale=(2.0, 0.5, 0.5))


@pytest.mark.parametrize("sizes", [np.array([2.0, 0.0]), np.ones((2, 2)), np.array(2.0), np.array([True, True])])
def test_arrays_that_are_no_sizes_are_refused(sizes):
    with refused(InvalidSetting, setting="scale"):
        InputSettings(scale=sizes)


@pytest.mark.parametrize("names", [np.array(["mass", "size"]), pd.Index(["mass", "size"]), pd.Series(["mass", "size"])])
def test_features_may_be_named_in_an_array(names):
    assert LinkSettings(features=names).features == ("mass", "size")


def test_numbers_of_numpy_are_kept_as_plain_ones():
    given = {
        "search_range": np.float32(2),
        "diameter": np.float64(3),
        "scale": [np.float32(2)] * 3,
        "channel": np.int64(1),
    }
    stated = json.loads(json.dumps(Settings().replaced(**given).to_mapping()))
    assert (stated["link"]["search_range"], stated["detect"]["diameter"], stated["input"]) == (
        2.0,
        3.0,
        {"kind": "auto", "scale": [2.0, 2.0, 2.0], "channel": 1},
    )
