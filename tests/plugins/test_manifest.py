"""What the manifest tells napari of the plugin agrees with the table of formats and with the settings."""

from __future__ import annotations

from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path

import pytest

import auctrack
from auctrack.plugins.napari.layers.preferences import Preferences
from auctrack.tracker.formats.registry import FORMATS, READ, WRITTEN
from auctrack.tracker.kinds import choices_of
from auctrack.tracker.linking.settings import LinkSettings

yaml = pytest.importorskip("yaml")
MANIFEST = yaml.safe_load((Path(auctrack.__file__).parent / "plugins" / "napari.yaml").read_text(encoding="utf-8"))
PLAIN_TEXT = {".tsv", ".txt"}
"""Endings of which most files are no tables: napari would ask of each which reader to take."""


def test_napari_opens_every_format_that_is_read():
    (tables,) = (entry for entry in MANIFEST["contributions"]["readers"] if entry["command"] == "auctrack.read_table")
    endings = {*READ, *(ending for known in FORMATS.values() for ending in known.endings)} - PLAIN_TEXT
    closed = [name for name in endings if not any(fnmatch(f"t{name}", like) for like in tables["filename_patterns"])]
    assert closed == []


@pytest.mark.parametrize("entry", MANIFEST["contributions"]["writers"], ids=lambda entry: entry["command"])
def test_napari_saves_every_format_that_is_a_file_or_has_an_ending(entry):
    endings = [ending for name in WRITTEN for ending in FORMATS[name].endings if ending.startswith(".")]
    assert [ending for ending in endings if not ending.endswith(tuple(entry["filename_extensions"]))] == []


def test_preferences_start_where_the_settings_do():
    configured = {
        name: of
        for group in MANIFEST["contributions"]["configurations"].values()
        for name, of in group["properties"].items()
    }
    assert {name: of["default"] for name, of in configured.items()} == asdict(Preferences())
    assert tuple(configured["cost"]["enum"]) == choices_of(LinkSettings, "cost")
