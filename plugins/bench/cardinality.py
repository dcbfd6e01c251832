"""`auctrack bench cardinality`: the two maximum-cardinality papers' tables and figures.

Deveci et al., Euro-Par 2013 (Tables 1 and 2, Figures 2 to 5) and ICPP 2013 (Table I, Figures 1 to 4). Times are those
of the search after the common cheap initial matching, as in the papers; ours start as they like, and their start
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from ...matching import cuda
from ...matching.cardinality import ALGORITHMS, BipartiteGraph, maximum_matching, verify_matching
from ...matching.cardinality.matching import Matching
from ...tracker.errors import InvalidInput
from .benchmark import Benchmark, Effort
from .figures import draw_bars, draw_lines, draw_profiles
from .graph_families import FAMILIES, permuted
from .harness import Case, Experiment, Facts, Variant
from .papers import deveci_euro_par_2013 as euro_par
from .papers import deveci_icpp_2013 as icpp
from .profiles import performance_profile, speed_up_profile
from .record import Record
from .solver_variants import missing_device
from .tables import NOTHING, Table, duration, geometric_mean, grid, missing_notes

PERMUTED = ", permuted"

APFB, G_PR = "APFB-WR-CT", "G-PR"
PARALLEL = (APFB, G_PR, "P-DBFS", "P-PFP", "P-HK")
OURS = ("ours, CPU", "ours, GPU")

RELABELLING = (("adaptive", 0.3), ("adaptive", 0.7), ("adaptive", 1.0), ("adaptive", 2.0), ("fix", 10), ("fix", 50))
"""Strategies of ICPP's Figure 1; its text names only (adaptive, 0.3) and (adaptive, 0.7)."""

_TIMES = (
    "Times are wall seconds inside the solver, as it tells them: medians, after one call that does not count; copies "
    "to a GPU are not in them; every matching was proven maximum by its cover."
)

_ALIKE = {
    "delaunay": "delaunay_n{}",
    "rgg": "rgg_n_2_{}_s0",
    "rmat": "kron_g500-logn{}",
}
"""The collection's graphs that a family is modelled on, by the exponent."""


def cardinality(effort: Effort, gpu: str = "cuda", files: Sequence[Path] = ()) -> Benchmark:
    """Return the benchmark.

    Parameters
    ----------
    effort : Effort
        `sizes` are exponents k: graphs of 2^k rows.
    gpu : str
        CUDA device of the GPU variants.
    files : sequence of Path
        MatrixMarket files, measured in place of the families; rows of the papers are found by their names.

    Raises
    ------
    InvalidInput
        If a file cannot be read as a sparse matrix.
    """
    cases = [case for path in files for case in _file_cases(path)] or _family_cases(effort)
    experiments = [
        Experiment("algorithms", cases, _algorithms(gpu), effort.times(5, 3)),
        Experiment("table-1", cases, [_form(form, gpu) for form in euro_par.FORMS], effort.times(3, 1)),
        Experiment("figure-2", _figure_2_cases(effort, cases), _level_counters(gpu), 1),
        Experiment("figure-1", cases, _relabelling(gpu), effort.times(3, 1)),
    ]
    return Benchmark(
        "cardinality", experiments, partial(_tables, experiments), partial(_figures, experiments), times=_TIMES
    )


def _family_cases(effort: Effort) -> list[Case]:
    exponents = effort.of_sizes((14, 17, 20), (11,))
    return [
        Case(f"{family}{order}", 2**k, partial(_from_family, family, k, order))
        for order in ("", PERMUTED)
        for family in FAMILIES
        for k in exponents
    ]


def _from_family(family: str, exponent: int, order: str, repetition: int) -> BipartiteGraph:
    del repetition
    graph = FAMILIES[family](exponent)
    return permuted(graph, exponent) if order else graph


def _file_cases(path: Path) -> list[Case]:
    from scipy.io import mminfo

    try:
        rows = int(mminfo(path)[0])
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} is no MatrixMarket file that can be read: {error}.") from None
    return [Case(f"{path.stem}{order}", rows, partial(_from_file, path, order)) for order in ("", PERMUTED)]


def _from_file(path: Path, order: str, repetition: int) -> BipartiteGraph:
    from scipy.io import mmread
    from scipy.sparse import csr_array

    del repetition
    graph = BipartiteGraph.from_any(csr_array(mmread(path)))
    return permuted(graph, 1) if order else graph


