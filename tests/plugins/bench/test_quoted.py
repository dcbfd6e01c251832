"""Tables of BENCHMARKS.md that are quoted from kept records: they are what the records say."""

from __future__ import annotations

import pytest

from auctrack.plugins.bench.measure.record import Cell, Record
from auctrack.plugins.bench.reproduced.quoted import CHECKOUT, MODULES, refreshed
from auctrack.tracker.errors import InvalidInput

TITLE = "Batches of independent point sets without a matrix"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a record of two cases and two solvers."""
    session = {"started": "2026-11-28T10:00:00+00:00", "commit": "abc", "command": "", "machine": {}}
    record = Record(tmp_path / "records" / "auction.json", "auction", [session])
    known = {"cpu_seconds": [9.0], "facts": [{"rows": 9, "instance_bytes": 9}]}
    for series, size, seconds in (("1000 pairs", 50, 1.0), ("200 pairs", 200, 2.0)):
        for variant, factor in (("auction, GPU", 1), ("auction, CPU", 2)):
            record.keep(Cell("point-batch", series, size, variant, **known, seconds=[seconds * factor]))
    record.save()
    return tmp_path


def quoted(folder, *options, title=TITLE):
    marker = " ".join(["records/auction.json", *options])
    return refreshed(f"Before.\n\n<!-- {marker} -->\n**{title}**\n\nAfter.\n", folder)


def rows(text):
    return [line for line in text.splitlines() if line.startswith("|")]


def test_benchmarks_is_what_the_records_say():
    text = (CHECKOUT / "BENCHMARKS.md").read_text(encoding="utf-8")
    assert refreshed(text, CHECKOUT) == text
    assert "\n<!-- records/" in text


def test_a_title_gets_its_table_with_day_and_commit_and_what_stands_around_it_stays(folder):
    text = quoted(folder)
    assert text.startswith(f"Before.\n\n<!-- records/auction.json -->\n**{TITLE}** (2026-11-28, abc)\n\n|")
    assert text.endswith("|\n\nAfter.\n")
    assert rows(text)[0] == "|  | auction, GPU | auction, CPU |"
    assert rows(text)[2] == "| 1000 pairs, n = 50 | 1.00 s | 2.00 s |"
    assert refreshed(text, folder) == text


def test_an_older_table_and_its_notes_make_room(folder):
    older = (
        "<!-- records/auction.json -->\n**Batches of independent point sets without\na matrix** (long ago,\nabc)\n\n"
    )
    older += "|  | auction, GPU |\n| --- | ---: |\n| gone | 5 s |\n\n- a note\n  in two lines\n- another\n"
    assert refreshed(f"Before.\n\n{older}\nAfter.\n", folder) == quoted(folder)


def test_rows_columns_and_the_other_clock_are_left_out(folder):
    text = quoted(folder, "--clock cpu", "--without '*CPU'", "--without '200*'")
    assert rows(text)[0] == "|  | auction, GPU |"
    assert [row.split("|")[1].strip() for row in rows(text)[2:]] == ["1000 pairs, n = 50"]
    assert rows(quoted(folder, "--rows '1000*'", "--without '*CPU'", "--clock cpu")) == rows(text)


def test_days_and_commits_are_those_of_the_cells_that_are_quoted(folder):
    path = folder / "records" / "auction.json"
    record = Record.read(path, "auction")
    record.sessions.append({**record.sessions[0], "started": "2026-12-01T00:00:00+00:00", "commit": "def"})
    record.keep(record.cell("point-batch", "200 pairs", 200, "auction, GPU"))
    record.save()
    assert f"**{TITLE}** (2026-11-28, abc, 2026-12-01, def)\n" in quoted(folder)
    assert f"**{TITLE}** (2026-11-28, abc)\n" in quoted(folder, "--rows '1000*'")


def test_a_table_that_the_record_does_not_hold_is_refused_with_those_it_holds(folder):
    with pytest.raises(InvalidInput, match=TITLE):
        quoted(folder, title="Another")


def test_a_record_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(InvalidInput):
        quoted(tmp_path)


def test_every_benchmark_can_be_quoted():
    from typer.main import get_command

    from auctrack.plugins.cli.commands.bench import app

    assert set(MODULES) == set(get_command(app).commands)


def test_threads_are_those_of_the_record_whatever_this_machine_has(monkeypatch):
    """The variants are named by them, and the kept record is of two cores."""
    from auctrack.plugins.bench.reproduced import lap

    monkeypatch.setattr(lap, "OMP", "OMP-5")
    text = (CHECKOUT / "BENCHMARKS.md").read_text(encoding="utf-8")
    assert refreshed(text, CHECKOUT) == text
