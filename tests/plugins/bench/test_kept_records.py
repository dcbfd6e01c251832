"""The records that are kept in git: their pages are what `--record` prints of them, to the letter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from auctrack.plugins.cli.app import app

ROOT = Path(__file__).parents[3]
RECORDS = sorted((ROOT / "records").rglob("*.json"))


def _shown(record, *flags):
    return CliRunner().invoke(app, ["bench", record.stem, "--record", str(record), *flags])


def _flags(record):
    """The options that decide what its tables show, of the command that made it."""
    command = json.loads(record.read_text(encoding="utf-8"))["sessions"][-1]["command"]
    return re.findall(r"--quick|--clock[ =]\w+", command)


def test_there_are_records_and_the_benchmarks_name_their_folder():
    assert {record.stem for record in RECORDS} >= {"auction", "cardinality", "lap", "peers"}
    assert "records/quick" in (ROOT / "BENCHMARKS.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
def test_a_page_is_what_its_record_says(record):
    flags = [part for flag in _flags(record) for part in flag.split()]
    outcome = _shown(record, *flags)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.output == record.with_suffix(".md").read_text(encoding="utf-8")


def test_what_is_no_record_is_refused(tmp_path):
    other = tmp_path / "lap.json"
    for content in ("{}", "no record"):
        other.write_text(content, encoding="utf-8")
        assert _shown(other, "--quick").exit_code == 1
    assert _shown(tmp_path / "lap" / "lap.json", "--quick").exit_code == 1
