"""README and BENCHMARKS: the commands that repeat their figures are commands, of parts that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

import auctrack
from auctrack.plugins.cli.app import app

ROOT = Path(auctrack.__file__).parent
BLOCK = re.compile(r"^    (auctrack bench [^#\n]*)", re.MULTILINE)
ANY = re.compile(r"^    (auctrack bench|pytest|/usr/bin/time) ", re.MULTILINE)
INLINE = re.compile(r"`(auctrack bench [^`]*)`")


def commands():
    """Every `auctrack bench …` of the two documents, on one line."""
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "BENCHMARKS.md")]
    found = [command for text in texts for pattern in (BLOCK, INLINE) for command in pattern.findall(text)]
    return sorted({" ".join(command.split()) for command in found})


MEASURING = [command for command in commands() if "FILE" not in command and "--record" not in command]
"""What only prints a record is tried in `test_kept_records`."""


@pytest.mark.parametrize("command", MEASURING)
def test_what_repeats_a_figure_is_a_command(command, tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(
        "auctrack.plugins.bench.measure.harness.measure", lambda wanted, *_, **__: measured.extend(wanted)
    )
    arguments = shlex.split(command)[1:]
    if "-o" in arguments:
        arguments = arguments[: arguments.index("-o")]
    outcome = CliRunner().invoke(app, [*arguments, "-o", str(tmp_path)])
    assert measured, outcome.output
    assert "nothing could be measured" in outcome.output  # nothing was: it came as far as that


def test_the_tables_of_benchmarks_stand_under_a_command():
    text = (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")
    sections = re.split(r"^##+ ", text.partition("## Where we are behind")[2], flags=re.MULTILINE)
    for section in sections:
        if "\n| --- |" in section:
            assert ANY.search(section.partition("\n| --- |")[0]), section.partition("\n")[0]
