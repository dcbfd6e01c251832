"""The tables of `bench cardinality`: what stands beside what, and what is counted."""

from __future__ import annotations

import pytest

from auctrack.plugins.bench.benchmark import Effort
from auctrack.plugins.bench.measure.record import Record
from auctrack.plugins.bench.reproduced.cardinality.cardinality import cardinality

FORM_SECONDS = {"CT": 1.0, "MT": 2.0, "WR": 0.25, "APsB": 3.0}


def _seconds(variant):
    """A time that is the product of a factor for each choice in the variant's name."""
    seconds = 1.0
    for part, factor in FORM_SECONDS.items():
        seconds *= factor if part in variant.split("-") else 1.0
    seconds *= 0.5 if "shrink" in variant else 1.0
    return seconds * (4.0 if "fix" in variant else 1.0)


@pytest.fixture
def filled(tmp_path):
    """Return a benchmark and a record of it that was filled in by hand."""

    def fill(effort):
        benchmark = cardinality(effort)
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
        return benchmark, record

    return fill


@pytest.fixture
def tables(filled):
    """Return the tables by the beginning of their titles."""

    def show(effort):
        benchmark, record = filled(effort)
        shown = benchmark.tables(record)
        return lambda beginning: next(table for table in shown if table.title.startswith(beginning))

    return show


def test_each_choice_is_compared_with_nothing_else_changed(tables):
    findings = {row[0]: tuple(row[1:3]) for row in tables(Effort(sizes=(6,)))("What the papers found").rows}
    for order in ("original", "permuted"):
        assert findings[f"CT over MT, {order}"] == ("2.00 ×", "24 of 24")
        assert findings[f"GPUBFS-WR over GPUBFS, {order}"] == ("4.00 ×", "24 of 24")
        assert findings[f"APFB over APsB, {order}"] == ("3.00 ×", "24 of 24")
    assert findings["G-PR: list of active columns over none"] == ("1.00 ×", "0 of 36")
    assert findings["G-PR: shrinking list over list"] == ("2.00 ×", "36 of 36")
    assert findings["G-PR: (adaptive, 0.7) over (fix, 10)"] == ("4.00 ×", "18 of 18")


def test_figure_1_sets_the_forms_of_g_pr_against_their_relabelling(tables):
    figure = tables(Effort(sizes=(6,)))("ICPP 2013, Figure 1")
    assert "6 original graphs" in figure.title
    assert figure.columns[1:] == ("adaptive, 0.3", "adaptive, 0.7", "adaptive, 1", "adaptive, 2", "fix, 10", "fix, 50")
    assert figure.rows[2] == ("G-PR shrink", *["500 ms"] * 4, *["2.00 s"] * 2)


def test_speed_ups_stand_beside_the_least_that_the_paper_gives_for_that_set_of_graphs(tables):
    beside = {row[0]: row[-1] for row in tables(Effort(sizes=(6,)))("Euro-Par 2013 Figure 5").rows}
    assert {beside[f"original, over {name}"] for name in ("PFP", "HK")} == {"≥ 3.61 ×"}
    assert {beside[f"permuted, over {name}"] for name in ("PFP", "HK")} == {"≥ 3.54 ×"}
    assert (beside["original, over PR"], beside["permuted, over PR"]) == ("3.05 ×", "—")


def test_shares_count_the_graphs_on_which_a_solver_is_so_fast(filled):
    """Of two graphs, G-PR is 6 times as fast as PR on the one and twice as fast on the other, and once the best."""
    benchmark, record = filled(Effort(sizes=(6,)))
    seconds = {"PR": (6.0, 6.0), "G-PR": (1.0, 3.0), "APFB-WR-CT": (1.4, 1.0), "P-DBFS": (9.0, 9.0)}
    for cell in list(record.cells.values()):
        if cell.experiment == "algorithms" and cell.series in {"delaunay", "rgg"} and cell.variant in seconds:
            cell.facts[0]["search_s"] = seconds[cell.variant][cell.series == "rgg"]
        elif cell.experiment == "algorithms":
            del record.cells[cell.key]
    table = next(table for table in benchmark.tables(record) if table.title.startswith("The papers' profiles"))
    rows = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    five = rows["ICPP, Figure 2: at least 5 times as fast as PR"]
    assert (five["G-PR"], five["APFB-WR-CT"], five["P-DBFS"]) == ("50 %", "50 %", "0 %")
    assert five["paper"] == "G-PR 39 %, G-HKDW 21 %, P-DBFS 14 %"
    near = rows["ICPP, Figure 3: within 1.5 times the best"]
    assert (near["G-PR"], near["APFB-WR-CT"]) == ("50 %", "100 %")
    assert "auctrack, GPU" not in near  # nothing of it was measured
    assert rows["ICPP, Figure 3: the fastest"]["G-PR"] == "50 %"
    for cell in list(record.cells.values()):
        if cell.variant != "G-PR":
            del record.cells[cell.key]
    shown = [table for table in benchmark.tables(record) if table.title.startswith("The papers' profiles")]
    assert shown
    assert all(table.is_empty for table in shown)  # nobody is the best of one


def test_large_graphs_stand_beside_the_best_of_others_with_their_start(tables):
    on_gpu = {row[0]: row for row in tables(Effort())("Large graphs on a GPU: start and search").rows}
    assert on_gpu["rmat_18"][3:6] == ("1.00 s", "9.00 ms", "0.00900 ×")  # ECL-MM
    assert on_gpu["gate_1e6, permuted"][3:6] == ("1.00 s", "162 ms", "0.162 ×")  # matchmaker2: 24 + 138
    assert len(on_gpu) == 10
    assert on_gpu["geometric mean"][3] == "1.00 s"
    on_cpu = {row[0]: row for row in tables(Effort())("Large graphs on a CPU").rows}
    assert on_cpu["gate_1e6, permuted"][3:6] == ("1.00 s", "1.61 s", "1.61 ×")


def test_the_papers_algorithms_are_compared_on_large_graphs_too(tables):
    rows = {row[0]: row for row in tables(Effort())("Large graphs on a GPU: the papers' algorithms").rows}
    assert rows["APsB-GPUBFS-MT"][1] == "6.00 s"
    assert len(rows) == 14


def test_large_graphs_are_left_out_where_sizes_are_given_or_little_is_wanted():
    for effort in (Effort(quick=True), Effort(sizes=(6,))):
        assert not [e.name for e in cardinality(effort).experiments if e.name.startswith("large")]


def test_every_figure_of_both_papers_is_drawn(filled, tmp_path):
    benchmark, record = filled(Effort())
    drawn = {
        path.name.removeprefix("cardinality-").removesuffix(".png") for path in benchmark.figures(record, tmp_path)
    }
    assert {"figure-1", "figure-2-delaunay", "figure-2-road", "figure-4", "figure-5", "large-gpu"} <= drawn
    assert {"performance-original", "performance-permuted", "speed-up-original-hk", "speed-up-permuted-pfp"} <= drawn