def _figure_2_cases(effort: Effort, cases: list[Case]) -> list[Case]:
    """Two graphs, as in the figure: a mesh, and one of long paths (Hamrle3 there, a road network here)."""
    if not any(case.series in FAMILIES for case in cases):
        return cases[:2]
    exponent = 11 if effort.quick else 17
    return [Case(name, 2**exponent, partial(_from_family, name, exponent, "")) for name in ("delaunay", "road")]


def _algorithms(gpu: str) -> list[Variant]:
    return [
        _variant(APFB, "apfb", gpu, bfs="gpubfs-wr", launch="ct"),
        _variant(G_PR, "g-pr", gpu),
        _variant("P-DBFS", "p-dbfs"),
        _variant("P-PFP", "parallel-pothen-fan"),
        _variant("P-HK", "parallel-hopcroft-karp"),
        _variant("PFP", "pothen-fan"),
        _variant("HK", "hopcroft-karp"),
        _variant("PR", "push-relabel"),
        _variant(OURS[0], "auto", initial="auto"),
        _variant(OURS[1], "auto", gpu, initial="auto"),
    ]


def _form(form: euro_par.Form, gpu: str) -> Variant:
    algorithm, bfs, launch = form
    return _variant(_form_name(form), algorithm, gpu, bfs=bfs, launch=launch)


def _form_name(form: euro_par.Form) -> str:
    algorithm, bfs, launch = form
    return "-".join([_NAMES[algorithm], bfs.upper(), launch.upper()])


_NAMES = {"apfb": "APFB", "apsb": "APsB"}


def _level_counters(gpu: str) -> list[Variant]:
    """The algorithms of Figure 2: on the GPU, or without one in their plain form on the CPU, which counts the same."""
    device = gpu if cuda.is_available() else "cpu"
    return [
        _variant(f"{name}-{bfs.upper()}", algorithm, device, bfs=bfs)
        for algorithm, name in _NAMES.items()
        for bfs in ("gpubfs", "gpubfs-wr")
    ]


def _relabelling(gpu: str) -> list[Variant]:
    return [
        _variant(f"{form} ({strategy}, {k:g})", "g-pr", gpu, form=form, strategy=(strategy, k))
        for form in ("first", "active", "shrink")
        for strategy, k in RELABELLING
    ]


def _variant(label: str, algorithm: str, device: str = "cpu", *, initial: str = "cheap", **options: Any) -> Variant:
    return Variant(
        label,
        run=lambda graph: maximum_matching(graph, algorithm, initial, device, **options),
        check=_checked,
        device=device,
        missing=_missing(algorithm, device),
    )


def _missing(algorithm: str, device: str) -> str | None:
    if algorithm not in ALGORITHMS:
        return f"algorithm {algorithm!r} is not there yet"
    return missing_device(device)


def _checked(graph: BipartiteGraph, matching: Matching) -> Facts:
    """Return sizes, times and counts of a matching whose cover was recomputed and proves it maximum."""
    maximum = verify_matching(graph, matching)
    seconds = matching.stats["seconds"]
    facts: dict[str, Any] = {
        "rows": graph.n_rows,
        "columns": graph.n_columns,
        "edges": graph.n_edges,
        "initial_size": matching.stats.get("initial_size"),
        "maximum": maximum,
        "start_s": seconds["initial"],
        "search_s": seconds["search"],
        "whole_s": seconds["initial"] + seconds["search"],
    }
    if isinstance(matching.stats.get("levels"), list):
        facts["levels"] = list(map(int, matching.stats["levels"]))
    return facts


def _counted(variant: str) -> str:
    """Name the time that counts: the search, and for ours the start too."""
    return "whole_s" if variant in OURS else "search_s"


def _label(case: Case) -> str:
    return f"{case.series}, {case.size:,} rows"


def _time(record: Record, experiment: Experiment, case: Case, variant: str) -> float | None:
    return record.cell(experiment.name, case.series, case.size, variant).median(_counted(variant))


def _sets(experiment: Experiment) -> dict[str, list[Case]]:
    return {
        "original": [case for case in experiment.cases if not case.series.endswith(PERMUTED)],
        "permuted": [case for case in experiment.cases if case.series.endswith(PERMUTED)],
    }


def _tables(experiments: Sequence[Experiment], record: Record) -> list[Table]:
    algorithms, forms, levels, relabelling = experiments
    return [
        _table_2(algorithms, record),
        _table_i(algorithms, record),
        *_speed_ups(algorithms, record),
        _table_1(forms, record),
        _figure_2_table(levels, record),
        _figure_1_table(relabelling, record),
    ]


