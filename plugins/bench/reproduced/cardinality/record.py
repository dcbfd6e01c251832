"""What `bench cardinality` measured: names of its variants, which time of them counts, means, and how they look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...draw.tables import NOTHING, Table, duration, geometric_mean, with_spread
from ...graphs.graph_families import PERMUTED
from ...measure.harness import Case, Experiment, cell_of
from ...measure.record import Record
from .. import deveci_euro_par_2013 as euro_par

APFB, G_PR = "APFB-WR-CT", "G-PR"
PARALLEL = (APFB, G_PR, "P-DBFS", "P-PFP", "P-HK")
SEQUENTIAL = ("PFP", "HK", "PR")
OURS = ("auctrack, CPU", "auctrack, GPU")

RELABELLING = (("adaptive", 0.3), ("adaptive", 0.7), ("adaptive", 1.0), ("adaptive", 2.0), ("fix", 10), ("fix", 50))
"""Strategies of ICPP's Figure 1; its text names only (adaptive, 0.3) and (adaptive, 0.7)."""

G_PR_FORMS = ("first", "active", "shrink")
ALGORITHM_NAMES = {"apfb": "APFB", "apsb": "APsB"}


def form_name(form: euro_par.Form) -> str:
    """Return the paper's name of a form of its GPU algorithm."""
    algorithm, bfs, launch = form
    return "-".join([ALGORITHM_NAMES[algorithm], bfs.upper(), launch.upper()])


def relabelling_name(form: str, how: tuple[str, float]) -> str:
    """Return how a form of G-PR with its relabelling strategy is named."""
    strategy, k = how
    return f"{G_PR} {form} ({strategy}, {k:g})"


def _counted(variant: str) -> str:
    """Name the time that counts: the search, and for ours the start too."""
    return "whole_s" if variant in OURS else "search_s"


def label_of(case: Case) -> str:
    """Return how a graph is named in tables."""
    return f"{case.series}, {case.size:,} rows"


def time_of(record: Record, experiment: Experiment, case: Case, variant: str) -> float | None:
    """Return the median of the time that counts."""
    return cell_of(record, experiment, case, variant).median(_counted(variant))


def time_text(record: Record, experiment: Experiment, case: Case, variant: str) -> str:
    """Return the time that counts as tables show it, with its spread."""
    return with_spread(cell_of(record, experiment, case, variant).values(_counted(variant)))


def originals(cases: Sequence[Case]) -> list[Case]:
    """Return the graphs in their own order."""
    return [case for case in cases if not case.series.endswith(PERMUTED)]


def sets_of(experiment: Experiment) -> dict[str, list[Case]]:
    """Return the papers' two sets of graphs."""
    return {
        "original": originals(experiment.cases),
        "permuted": [case for case in experiment.cases if case.series.endswith(PERMUTED)],
    }


def in_common(record: Record, experiment: Experiment, cases: Sequence[Case], variants: Sequence[str]) -> list[Case]:
    """Return the cases that every one of those variants solved that solved any."""
    able = [name for name in variants if any(time_of(record, experiment, case, name) for case in cases)]
    return [case for case in cases if able and all(time_of(record, experiment, case, name) for name in able)]


def geometric(record: Record, experiment: Experiment, cases: Sequence[Case], variant: str) -> float | None:
    """Return the geometric mean of a variant's times over the graphs that it solved."""
    times = [time_of(record, experiment, case, variant) for case in cases]
    return geometric_mean(t for t in times if t)


def fastest_sequential(name: str) -> str:
    """The reference of Euro-Par's speed-ups: HK was the faster one on the original graphs, PFP on the permuted."""
    return "HK" if name == "original" else "PFP"


def mean_speed_up(
    record: Record, experiment: Experiment, cases: Sequence[Case], variant: str, reference: str
) -> float | None:
    """Return how many times as fast as the reference a variant is, as a geometric mean over the graphs both solved."""
    pairs = [(time_of(record, experiment, c, reference), time_of(record, experiment, c, variant)) for c in cases]
    return geometric_mean(slow / fast for slow, fast in pairs if slow and fast)


def seconds(value: float | None) -> str:
    """Return a time as tables show it."""
    return NOTHING if value is None else duration(value)


def times_as_fast(ratio: float | None) -> str:
    """Return how many times as fast something is as tables show it."""
    return f"{ratio:.2f} ×" if ratio else NOTHING


def any_facts(record: Record, experiment: Experiment, case: Case) -> dict[str, Any]:
    """Return what every variant knows of a graph, with the cheap start's size from one that begins with it."""
    known: dict[str, Any] = {}
    for variant in experiment.variants:
        facts = cell_of(record, experiment, case, variant.name).facts
        if facts:
            known |= {key: facts[0][key] for key in ("columns", "edges", "maximum")}
            if variant.name not in OURS:
                known["cheap_size"] = facts[0]["initial_size"]
    return known


def without_empty_columns(
    title: str, columns: Sequence[str], beside: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> Table:
    """Return a table of what was measured and, beside it, what a paper printed."""
    names = (*columns, *beside)
    kept = [k for k in range(len(names)) if k == 0 or any(row[k] != NOTHING for row in rows)]
    n_beside = sum(k >= len(columns) for k in kept)
    return Table(title, [names[k] for k in kept], [[row[k] for k in kept] for row in rows], notes, n_beside)
