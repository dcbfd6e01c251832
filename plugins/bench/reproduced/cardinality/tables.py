"""The tables of `bench cardinality`, each beside what its paper printed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...draw.tables import NOTHING, Table, duration, grid, missing_notes
from ...graphs.graph_families import FAMILIES, PERMUTED
from ...measure.harness import Case, Experiment
from ...measure.record import Record
from .. import deveci_euro_par_2013 as euro_par
from .. import deveci_icpp_2013 as icpp
from .findings import figure_1, findings, table_1
from .large import table_on_cpu, tables_on_gpu
from .record import (
    APFB,
    G_PR,
    OURS,
    PARALLEL,
    any_facts,
    geometric,
    in_common,
    label_of,
    mean_speed_up,
    seconds,
    sets_of,
    time_text,
    times_as_fast,
    without_empty_columns,
)
from .shares import shares

_ALIKE = {
    "delaunay": "delaunay_n{}",
    "rgg": "rgg_n_2_{}_s0",
    "rmat": "kron_g500-logn{}",
}
"""The collection's graphs that a family is modelled on, by the exponent."""
_ALIKE_NOTE = "≈ marks a graph of the collection that ours is modelled on, of the same size but another graph"


def tables(experiments: Mapping[str, Experiment], record: Record) -> list[Table]:
    """Return the tables of what was measured."""
    algorithms, forms, relabelling = (experiments[name] for name in ("algorithms", "table-1", "figure-1"))
    shown = [
        _table_2(algorithms, record),
        _table_i(algorithms, record),
        _speed_ups(algorithms, record),
        shares(algorithms, record),
        table_1(forms, record),
        _figure_2_table(experiments["figure-2"], record),
        figure_1(relabelling, record),
        findings("What the papers found, and what we find: how many times as fast", forms, relabelling, record),
    ]
    if "large-gpu" in experiments:
        shown += tables_on_gpu(experiments["large-gpu"], record)
        shown.append(table_on_cpu(experiments["large-cpu"], record))
    return shown


def _table_2(experiment: Experiment, record: Record) -> Table:
    wanted = (APFB, "P-DBFS", "P-PFP", "P-HK", "PFP", "HK", *OURS)
    rows = [
        (label_of(case), *(time_text(record, experiment, case, name) for name in wanted), *_published_2(case))
        for case in experiment.cases
    ]
    return without_empty_columns(
        "Euro-Par 2013, Table 2: time of the search after the cheap start (auctrack: start and search)",
        ("", *wanted),
        ("paper's graph", "paper: GPU", "paper: P-DBFS", "paper: PFP", "paper: HK"),
        rows,
        (f"paper's hardware: {euro_par.HARDWARE}", _ALIKE_NOTE, *missing_notes(experiment, record)),
    )


def _published_2(case: Case) -> tuple[str, ...]:
    name, mark = _papers_name(case)
    if name not in euro_par.TABLE_2:
        return (NOTHING,) * 5
    times = euro_par.TABLE_2[name][case.series.endswith(PERMUTED)]
    return (f"{mark}{name}", *map(seconds, times))


def _papers_name(case: Case) -> tuple[str, str]:
    """Return the paper's name of a graph, and "≈" where ours is only like it."""
    series = case.series.removesuffix(PERMUTED)
    if series in FAMILIES:
        return _ALIKE.get(series, "").format(case.size.bit_length() - 1), "≈ "
    known = {name.lower(): name for name in (*euro_par.TABLE_2, *icpp.TABLE_I)}
    return known.get(series.lower(), series), ""


def _table_i(experiment: Experiment, record: Record) -> Table:
    wanted = {G_PR: "G-PR", APFB: "G-HKDW", "P-DBFS": "P-DBFS", "PR": "PR", OURS[0]: OURS[0], OURS[1]: OURS[1]}
    cases = sets_of(experiment)["original"]
    rows: list[tuple[str, ...]] = []
    for case in cases:
        facts = any_facts(record, experiment, case)
        sizes = (
            f"{facts[key]:,}" if key in facts else NOTHING for key in ("columns", "edges", "cheap_size", "maximum")
        )
        times = (time_text(record, experiment, case, name) for name in wanted)
        rows.append((label_of(case), *sizes, *times, *_published_i(case)))
    common = in_common(record, experiment, cases, list(wanted))
    means = (seconds(geometric(record, experiment, common, name)) for name in wanted)
    paper = (duration(icpp.GEOMETRIC_MEANS[name]) for name in ("G-PR", "G-HKDW", "P-DBFS", "PR"))
    rows.append(
        (f"geometric mean of the {len(common)} that all solved", *[NOTHING] * 4, *means, "its 28 graphs", *paper)
    )
    return without_empty_columns(
        "ICPP 2013, Table I: time of the search after the cheap start (auctrack: start and search)",
        ("", "columns", "edges", "IM", "MM", *wanted.values()),
        ("paper's graph", *(f"paper: {name}" for name in ("G-PR", "G-HKDW", "P-DBFS", "PR"))),
        rows,
        (
            f"paper's hardware: {icpp.HARDWARE}",
            "G-HKDW is the Euro-Par paper's APFB-GPUBFS-WR-CT, by its figures",
            "IM, MM: size of the initial (cheap) and of the maximum matching",
        ),
    )


def _published_i(case: Case) -> tuple[str, ...]:
    name, mark = _papers_name(case)
    if name not in icpp.TABLE_I:
        return (NOTHING,) * 5
    row = icpp.TABLE_I[name]
    return (f"{mark}{name}", *map(seconds, (row.g_pr, row.g_hkdw, row.p_dbfs, row.pr)))


def _speed_ups(experiment: Experiment, record: Record) -> Table:
    """Figure 5 of Euro-Par and Figure 4 of ICPP as numbers: geometric-mean speed-ups over the sequential algorithms."""
    names = (*PARALLEL, *OURS)
    rows: list[tuple[str, ...]] = []
    for name, cases in sets_of(experiment).items():
        for reference in ("PFP", "HK", "PR"):
            ratios = (mean_speed_up(record, experiment, cases, variant, reference) for variant in names)
            rows.append(
                (f"{name}, over {reference}", *map(times_as_fast, ratios), _published_speed_up(name, reference))
            )
    return without_empty_columns(
        "Euro-Par 2013 Figure 5, ICPP 2013 Figure 4: geometric-mean speed-up over a sequential algorithm",
        ("", *names),
        ("paper's own GPU",),
        rows,
        (
            "Euro-Par draws the averages over PFP and over HK and prints the lesser of the two: 3.61 on the original "
            "graphs, 3.54 on the permuted; ICPP prints 3.05 over PR",
        ),
    )


def _published_speed_up(of: str, reference: str) -> str:
    if reference == "PR":
        return times_as_fast(icpp.FIGURE_4["mean"]) if of == "original" else NOTHING
    return f"≥ {times_as_fast(euro_par.FIGURE_5[of])}"


def _figure_2_table(experiment: Experiment, record: Record) -> Table:
    def text(cell: Any) -> str:
        levels = cell.values("levels")
        return f"{len(levels[0])} / {sum(levels[0]):,}" if levels else NOTHING

    title = "Euro-Par 2013, Figure 2: breadth-first searches / their levels in all"
    return grid(title, experiment, record, text, label=label_of)