def _table_2(experiment: Experiment, record: Record) -> Table:
    wanted = (APFB, "P-DBFS", "P-PFP", "P-HK", "PFP", "HK", *OURS)
    rows = [
        (_label(case), *(_seconds(_time(record, experiment, case, name)) for name in wanted), *_published_2(case))
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
    return (f"{mark}{name}", *map(_seconds, times))


def _papers_name(case: Case) -> tuple[str, str]:
    """Return the paper's name of a graph, and "≈" where ours is only like it."""
    series = case.series.removesuffix(PERMUTED)
    if series in FAMILIES:
        return _ALIKE.get(series, "").format(case.size.bit_length() - 1), "≈ "
    known = {name.lower(): name for name in (*euro_par.TABLE_2, *icpp.TABLE_I)}
    return known.get(series.lower(), series), ""


def _table_i(experiment: Experiment, record: Record) -> Table:
    wanted = {G_PR: "G-PR", APFB: "G-HKDW", "P-DBFS": "P-DBFS", "PR": "PR", OURS[0]: OURS[0], OURS[1]: OURS[1]}
    cases = _sets(experiment)["original"]
    rows: list[tuple[str, ...]] = []
    for case in cases:
        facts = _any_facts(record, experiment, case)
        sizes = (
            f"{facts[key]:,}" if key in facts else NOTHING for key in ("columns", "edges", "cheap_size", "maximum")
        )
        times = (_seconds(_time(record, experiment, case, name)) for name in wanted)
        rows.append((_label(case), *sizes, *times, *_published_i(case)))
    common = _in_common(record, experiment, cases, list(wanted))
    means = (_seconds(_geometric(record, experiment, common, name)) for name in wanted)
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
    return (f"{mark}{name}", *map(_seconds, (row.g_pr, row.g_hkdw, row.p_dbfs, row.pr)))


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


def _in_common(record: Record, experiment: Experiment, cases: Sequence[Case], variants: Sequence[str]) -> list[Case]:
    """Return the cases that every one of those variants solved that solved any."""
    able = [name for name in variants if any(_time(record, experiment, case, name) for case in cases)]
    return [case for case in cases if able and all(_time(record, experiment, case, name) for name in able)]


def _geometric(record: Record, experiment: Experiment, cases: Sequence[Case], variant: str) -> float | None:
    times = [_time(record, experiment, case, variant) for case in cases]
    return geometric_mean(t for t in times if t)


def _speed_ups(experiment: Experiment, record: Record) -> list[Table]:
    """Figure 5 of Euro-Par and Figure 4 of ICPP as numbers: geometric-mean speed-ups over the sequential algorithms."""
    names = (*PARALLEL, *OURS)
    rows: list[tuple[str, ...]] = []
    for name, cases in _sets(experiment).items():
        for reference in ("PFP", "HK", "PR"):
            ratios = (_mean_speed_up(record, experiment, cases, variant, reference) for variant in names)
            paper = euro_par.FIGURE_5[name] if reference == _fastest_sequential(name) else None
            paper = icpp.FIGURE_4["mean"] if (name, reference) == ("original", "PR") else paper
            rows.append((f"{name}, over {reference}", *(f"{r:.2f} ×" if r else NOTHING for r in (*ratios, paper))))
    return [
        _without_empty_columns(
            "Euro-Par 2013 Figure 5, ICPP 2013 Figure 4: geometric-mean speed-up over a sequential algorithm",
            ("", *names, "paper's own GPU"),
            rows,
            ("the papers give averages of speed-ups: at least 3.61 and 3.54 over PFP and HK, 3.05 over PR",),
        )
    ]


def _fastest_sequential(name: str) -> str:
    """The reference of Euro-Par's speed-ups: HK was the faster one on the original graphs, PFP on the permuted."""
    return "HK" if name == "original" else "PFP"


def _mean_speed_up(
    record: Record, experiment: Experiment, cases: Sequence[Case], variant: str, reference: str
) -> float | None:
    pairs = [(_time(record, experiment, c, reference), _time(record, experiment, c, variant)) for c in cases]
    return geometric_mean(slow / fast for slow, fast in pairs if slow and fast)


def _table_1(experiment: Experiment, record: Record) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, cases in _sets(experiment).items():
        common = _in_common(record, experiment, cases, [variant.name for variant in experiment.variants])
        means = [_geometric(record, experiment, common, variant.name) for variant in experiment.variants]
        rows.append((f"ours, {name} ({len(common)} graphs)", *map(_seconds, means)))
    for name, row in euro_par.TABLE_1.items():
        rows.append((f"paper, {name}", *(duration(row[form]) for form in euro_par.FORMS)))
    notes = (f"paper's hardware: {euro_par.HARDWARE}", *missing_notes(experiment, record)[:1])
    columns = ("", *(variant.name for variant in experiment.variants))
    return Table("Euro-Par 2013, Table 1: geometric means of the forms of the GPU algorithm", columns, rows, notes)


def _figure_2_table(experiment: Experiment, record: Record) -> Table:
    def text(cell: Any) -> str:
        levels = cell.values("levels")
        return f"{len(levels[0])} / {sum(levels[0]):,}" if levels else NOTHING

    title = "Euro-Par 2013, Figure 2: breadth-first searches / their levels in all"
    return grid(title, experiment, record, text, label=_label)


def _figure_1_table(experiment: Experiment, record: Record) -> Table:
    originals = _sets(experiment)["original"]
    cases = _in_common(record, experiment, originals, [variant.name for variant in experiment.variants])
    rows = [
        (variant.name, _seconds(_geometric(record, experiment, cases, variant.name))) for variant in experiment.variants
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


def _figures(experiments: Sequence[Experiment], record: Record, folder: Path) -> list[Path]:
    algorithms, _, levels, _ = experiments
    paths = [path for name in ("original", "permuted") for path in _draw_profiles(name, algorithms, record, folder)]
    paths.append(folder / "cardinality-times.png")
    title = "Search after the cheap start (ours: start and search)"
    draw_bars(paths[-1], title, _bars(algorithms, record), y="seconds", log=True)
    for case in levels.cases:
        paths.append(folder / f"cardinality-figure-2-{case.series}.png")
        _draw_levels(paths[-1], case, levels, record)
    return paths


def _draw_profiles(name: str, experiment: Experiment, record: Record, folder: Path) -> list[Path]:
    """Draw the profiles of the parallel algorithms and ours over one set of graphs."""
    cases = _sets(experiment)[name]
    times = {v: [_time(record, experiment, case, v) for case in cases] for v in (*PARALLEL, *OURS)}
    times = {v: row for v, row in times.items() if any(row)}
    paths: list[Path] = []
    for reference in (_fastest_sequential(name), "PR"):
        slow = [_time(record, experiment, case, reference) for case in cases]
        both = [k for k, t in enumerate(slow) if t]
        rows = {v: [row[k] for k in both] for v, row in times.items()}
        paths.append(folder / f"cardinality-speed-up-{name}-{reference.lower()}.png")
        title, x = f"Speed-up over {reference}, {name} graphs", f"speed-up over {reference} of at least"
        draw_profiles(paths[-1], title, speed_up_profile(rows, [slow[k] or 0.0 for k in both]), x=x)
    solved = [k for k in range(len(cases)) if any(row[k] for row in times.values())]
    curves = performance_profile({v: [row[k] for k in solved] for v, row in times.items()})
    paths.append(folder / f"cardinality-performance-{name}.png")
    draw_profiles(paths[-1], f"Performance profile, {name} graphs", curves, x="time within this multiple of the best")
    return paths


def _bars(experiment: Experiment, record: Record) -> dict[str, dict[str, float]]:
    return {
        _label(case): {v.name: t for v in experiment.variants if (t := _time(record, experiment, case, v.name))}
        for case in experiment.cases
    }


def _draw_levels(path: Path, case: Case, experiment: Experiment, record: Record) -> None:
    lines: dict[str, list[tuple[float, float]]] = {}
    for variant in experiment.variants:
        levels = record.cell(experiment.name, case.series, case.size, variant.name).values("levels")
        lines[variant.name] = [(i + 1, n) for i, n in enumerate(levels[0])] if levels else []
    draw_lines(path, f"Levels of each search: {_label(case)}", lines, x="search", y="levels", log=(False, True))


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else duration(value)


def _without_empty_columns(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], notes: Sequence[str]
) -> Table:
    kept = [k for k in range(len(columns)) if k == 0 or any(row[k] != NOTHING for row in rows)]
    return Table(title, [columns[k] for k in kept], [[row[k] for k in kept] for row in rows], notes)
