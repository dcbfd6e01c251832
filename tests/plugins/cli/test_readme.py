"""README.md: what a new user pastes runs, on the sample data and on files of one's own that say nothing."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile
from rich.text import Text
from typer.main import get_command

from auctrack.plugins.cli.app import app
from auctrack.tracker.formats.registry import WRITTEN

pytestmark = pytest.mark.filterwarnings("ignore:the mean squared displacement is not a straight line")  # nor is it here
ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
FRAMES = 4
NUMBER = re.compile(r"\d+(?:\.\d+)?")


def commands() -> list[list[str]]:
    """Return the words of every command in a block, comments left out."""
    return [shlex.split(line, comments=True) for line in re.findall(r"^    auctrack (.*)$", TEXT, re.MULTILINE)]


@pytest.fixture
def own_files(auctrack, samples, tmp_path):
    """Lay the sample data beside one's own files: a silent movie, folders of z-stacks, a table in another's names."""
    shutil.copytree(samples, tmp_path / "sample_data", ignore=shutil.ignore_patterns("pictures"))
    stacks = tifffile.imread(samples / "movie.ome.tif")[:FRAMES]
    tifffile.imwrite(tmp_path / "movie.tif", stacks, photometric="minisblack")
    for folder in ("stacks", "day1"):
        (tmp_path / folder).mkdir()
        for number, stack in enumerate(stacks):
            tifffile.imwrite(tmp_path / folder / f"t{number:02}.tif", stack, metadata=None)
    theirs = {"frame": "Time Point", "z": "Position Z", "y": "Position Y", "x": "Position X"}
    spots = pd.read_csv(samples / "points.csv").query("frame < @FRAMES").rename(columns=theirs)
    spots[list(theirs.values())].to_csv(tmp_path / "spots.csv", index=False)
    shutil.copy(samples / "points.csv", tmp_path / "cells.csv")
    return auctrack


def test_every_command_runs_as_it_stands_in_the_order_it_stands(own_files, tmp_path):
    found = commands()
    assert {words[0] for words in found} >= {"info", "track", "link", "measure", "score"}
    for words in found:
        result = own_files(*words)
        assert result.exit_code == 0, (words, result.output)
    assert (tmp_path / "demo" / "movie.tracks.png").exists()
    linked = pd.read_csv(tmp_path / "spots.tracks.csv")
    assert linked["track_id"].value_counts().median() >= FRAMES - 1


def test_what_the_first_tracks_are_said_to_print_is_printed(auctrack, samples):
    said = (
        TEXT.partition("It prints what it understood and what it did:\n\n")[2]
        .partition("      written")[0]
        .splitlines()
    )
    printed = auctrack("track", samples / "movie.ome.tif").stdout.splitlines()
    printed = printed[printed.index(next(line for line in printed if line.split()[0] == "scale")) :]
    printed = [line for line in printed if line.split()[0] not in {"frames", "channels", "pixels"}]
    assert len(said) > 10
    for line, other in zip((line[4:] for line in said), printed, strict=False):
        assert NUMBER.sub("#", line) == NUMBER.sub("#", other)
        numbers, others = ([float(number) for number in NUMBER.findall(text)] for text in (line, other))
        assert numbers == pytest.approx(others, rel=1e-3), line


@pytest.mark.usefixtures("own_files")
def test_the_python_code_runs_as_it_stands():
    code = "".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    ran: dict[str, object] = {}
    exec(code, ran)
    assert np.isfinite(ran["assignment"].cost)
    assert len(ran["tracks"]) == len(ran["spots"])


def test_links_within_the_page_lead_somewhere():
    headings = {
        re.sub(r"[^\w -]", "", title).lower().replace(" ", "-")
        for title in re.findall(r"^## (.*)$", TEXT, re.MULTILINE)
    }
    assert set(re.findall(r"\]\(#([^)]*)\)", TEXT)) <= headings


@pytest.mark.parametrize(
    ("command", "terms"),
    [
        ("detect", ("quality", "intensity", "snr")),
        ("score", ("precision", "recall", "complete", "covered", "pieces", "switches")),
        (
            "measure",
            (
                "missed_frames",
                "duration",
                "net_displacement",
                "max_distance",
                "path_length",
                "mean_speed",
                "straightness",
                "mean_turning_angle",
                "parent_track_id",
                "lag_time",
                "standard_error",
                "n",
                "n_tracks",
            ),
        ),
    ],
)
def test_help_explains_every_column_and_score(auctrack, command, terms):
    page = auctrack(command, "--help").stdout
    for term in terms:
        assert re.search(rf"\b{term}:\s", page), term


def _options(command):
    """Every option of a command and of those below it."""
    for each in getattr(command, "commands", {}).values():
        yield from _options(each)
    yield from command.params


def test_help_loses_nothing_in_brackets_which_are_markup_to_the_terminal():
    for option in _options(get_command(app)):
        told = getattr(option, "help", None) or ""
        assert Text.from_markup(told).plain == told, option.name


def test_every_format_that_is_written_stands_in_the_table_by_the_name_that_the_option_takes():
    rows = [line.split("|")[2] for line in TEXT.splitlines() if line.count("|") == 6 and "yes" in line]
    named = {name for row in rows for name in re.findall(r"`([a-z]+)`", row)}
    assert named == set(WRITTEN)
