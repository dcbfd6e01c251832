"""The table of findings counts what it says: ratios of pairs that differ in one choice only."""

from __future__ import annotations

from auctrack.plugins.bench.benchmark import Effort
from auctrack.plugins.bench.cardinality import cardinality
from auctrack.plugins.bench.record import Record

FORM_SECONDS = {"CT": 1.0, "MT": 2.0, "WR": 0.25, "APsB": 3.0}


def _seconds(variant):
    """A time that is the product of a factor for each choice in the variant's name."""
    seconds = 1.0
    for part, factor in FORM_SECONDS.items():
        seconds *= factor if part in variant.split("-") else 1.0
    seconds *= 0.5 if variant.startswith("shrink") else 1.0
    return seconds * (4.0 if "fix" in variant else 1.0)


def _findings(tmp_path):
    benchmark = cardinality(Effort(sizes=(6,)))
    record = Record(tmp_path / "cardinality.json", "cardinality")
    for experiment in benchmark.experiments:
        for case in experiment.cases:
            for variant in experiment.variants:
                cell = record.cell(experiment.name, case.series, case.size, variant.name)
                seconds = _seconds(variant.name)
                known = {"columns": 64, "edges": 9, "maximum": 64, "initial_size": 60, "levels": [1]}
                cell.seconds, cell.cpu_seconds = [seconds], [seconds]
                cell.facts = [{**known, "search_s": seconds, "whole_s": seconds}]
                record.cells[cell.key] = cell
    table = next(table for table in benchmark.tables(record) if table.title.startswith("What the papers found"))
    return {row[0]: row[2:] for row in table.rows}


def test_each_choice_is_compared_with_nothing_else_changed(tmp_path):
    findings = _findings(tmp_path)
    for order in ("original", "permuted"):
        assert findings[f"CT over MT, {order}"] == ("2.00 ×", "24 of 24")
        assert findings[f"GPUBFS-WR over GPUBFS, {order}"] == ("4.00 ×", "24 of 24")
        assert findings[f"APFB over APsB, {order}"] == ("3.00 ×", "24 of 24")
    assert findings["G-PR: list of active columns over none"] == ("1.00 ×", "0 of 36")
    assert findings["G-PR: shrinking list over list"] == ("2.00 ×", "36 of 36")
    assert findings["G-PR: (adaptive, 0.7) over (fix, 10)"] == ("4.00 ×", "18 of 18")
