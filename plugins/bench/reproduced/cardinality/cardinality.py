"""`auctrack bench cardinality`: the two maximum-cardinality papers' tables and figures, and large graphs beside peers.

Deveci et al., Euro-Par 2013 (Tables 1 and 2, Figures 2 to 5) and ICPP 2013 (Table I, Figures 1 to 4). Times are those
of the search after the common cheap initial matching, as in the papers, with the graph given by rows and by columns.
Ours get it by rows only and start as they like, and both count.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path

from .....matching.cardinality import BipartiteGraph
from .....tracker.errors import InvalidInput
from ...benchmark import Benchmark, Effort
from ...graphs.graph_families import FAMILIES, PERMUTED, permuted
from ...graphs.large_graphs import LARGE, Recipe, make_graph
from ...measure.harness import Case, Experiment, always
from .. import cardinality_peers
from .figures import figures
from .record import originals
from .tables import tables
from .variants import algorithms, forms, level_counters, ours, relabelling

_TIMES = (
    "Times are the solver's own, wall seconds on a CPU and between two CUDA events on a GPU: medians, after one call "
    "that does not count; copies to a GPU are not in them; every matching was proven maximum by its cover."
)


def cardinality(effort: Effort, gpu: str = "cuda", files: Sequence[Path] = (), graphs: Path | None = None) -> Benchmark:
    """Return the benchmark.

    Parameters
    ----------
    effort : Effort
        `sizes` are exponents k: graphs of 2^k rows.
    gpu : str
        CUDA device of the GPU variants.
    files : sequence of Path
        MatrixMarket files, measured in place of the families; rows of the papers are found by their names.
    graphs : Path, optional
        Folder that keeps large graphs, see `make_graph`.

    Raises
    ------
    InvalidInput
        If a file cannot be read as a sparse matrix.
    """
    cases = [case for path in files for case in _file_cases(path)] or _family_cases(effort, graphs)
    experiments = [
        Experiment("algorithms", cases, algorithms(gpu), effort.times(5, 3)),
        Experiment("table-1", cases, forms(gpu), effort.times(3, 1)),
        Experiment("figure-2", _figure_2_cases(effort, cases, graphs), level_counters(gpu), 1),
        Experiment("figure-1", originals(cases), relabelling(gpu), effort.times(3, 1)),
    ]
    if not (files or effort.quick or effort.sizes):
        experiments += _large(effort, gpu, graphs)
    by_name = {experiment.name: experiment for experiment in experiments}
    return Benchmark("cardinality", experiments, partial(tables, by_name), partial(figures, by_name), times=_TIMES)


def _large(effort: Effort, gpu: str, graphs: Path | None) -> list[Experiment]:
    """The graphs that others' code was measured on, each in the table of its kind of machine."""

    def cases(names: Sequence[str]) -> list[Case]:
        return [_case(name, LARGE[name], graphs) for name in names]

    on_gpu = [ours(gpu), *forms(gpu), *relabelling(gpu, (("adaptive", 0.7), ("fix", 10)))]
    return [
        Experiment("large-gpu", cases(list(cardinality_peers.GPU)), on_gpu, effort.times(7, 1)),
        Experiment("large-cpu", cases(list(cardinality_peers.CPU)), [ours("cpu")], effort.times(5, 1)),
    ]


def _case(series: str, recipe: Recipe, graphs: Path | None) -> Case:
    return Case(series, recipe.rows, lambda _: make_graph(recipe, graphs), seed_of=always(recipe.seed))


def _family_cases(effort: Effort, graphs: Path | None) -> list[Case]:
    exponents = effort.of_sizes((14, 17, 20), (11,))
    return [
        _case(f"{family}{order}", Recipe(family, 2**k, k, order_seed=k if order else None), graphs)
        for order in ("", PERMUTED)
        for family in FAMILIES
        for k in exponents
    ]


def _figure_2_cases(effort: Effort, cases: list[Case], graphs: Path | None) -> list[Case]:
    """Two graphs, as in the figure: a mesh, and one of long paths (Hamrle3 there, a road network here)."""
    if not any(case.series in FAMILIES for case in cases):
        return cases[:2]
    exponent = 11 if effort.quick else 17
    return [_case(name, Recipe(name, 2**exponent, exponent), graphs) for name in ("delaunay", "road")]


def _file_cases(path: Path) -> list[Case]:
    from scipy.io import mminfo

    try:
        rows = int(mminfo(path)[0])
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    name = path.name.removesuffix(".gz").removesuffix(".bz2").removesuffix(".mtx")
    return [Case(f"{name}{order}", rows, partial(_from_file, path, order)) for order in ("", PERMUTED)]


def _from_file(path: Path, order: str, seed: int) -> BipartiteGraph:
    graph = _read(path)
    return permuted(graph, seed) if order else graph


@lru_cache(maxsize=1)
def _read(path: Path) -> BipartiteGraph:
    from scipy.io import mmread
    from scipy.sparse import csr_array

    try:
        return BipartiteGraph.from_any(csr_array(mmread(path)))
    except (OSError, ValueError, OverflowError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    why = str(error).rstrip(".")
    return InvalidInput(
        f"{path} cannot be read as a MatrixMarket file: {why}. Give files such as the collection's NAME.mtx."
    )
