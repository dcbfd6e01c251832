"""The tables of `bench cardinality`, each beside what its paper printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .cardinality_record import (
    ALGORITHM_NAMES,
    APFB,
    G_PR,
    G_PR_FORMS,
    OURS,
    PARALLEL,
    PERMUTED,
    RELABELLING,
    fastest_sequential,
    form_name,
    geometric,
    in_common,
    label_of,
    mean_speed_up,
    relabelling_name,
    seconds,
    sets_of,
    time_of,
)
from .graph_families import FAMILIES
from .harness import Case, Experiment
from .papers import deveci_euro_par_2013 as euro_par
from .papers import deveci_icpp_2013 as icpp
from .record import Record
from .tables import NOTHING, Table, duration, geometric_mean, grid, missing_notes

_ALIKE = {
    "delaunay": "delaunay_n{}",
    "rgg": "rgg_n_2_{}_s0",
    "rmat": "kron_g500-logn{}",
}
"""The collection's graphs that a family is modelled on, by the exponent."""


def tables(experiments: Sequence[Experiment], record: Record) -> list[Table]:
    """Return the tables of what was measured."""
    algorithms, forms, levels, relabelling = experiments
    return [
        _table_2(algorithms, record),
        _table_i(algorithms, record),
        *_speed_ups(algorithms, record),
        _table_1(forms, record),
        _figure_2_table(levels, record),
        _figure_1_table(relabelling, record),
        _findings(forms, relabelling, record),
    ]


def _table_2(experiment: Experiment, record: Record) -> Table:
    wanted = (APFB, "P-DBFS", "P-PFP", "P-HK", "PFP", "HK", *OURS)
    rows = [
        (label_of(case), *(seconds(time_of(record, experiment, case, name)) for name in wanted), *_published_2(case))
        for case in experiment.cases
    ]
    return _without_empty_columns(
        "Euro-Par 2013, Table 2: time of the search after the cheap start (ours: start and search)",
        ("", *wanted, "paper's graph", "paper: GPU", "paper: P-DBFS", "paper: PFP", "paper: HK"),
        rows,
        (f"paper's hardware: {euro_par.HARDWARE}", _ALIKE_NOTE, *missing_notes(experiment, record)),
    )


