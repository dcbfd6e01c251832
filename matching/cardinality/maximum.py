"""`maximum_matching`: one call over every algorithm for the maximum cardinality of a bipartite graph."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from ..device import cuda
from ..errors import InvalidProblem
from ..problem.host_problem import fetched
from . import gpu_solve
from .best import best, choose
from .cheap import cheap
from .choices import check_options, look_up
from .gpu_graph import DeviceGraph
from .graph import BipartiteGraph, IntArray
from .matching import Matching, check_matching
from .place import check_device
from .pothen_fan import pothen_fan
from .push_relabel import push_relabel
from .reading import is_on_device
from .scarce_first import scarce_first

Search = Callable[..., dict[str, Any]]
Start = Callable[[BipartiteGraph, IntArray, IntArray], None]

ALGORITHMS: dict[str, Search | str] = {
    "auto": best,
    "hopcroft-karp": ".papers.deveci_apfb_2013.hopcroft_karp:hopcroft_karp",
    "hkdw": ".papers.deveci_apfb_2013.hkdw:hkdw",
    "pothen-fan": pothen_fan,
    "push-relabel": push_relabel,
    "p-dbfs": ".papers.azad_2012.disjoint_bfs:p_dbfs",
    "parallel-pothen-fan": ".papers.azad_2012.parallel_pothen_fan:parallel_pothen_fan",
    "parallel-hopcroft-karp": ".papers.azad_2012.parallel_hopcroft_karp:parallel_hopcroft_karp",
    "apfb": ".papers.deveci_apfb_2013.cpu:apfb",
    "apsb": ".papers.deveci_apfb_2013.cpu:apsb",
    "g-pr": ".papers.deveci_gpr_2013.cpu:g_pr",
}
"""The searches that run on the CPU; each takes (graph, col_of_row, row_of_col, **options) and works in place.

