"""The forms of the papers' GPU algorithms against each other, beside what the papers concluded."""

from __future__ import annotations

from collections.abc import Sequence

from ...draw.tables import NOTHING, Table, duration, geometric_mean, missing_notes
from ...measure.harness import Case, Experiment
from ...measure.record import Record
from .. import deveci_euro_par_2013 as euro_par
from .record import (
    ALGORITHM_NAMES,
    G_PR_FORMS,
    RELABELLING,
    form_name,
    geometric,
    in_common,
    relabelling_name,
    seconds,
    sets_of,
    time_of,
    times_as_fast,
)

Pairs = list[tuple[str, str]]
"""Names of variants that differ in one choice only, the better one by the paper first."""


def table_1(experiment: Experiment, record: Record) -> Table:
    """Euro-Par's Table 1: the forms of its GPU algorithm."""
    rows: list[tuple[str, ...]] = []
    for name, cases in sets_of(experiment).items():
        common = in_common(record, experiment, cases, [variant.name for variant in experiment.variants])
        means = [geometric(record, experiment, common, variant.name) for variant in experiment.variants]
        rows.append((f"auctrack, {name} ({len(common)} graphs)", *map(seconds, means)))
    is_measured = any(cell != NOTHING for row in rows for cell in row[1:])
    for name, row in euro_par.TABLE_1.items():
        rows.append((f"paper, {name}", *(duration(row[form]) for form in euro_par.FORMS)))
    notes = (f"paper's hardware: {euro_par.HARDWARE}", *missing_notes(experiment, record)[:1])
    columns = ("", *(variant.name for variant in experiment.variants))
    title = "Euro-Par 2013, Table 1: geometric means of the forms of the GPU algorithm"
    return Table(title, columns, rows, notes, beside=0 if is_measured else len(experiment.variants))


def figure_1(experiment: Experiment, record: Record) -> Table:
    """ICPP's Figure 1: the forms of G-PR with each relabelling strategy."""
    cases = in_common(record, experiment, experiment.cases, [variant.name for variant in experiment.variants])
    rows = [
        (
            f"G-PR {form}",
            *(seconds(geometric(record, experiment, cases, relabelling_name(form, how))) for how in RELABELLING),
        )
        for form in G_PR_FORMS
    ]
    return Table(
        f"ICPP 2013, Figure 1: geometric means of the forms of G-PR by relabelling ({len(cases)} original graphs)",
        ("", *(f"{strategy}, {k:g}" for strategy, k in RELABELLING)),
        rows,
        (
            "the paper draws Figure 1; its text: lists of active columns gain 14 to 84 %, shrinking 2 to 8 % more, "
            "(adaptive, 0.7) is best",
            *missing_notes(experiment, record)[:1],
        ),
    )


def findings(title: str, forms: Experiment, relabelling: Experiment, record: Record) -> Table:
    """What the papers concluded, as how many times as fast the one choice is: geometric means over forms and graphs."""
    rows = [*_findings_of_euro_par(forms, record), *_findings_of_icpp(relabelling, record)]
    columns = ("", "auctrack", "faster on", "paper")
    return Table(title, columns, rows, beside=1)


def _findings_of_euro_par(forms: Experiment, record: Record) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for better, worse in (("ct", "mt"), ("gpubfs-wr", "gpubfs"), ("apfb", "apsb")):
        for name, cases in sets_of(forms).items():
            paper = _papers_gain(better, worse, {"original": "O_S1", "permuted": "RCP_S1"}[name])
            gain = _gain(forms, record, cases, _pairs(better, worse))
            fast, slow = (ALGORITHM_NAMES.get(choice, choice.upper()) for choice in (better, worse))
            rows.append((f"{fast} over {slow}, {name}", *gain, paper))
    return rows


def _findings_of_icpp(relabelling: Experiment, record: Record) -> list[tuple[str, ...]]:
    best = ("adaptive", 0.7)
    found = (
        ("list of active columns over none", "1.14 to 1.84 ×", _form_pairs("active", "first")),
        ("shrinking list over list", "1.02 to 1.08 ×", _form_pairs("shrink", "active")),
        ("(adaptive, 0.7) over (fix, 10)", "faster", _strategy_pairs(best, ("fix", 10))),
        ("(adaptive, 0.7) over (fix, 50)", "faster", _strategy_pairs(best, ("fix", 50))),
        ("(adaptive, 0.7) over (adaptive, 0.3)", "faster", _strategy_pairs(best, ("adaptive", 0.3))),
    )
    return [
        (f"G-PR: {what}", *_gain(relabelling, record, relabelling.cases, pairs), paper) for what, paper, pairs in found
    ]


def _pairs(better: str, worse: str) -> Pairs:
    """The forms that differ in this choice only."""
    return [
        (form_name(form), form_name(other))
        for form in euro_par.FORMS
        for other in euro_par.FORMS
        if [(a, b) for a, b in zip(form, other, strict=True) if a != b] == [(better, worse)]
    ]


def _papers_gain(better: str, worse: str, of: str) -> str:
    by_name = {form_name(form): time for form, time in euro_par.TABLE_1[of].items()}
    return times_as_fast(geometric_mean(by_name[slow] / by_name[fast] for fast, slow in _pairs(better, worse)))


def _form_pairs(better: str, worse: str) -> Pairs:
    return [(relabelling_name(better, how), relabelling_name(worse, how)) for how in RELABELLING]


def _strategy_pairs(better: tuple[str, float], worse: tuple[str, float]) -> Pairs:
    return [(relabelling_name(form, better), relabelling_name(form, worse)) for form in G_PR_FORMS]


def _gain(experiment: Experiment, record: Record, cases: Sequence[Case], pairs: Pairs) -> tuple[str, str]:
    """How many times as fast the first of each pair is, and on how many of the pairs and graphs it is faster."""
    times = [[time_of(record, experiment, case, name) for name in pair] for case in cases for pair in pairs]
    ratios = [slow / fast for fast, slow in times if fast and slow]
    faster = f"{sum(ratio > 1 for ratio in ratios)} of {len(ratios)}" if ratios else NOTHING
    return times_as_fast(geometric_mean(ratios)), faster
