"""`auctrack bench cardinality`: the two maximum-cardinality papers' tables and figures.

Deveci et al., Euro-Par 2013 (Tables 1 and 2, Figures 2 to 5) and ICPP 2013 (Table I, Figures 1 to 4). Times are those
of the search after the common cheap initial matching, as in the papers; ours start as they like, and their start
counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

from ...matching import cuda
from ...matching.cardinality import BipartiteGraph, maximum_matching, verify_matching
from ...matching.cardinality.matching import Matching
from ...tracker.errors import InvalidInput
from .benchmark import Benchmark, Effort
from .cardinality_figures import figures
from .cardinality_record import (
    ALGORITHM_NAMES,
    APFB,
    G_PR,
    G_PR_FORMS,
    OURS,
    PERMUTED,
    RELABELLING,
    form_name,
    originals,
    relabelling_name,
)
from .cardinality_tables import tables
from .graph_families import FAMILIES, permuted
from .harness import Case, Experiment, Facts, Variant, always
from .papers import deveci_euro_par_2013 as euro_par
from .solver_variants import missing_device

_TIMES = (
    "Times are wall seconds inside the solver, as it tells them: medians, after one call that does not count; copies "
    "to a GPU are not in them; every matching was proven maximum by its cover."
)


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
        Experiment("figure-1", originals(cases), _relabelling(gpu), effort.times(3, 1)),
    ]
    return Benchmark(
        "cardinality", experiments, partial(tables, experiments), partial(figures, experiments), times=_TIMES
    )


def _family_cases(effort: Effort) -> list[Case]:
    exponents = effort.of_sizes((14, 17, 20), (11,))
    return [
        Case(f"{family}{order}", 2**k, partial(_from_family, family, order), seed_of=always(k))
        for order in ("", PERMUTED)
        for family in FAMILIES
        for k in exponents
    ]


def _from_family(family: str, order: str, exponent: int) -> BipartiteGraph:
    """Make a graph of a family, whose exponent is its seed."""
    graph = _family_graph(family, exponent)
    return permuted(graph, exponent) if order else graph


@cache
def _family_graph(family: str, exponent: int) -> BipartiteGraph:
    """Make a graph once for all experiments: at 2^20 rows that takes longer than they do."""
    return FAMILIES[family](exponent)


def _file_cases(path: Path) -> list[Case]:
    from scipy.io import mminfo

    try:
        rows = int(mminfo(path)[0])
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} is no MatrixMarket file that can be read: {error}.") from None
    return [Case(f"{path.stem}{order}", rows, partial(_from_file, path, order)) for order in ("", PERMUTED)]


def _from_file(path: Path, order: str, seed: int) -> BipartiteGraph:
    from scipy.io import mmread
    from scipy.sparse import csr_array

    graph = BipartiteGraph.from_any(csr_array(mmread(path)))
    return permuted(graph, seed) if order else graph


def _figure_2_cases(effort: Effort, cases: list[Case]) -> list[Case]:
    """Two graphs, as in the figure: a mesh, and one of long paths (Hamrle3 there, a road network here)."""
    if not any(case.series in FAMILIES for case in cases):
        return cases[:2]
    exponent = 11 if effort.quick else 17
    names = "delaunay", "road"
    return [Case(name, 2**exponent, partial(_from_family, name, ""), seed_of=always(exponent)) for name in names]


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
    return _variant(form_name(form), algorithm, gpu, bfs=bfs, launch=launch)


def _level_counters(gpu: str) -> list[Variant]:
    """The algorithms of Figure 2: on the GPU, or without one in their plain form on the CPU, which counts the same."""
    device = gpu if cuda.is_available() else "cpu"
    return [
        _variant(f"{name}-{bfs.upper()}", algorithm, device, bfs=bfs)
        for algorithm, name in ALGORITHM_NAMES.items()
        for bfs in ("gpubfs", "gpubfs-wr")
    ]


def _relabelling(gpu: str) -> list[Variant]:
    return [
        _variant(relabelling_name(form, strategy), "g-pr", gpu, form=form, strategy=strategy)
        for form in G_PR_FORMS
        for strategy in RELABELLING
    ]


def _variant(label: str, algorithm: str, device: str = "cpu", *, initial: str = "cheap", **options: Any) -> Variant:
    return Variant(
        label,
        run=lambda graph: maximum_matching(graph, algorithm, initial, device, **options),
        check=_checked,
        device=device,
        missing=missing_device(device),
    )


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
