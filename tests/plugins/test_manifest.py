"""What napari is told of the plugin agrees with the table of formats."""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path

import pytest

import auctrack
from auctrack.tracker.formats.registry import FORMATS, READ, WRITTEN

yaml = pytest.importorskip("yaml")
TOLD = yaml.safe_load((Path(auctrack.__file__).parent / "plugins" / "napari.yaml").read_text(encoding="utf-8"))
PLAIN_TEXT = {".tsv", ".txt"}
"""Endings of which most files are no tables: napari would ask of each which reader to take."""


def test_napari_opens_every_format_that_is_read():
    (tables,) = (told for told in TOLD["contributions"]["readers"] if told["command"] == "auctrack.read_table")
    endings = {*READ, *(ending for known in FORMATS.values() for ending in known.endings)} - PLAIN_TEXT
    closed = [name for name in endings if not any(fnmatch(f"t{name}", like) for like in tables["filename_patterns"])]
    assert closed == []


@pytest.mark.parametrize("told", TOLD["contributions"]["writers"], ids=lambda told: told["command"])
def test_napari_saves_every_format_that_is_a_file_or_has_an_ending(told):
    endings = [ending for name in WRITTEN for ending in FORMATS[name].endings if ending.startswith(".")]
    assert [ending for ending in endings if not ending.endswith(tuple(told["filename_extensions"]))] == []