_ALIKE_NOTE = "≈ marks a graph of the collection that ours is modelled on, of the same size but another graph"


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
        facts = _any_facts(record, experiment, case)
        sizes = (
            f"{facts[key]:,}" if key in facts else NOTHING for key in ("columns", "edges", "cheap_size", "maximum")
        )
        times = (seconds(time_of(record, experiment, case, name)) for name in wanted)
        rows.append((label_of(case), *sizes, *times, *_published_i(case)))
    common = in_common(record, experiment, cases, list(wanted))
    means = (seconds(geometric(record, experiment, common, name)) for name in wanted)
    paper = (duration(icpp.GEOMETRIC_MEANS[name]) for name in ("G-PR", "G-HKDW", "P-DBFS", "PR"))
    rows.append(
        (f"geometric mean of the {len(common)} that all solved", *[NOTHING] * 4, *means, "its 28 graphs", *paper)
    )
    columns = ("", "columns", "edges", "IM", "MM", *wanted.values(), "paper's graph")
    return _without_empty_columns(
        "ICPP 2013, Table I: time of the search after the cheap start (ours: start and search)",
        (*columns, *(f"paper: {name}" for name in ("G-PR", "G-HKDW", "P-DBFS", "PR"))),
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


def _any_facts(record: Record, experiment: Experiment, case: Case) -> dict[str, Any]:
    """Return what every variant knows of a graph, with the cheap start's size from one that begins with it."""
    known: dict[str, Any] = {}
    for variant in experiment.variants:
        facts = record.cell(experiment.name, case.series, case.size, variant.name).facts
        if facts:
            known |= {key: facts[0][key] for key in ("columns", "edges", "maximum")}
            if variant.name not in OURS:
                known["cheap_size"] = facts[0]["initial_size"]
    return known


def _speed_ups(experiment: Experiment, record: Record) -> list[Table]:
    """Figure 5 of Euro-Par and Figure 4 of ICPP as numbers: geometric-mean speed-ups over the sequential algorithms."""
    names = (*PARALLEL, *OURS)
    rows: list[tuple[str, ...]] = []
    for name, cases in sets_of(experiment).items():
        for reference in ("PFP", "HK", "PR"):
            ratios = (mean_speed_up(record, experiment, cases, variant, reference) for variant in names)
            paper = euro_par.FIGURE_5[name] if reference == fastest_sequential(name) else None
            paper = icpp.FIGURE_4["mean"] if (name, reference) == ("original", "PR") else paper
            rows.append((f"{name}, over {reference}", *map(_times, (*ratios, paper))))
    return [
        _without_empty_columns(
            "Euro-Par 2013 Figure 5, ICPP 2013 Figure 4: geometric-mean speed-up over a sequential algorithm",
            ("", *names, "paper's own GPU"),
            rows,
            ("the papers give averages of speed-ups: at least 3.61 and 3.54 over PFP and HK, 3.05 over PR",),
        )
    ]


def _table_1(experiment: Experiment, record: Record) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, cases in sets_of(experiment).items():
        common = in_common(record, experiment, cases, [variant.name for variant in experiment.variants])
        means = [geometric(record, experiment, common, variant.name) for variant in experiment.variants]
        rows.append((f"ours, {name} ({len(common)} graphs)", *map(seconds, means)))
    for name, row in euro_par.TABLE_1.items():
        rows.append((f"paper, {name}", *(duration(row[form]) for form in euro_par.FORMS)))
    notes = (f"paper's hardware: {euro_par.HARDWARE}", *missing_notes(experiment, record)[:1])
    columns = ("", *(variant.name for variant in experiment.variants))
    return Table("Euro-Par 2013, Table 1: geometric means of the forms of the GPU algorithm", columns, rows, notes)


def _findings(forms: Experiment, relabelling: Experiment, record: Record) -> Table:
    """What the papers concluded, as how many times as fast the one choice is: geometric means over forms and graphs."""
    rows: list[tuple[str, ...]] = []
    for better, worse in (("ct", "mt"), ("gpubfs-wr", "gpubfs"), ("apfb", "apsb")):
        for name, cases in sets_of(forms).items():
            paper = _papers_gain(better, worse, {"original": "O_S1", "permuted": "RCP_S1"}[name])
            gain = _gain(forms, record, cases, _pairs(better, worse))
            fast, slow = (ALGORITHM_NAMES.get(choice, choice.upper()) for choice in (better, worse))
            rows.append((f"{fast} over {slow}, {name}", paper, *gain))
    for what, paper, pairs in (
        ("list of active columns over none", "1.14 to 1.84 ×", _g_pr_pairs(("active", "first"))),
        ("shrinking list over list", "1.02 to 1.08 ×", _g_pr_pairs(("shrink", "active"))),
        ("(adaptive, 0.7) over (fix, 10)", "faster", _relabelling_pairs(("adaptive", 0.7), ("fix", 10))),
        ("(adaptive, 0.7) over (fix, 50)", "faster", _relabelling_pairs(("adaptive", 0.7), ("fix", 50))),
        ("(adaptive, 0.7) over (adaptive, 0.3)", "faster", _relabelling_pairs(("adaptive", 0.7), ("adaptive", 0.3))),
    ):
        rows.append((f"G-PR: {what}", paper, *_gain(relabelling, record, relabelling.cases, pairs)))
    columns = ("", "paper", "ours", "faster on")
    return Table("What the papers found, and what we find: how many times as fast", columns, rows)


Pairs = list[tuple[str, str]]


def _pairs(better: str, worse: str) -> Pairs:
    """The forms that differ in this choice only, the better one first."""
    return [
        (form_name(form), form_name(other))
        for form in euro_par.FORMS
        for other in euro_par.FORMS
        if [(a, b) for a, b in zip(form, other, strict=True) if a != b] == [(better, worse)]
    ]


def _papers_gain(better: str, worse: str, of: str) -> str:
    by_name = {form_name(form): time for form, time in euro_par.TABLE_1[of].items()}
    return _times(geometric_mean(by_name[slow] / by_name[fast] for fast, slow in _pairs(better, worse)))


def _g_pr_pairs(forms: tuple[str, str]) -> Pairs:
    better, worse = forms
    return [(relabelling_name(better, how), relabelling_name(worse, how)) for how in RELABELLING]


def _relabelling_pairs(better: tuple[str, float], worse: tuple[str, float]) -> Pairs:
    return [(relabelling_name(form, better), relabelling_name(form, worse)) for form in G_PR_FORMS]


def _gain(experiment: Experiment, record: Record, cases: Sequence[Case], pairs: Pairs) -> tuple[str, str]:
    """How many times as fast the first of each pair is, and on how many of the pairs and graphs it is faster."""
    times = [[time_of(record, experiment, case, name) for name in pair] for case in cases for pair in pairs]
    ratios = [slow / fast for fast, slow in times if fast and slow]
    return _times(geometric_mean(ratios)), f"{sum(r > 1 for r in ratios)} of {len(ratios)}" if ratios else NOTHING


def _times(ratio: float | None) -> str:
    return f"{ratio:.2f} ×" if ratio else NOTHING


def _figure_2_table(experiment: Experiment, record: Record) -> Table:
    def text(cell: Any) -> str:
        levels = cell.values("levels")
        return f"{len(levels[0])} / {sum(levels[0]):,}" if levels else NOTHING

    title = "Euro-Par 2013, Figure 2: breadth-first searches / their levels in all"
    return grid(title, experiment, record, text, label=label_of)


def _figure_1_table(experiment: Experiment, record: Record) -> Table:
    cases = in_common(record, experiment, experiment.cases, [variant.name for variant in experiment.variants])
    rows = [
        (variant.name, seconds(geometric(record, experiment, cases, variant.name))) for variant in experiment.variants
    ]
    return Table(
        "ICPP 2013, Figure 1: geometric mean of the forms of G-PR and their relabelling (original graphs)",
        ("", "G-PR"),
        [row for row in rows if row[1] != NOTHING],
        (
            "the paper draws Figure 1; its text: lists of active columns gain 14 to 84 %, shrinking 2 to 8 % more, "
            "(adaptive, 0.7) is best",
            *missing_notes(experiment, record)[:1],
        ),
    )


def _without_empty_columns(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> Table:
    kept = [k for k in range(len(columns)) if k == 0 or any(row[k] != NOTHING for row in rows)]
    return Table(title, [columns[k] for k in kept], [[row[k] for k in kept] for row in rows], notes)