Those of the papers and their rivals are places, loaded when asked for (`named`).
"""

INITIAL_MATCHINGS: dict[str, Start] = {
    "none": lambda _graph, _col_of_row, _row_of_col: None,
    "cheap": cheap,
    "scarce-first": scarce_first,
}
"""The starts that run on the CPU."""


def maximum_matching(
    graph: Any, algorithm: str = "auto", initial: Any = "auto", device: str = "auto", **options: Any
) -> Matching:
    """A maximum-cardinality matching of a bipartite graph, with its proof.

    Parameters
    ----------
    graph : BipartiteGraph or anything `BipartiteGraph.from_any` reads
        Rows against columns; rectangular graphs and vertices without an edge are fine. Solved on the GPU, a
        `DeviceGraph` or a CuPy sparse matrix gives a matching of CuPy arrays.
    algorithm : str
        ``"auto"`` takes what `choose` says. Sequential: ``"hopcroft-karp"``, ``"hkdw"``, ``"pothen-fan"``,
        ``"push-relabel"``. Multicore: ``"p-dbfs"``, ``"parallel-pothen-fan"``, ``"parallel-hopcroft-karp"``.
        The GPU papers' ``"apfb"``, ``"apsb"`` and ``"g-pr"`` run on the GPU, and in a plain form on the CPU.
    initial : str or array_like of int, shape (n_rows,)
        Where the search starts: ``"none"``, ``"cheap"``, ``"scarce-first"``, or a matching as the
        column of each row, -1 for none. ``"auto"`` is ``"cheap"`` (as in both papers), but ``"scarce-first"`` for
        ``algorithm="auto"`` on graphs of uneven degree.
    device : str
        ``"cpu"``, ``"cuda"`` or ``"cuda:N"``; ``"auto"`` is the first CUDA device where there is one and the algorithm
        and the start run there (`gpu_solve.ALGORITHMS`, `gpu_solve.INITIAL_MATCHINGS`), else the CPU.
    **options
        Of the algorithm; see its docstring.

    Returns
    -------
    Matching
        Deterministic for a given graph, algorithm, options and device; of the multicore algorithms, and of the papers'
        algorithms on a GPU, only its size is.

    Raises
    ------
    InvalidProblem
        Not a graph, not a matching to start from, or an unknown name or option.
    DeviceUnavailable
        A GPU was asked for and there is none.

    Examples
    --------
    >>> import numpy as np
    >>> maximum_matching(np.array([[True, True], [True, False]])).col_of_row
    array([1, 0], dtype=int32)
    """
    if device == "auto":
        device = "cuda" if _runs_on_gpu(algorithm, initial) and cuda.is_available() else "cpu"
    if device != "cpu":
        return _on_gpu(graph, algorithm, initial, device, options)
    graph = BipartiteGraph.from_any(graph)
    search = look_up(ALGORITHMS, algorithm, "algorithm", "CPU")
    check_options(search, algorithm, options, "CPU")
    begin = perf_counter()
    if algorithm == "auto" and "kind" not in options:
        options["kind"] = choose(graph)
    start_name, col_of_row, row_of_col = _start(graph, initial, is_uneven=options.get("kind") == "uneven")
    started = perf_counter()
    n_started = int(np.count_nonzero(col_of_row >= 0))
    stats = search(graph, col_of_row, row_of_col, **options)
    seconds = {"initial": started - begin, "search": perf_counter() - started}
    stats = {"initial_size": n_started, **stats, "seconds": seconds}
    return Matching(graph, col_of_row, row_of_col, algorithm, start_name, "cpu", stats)


def _start(graph: BipartiteGraph, initial: Any, *, is_uneven: bool) -> tuple[str, IntArray, IntArray]:
    col_of_row = np.full(graph.n_rows, -1, np.int32)
    row_of_col = np.full(graph.n_columns, -1, np.int32)
    if not isinstance(initial, str):
        given = read_initial(graph, initial)
        return "given", *given
    name = initial
    if name == "auto":
        name = "scarce-first" if is_uneven else "cheap"
    look_up(INITIAL_MATCHINGS, name, "initial", "CPU")(graph, col_of_row, row_of_col)
    return name, col_of_row, row_of_col


def read_initial(graph: BipartiteGraph, initial: Any) -> tuple[IntArray, IntArray]:
    """Both sides of a matching given as the column of each row; `InvalidProblem` if it is none of the graph."""
    given = fetched(initial, "initial")
    if given.shape != (graph.n_rows,) or given.dtype.kind not in "iu":
        raise InvalidProblem(
            f"initial needs one integer column per row ({graph.n_rows}), -1 for none; "
            f"got {given.dtype} of shape {given.shape}.",
            argument="initial",
        )
    if len(given) and (int(given.max()) >= graph.n_columns or int(given.min()) < -1):
        raise InvalidProblem(
            f"initial needs columns in [-1, {graph.n_columns}); got {given.min()} to {given.max()}.", argument="initial"
        )
    col_of_row = given.astype(np.int32)
    row_of_col = np.full(graph.n_columns, -1, np.int32)
    rows = np.flatnonzero(col_of_row >= 0)
    row_of_col[col_of_row[rows]] = rows
    twice = rows[row_of_col[col_of_row[rows]] != rows]
    if len(twice):
        column = col_of_row[twice[0]]
        raise InvalidProblem(
            f"initial is not a matching: rows {twice[0]} and {row_of_col[column]} both have column {column}.",
            argument="initial",
        )
    check_matching(graph, col_of_row, row_of_col, "initial")
    return col_of_row, row_of_col


def _runs_on_gpu(algorithm: str, initial: Any) -> bool:
    starts = {"auto", *gpu_solve.INITIAL_MATCHINGS}
    return algorithm in gpu_solve.ALGORITHMS and (not isinstance(initial, str) or initial in starts)


def _on_gpu(graph: Any, algorithm: str, initial: Any, device: str, options: dict[str, Any]) -> Matching:
    check_device(device)
    given = None if isinstance(initial, str) else initial
    if is_on_device(graph):
        with cuda.using(device):
            graph = DeviceGraph.from_any(graph)
    else:
        graph = BipartiteGraph.from_any(graph)
    if given is not None:
        initial = read_initial(BipartiteGraph.from_any(graph), given)[0]
    col_of_row, row_of_col, stats = gpu_solve.maximum_matching_gpu(graph, algorithm, initial, device, options)
    start_name = "given" if given is not None else "cheap" if initial == "auto" else initial
    return Matching(graph, col_of_row, row_of_col, algorithm, start_name, device, stats)
