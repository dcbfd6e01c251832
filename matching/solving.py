"""One call for every matching problem: pick a solver and a device, solve, return the certified assignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .certificate.assignment import Assignment
from .certificate.not_converged import NotConverged
from .device import cuda
from .errors import DeviceUnavailable, InvalidProblem
from .presolve.high_prices import at_lower_prices
from .presolve.sharded import ShardedCosts
from .presolve.sorting import by_sorting
from .problem import Problem
from .problem.convert import gate_radius
from .solvers import Solver, devices_for, make_solver

FEW_PAIRS = 60_000
"""Pairs of two point sets up to which `solve` takes the matrix of all their costs."""

GPU_PAYS = {"dense": 4_000_000, "sparse": 200_000, "points": 25_000_000}
"""Pairs from which `solve` sends a problem that lies on the host to a GPU: from there on one H200 takes a fourth of the
time of one CPU core or less, copies included. Its first use costs a process a second, the very first three more."""

NEARLY_FULL = 4
"""Pairs of a sparse problem's matrix, for each edge, up to which `solve` makes the matrix: its bids and searches read
four columns in the time that a graph's take for an edge."""

MATRIX_PAIRS = 2**27
"""Pairs of such a matrix at most: 1 GiB."""

SMALL = 200
"""Rows up to which no solver takes long enough to be changed for another."""

FIRST_TRIED: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "jv": (("jv", {"most_scans": 80}), ("auction", {"max_bids": 200})),
    "hungarian-classical": (("hungarian-classical", {"most_updates": 150}), ("auction", {})),
    "auction of points on a GPU": (("auction", {"matrix": False}), ("hungarian-classical", {"most_updates": 150})),
}
"""Solvers that "auto" tries in place of one, with what each may spend, before that may take as long as it needs.

On a CPU: a scan of a search and half a bid take about the same time. Costs in general position need 1 to 50 scans a
row, where the auction takes 30 to 60 bids (n = 1,000 to 5,000); inner products or clouds apart 220 scans a row and
more, growing with n, where the auction takes the same 36 to 45; a line with noise thousands of bids, but 80 scans.

On a GPU: most costs need 5 to 110 changes of the duals (n = 5,000), those too that take the auction longest; inner
products, clouds apart, and Machol and Wien's costs one for two or four rows, or for each. Points whose neighbours say
little are given up by the auction in 0.02 to 0.3 s; of 20,000 in tight clusters the classical method then takes 0.9 s
for the matrix, the auction more than 20."""

WIDE_GATE = 100
"""Columns in a row's cube of pairs worth a link above which `solve` does not write those pairs out."""


def solve(
    problem: Any,
    solver: str | Solver = "auto",
    device: str | Sequence[str] = "auto",
    *,
    maximize: bool = False,
    **options: Any,
) -> Assignment:
    """Solve a matching problem to proven optimality.

    Parameters
    ----------
    problem : Problem, array_like or sparse matrix
        A `Problem`, a dense cost matrix (+inf = forbidden), a SciPy sparse matrix (absent = forbidden), a bipartite
        networkx graph (see `Problem.sparse`); or `ShardedCosts`, which are solved on the devices that they are on.
    solver : str or Solver
        A name (`auctrack.matching.SOLVERS`), an instance with its options (`JV()`), or "auto" (see Notes).
    device : str, or sequence of "cuda:N"
        "cpu", "cuda", "cuda:N", or "auto": the first CUDA device where one is present and the solver takes the problem
        there, else the CPU. Several devices share one dense problem (`hungarian-classical` by rows, `hungarian-tree` by
        columns). `Assignment.device` says which it was.
    maximize : bool
        Find the greatest sum of the links, less the unmatched cost, in place of the least; -inf then forbids a pair
        of a plain matrix. `Assignment.maximize` says so, and `verify` knows it. Not for point sets and `ShardedCosts`.
    **options
        Options of the named solver.

    Returns
    -------
    Assignment
        With duals, gap, and under `stats["auto"]` the reason for an automatic choice.

    Raises
    ------
    InvalidProblem
        If the input or an option is malformed.
    Infeasible
        If a member of the shorter side cannot be matched and there is no `unmatched_cost`; names a Hall violator.
    DeviceUnavailable
        If the device that was asked for is not there, or the solver does not run on it.

    Notes
    -----
    The rule of "auto" on a CPU, as measured on one core against the other solver of each line:

    - costs of equal sides that sorting solves, as a convex function of the distance on a line is, as a matrix or as
      points: sorted, in the time that the proof takes (see `presolve.sorting`); `Assignment.solver` is then "sorting";
    - dense costs: `jv` (0.1-0.6 × SciPy's time from n = 500 at every dtype; costs in [0, n/10], n = 5,000: 0.3 × the
      time of `hungarian-classical`). Where its searches scan 80 rows a row of an equal-sided matrix, as between clouds
      apart or of inner products, `auction` takes over (n = 5,000: 5 s in place of more than 60), and hands back if it
      has spent 200 bids a row. Options of a solver are given to `jv` alone;
    - sparse costs with an `unmatched_cost`: `sparse-jv`; without one: `auction`, which does the same where the
      problem is easy and takes a fourth to a thirtieth of the time where it is not; but as a matrix where at least one
      pair in `NEARLY_FULL` is an edge (whole numbers as floats, all 2,000 × 2,000: 0.45 CPU-seconds in place of 3.9);
    - point sets without an `unmatched_cost`: `jv` up to `FEW_PAIRS` pairs, above that `auction`, which needs no matrix
      (n = 400: half the time, n = 4000: a tenth or less);
    - point sets with one: `sparse-jv` on the pairs worth a link (a third of the time of `auction` up to an
      `unmatched_cost` of the mean nearest-neighbour distance), but `auction` where there would be more than `WIDE_GATE`
      of them a row (from twice that distance on it is as fast or faster, and its memory does not grow with the gate).

    On a CUDA device, as measured on H200s:

    - a problem goes there if the device is asked for, or if its arrays lie there and device="cpu" is not asked for, or
      with device="auto" if there is a device and the problem has at least `GPU_PAYS` pairs;
    - dense costs: `hungarian-classical` (n = 20,000, beside the auction: [0, n] 14 and 26 ms, [0, 10n] 23 and 28,
      distances of points 9 and 18; 1000 problems of 500: 18 and 32 ms). Where it has changed the duals of an
      equal-sided matrix 150 times, as between clouds apart or of inner products, `auction` takes over. All else:
      `auction`; where the neighbours of points on equal sides say little, as in tight clusters, their matrix takes its
      place (up to 4 GiB), solved as above;
    - several devices: `hungarian-classical` (two, n = 20,000, [0, 10n]: 23 ms, where `hungarian-tree` takes 120).

    No prices are handed from an auction to a Hungarian method: with the time of the auction it never paid.

    Examples
    --------
    >>> from auctrack.matching import solve
    >>> solve([[4, 1, 3], [2, 0, 5], [3, 2, 2]]).cost
    5
    """
    if maximize:
        return _greatest(problem, solver, device, options)
    if isinstance(problem, ShardedCosts):
        return _solve_shards(problem, solver, device, options)
    problem = Problem.of(problem)
    device = _listed(device)
    if not isinstance(solver, str) or solver != "auto":
        return _solved(problem, _made(solver, options), device)
    answer, reason = _solved_by_choice(problem, device, options)
    return replace(answer, stats={**answer.stats, "auto": reason})


def _solved_by_choice(problem: Problem, device: str, options: dict[str, Any]) -> tuple[Assignment, str]:
    """Solve as "auto" does; return the answer and the reason for the way that was taken."""
    if device in ("auto", "cpu") and not problem.is_on_device and not options:
        answer = by_sorting(problem)
        if answer is not None:
            return answer, "neighbours in one order of each side tell that links need not cross"
    name, where, reason = _choose(problem, device)
    may_change = "," not in where and not options and _may_be_hard(problem)
    way = f"{name} of points on a GPU" if problem.kind == "points" and where.startswith("cuda") else name
    for stuck, limits in FIRST_TRIED.get(way, ()) if may_change else ():
        try:
            return _solved(problem, make_solver(stuck, **limits), where), reason
        except NotConverged:
            reason = f"{reason}; {stuck} was stuck, with {limits}"
    return _solved(problem, make_solver(name, **options), where), reason


def _may_be_hard(problem: Problem) -> bool:
    """Whether a problem can take one solver so much longer than another that it pays to change."""
    n, m = problem.shape
    return problem.n_blocks == 1 and n == m and n >= SMALL and not problem.has_unmatched_cost


def _greatest(problem: Any, solver: str | Solver, device: str | Sequence[str], options: dict[str, Any]) -> Assignment:
    """Solve for the greatest sum: the least one of the costs' opposites."""
    if isinstance(problem, ShardedCosts):
        raise InvalidProblem(
            "maximize needs dense or sparse costs in one place; turn the sign of each shard instead.",
            argument="maximize",
        )
    try:
        return solve(Problem.of_values(problem), solver, device, **options).negated()
    except NotConverged as error:
        if error.assignment is not None:
            error.assignment = error.assignment.negated()
        raise


def _made(solver: Any, options: dict[str, Any]) -> Solver:
    """Return a solver by its name and options, or the one that was given."""
    if isinstance(solver, str):
        return make_solver(solver, **options)
    if isinstance(solver, type) or not hasattr(solver, "solve"):
        raise InvalidProblem(
            f"solver needs a name, or an instance such as JV(); got a {type(solver).__name__}. Two point sets are "
            "stated by Problem.points(x, y).",
            argument="solver",
        )
    if options:
        raise InvalidProblem(
            f"options {sorted(options)} go into the solver instance, not beside it.", argument="options"
        )
    return solver


def _solved(problem: Problem, solver: Solver, device: str) -> Assignment:
    """Solve where the solver runs, and hand the arrays back where the problem's are."""
    device = device_for(solver, problem, device)
    if device == "cpu" and problem.is_on_device:
        with cuda.device_of(problem.data):
            return _solved(problem.on_host(), solver, device).on_device()
    return at_lower_prices(problem, lambda stated: solver.solve(stated, device))


def _solve_shards(costs: Any, solver: str | Solver, device: str | Sequence[str], options: dict[str, Any]) -> Assignment:
    """Solve `ShardedCosts` where they are; "auto" is the solver that splits what they split."""
    if isinstance(solver, str) and solver == "auto":
        solver = "hungarian-classical" if costs.axis == 0 else "hungarian-tree"
    chosen = _made(solver, options)
    _refuse_several(chosen, ",".join(costs.devices))
    return chosen.solve(costs, costs.checked_devices(_listed(device)))


def _choose(problem: Problem, device: str) -> tuple[str, str, str]:
    """Return the solver that "auto" stands for, the device, and why."""
    if "," in device:
        return "hungarian-classical", device, "several CUDA devices were asked for"
    if device.startswith("cuda"):
        return _best_on_gpu(problem), device, "a CUDA device was asked for"
    if problem.is_on_device and device != "cpu":
        return _best_on_gpu(problem), device, "arrays on a CUDA device"
    if device == "auto" and problem.n_edges >= GPU_PAYS[problem.kind] and cuda.is_available():
        return _best_on_gpu(problem), "cuda", f"a CUDA device is there, and {problem.n_edges} pairs gain by it"
    if device == "auto":
        device = "cpu"
    name, reason = _choose_on_cpu(problem.on_host() if problem.is_on_device else problem)
    return name, device, reason


def _best_on_gpu(problem: Problem) -> str:
    """Return the solver that "auto" stands for on a CUDA device."""
    classical = make_solver("hungarian-classical")
    return classical.name if problem.kind == "dense" and "cuda" in devices_for(classical, problem) else "auction"


def _choose_on_cpu(problem: Problem) -> tuple[str, str]:
    """Return the solver that "auto" stands for on the CPU, and why."""
    if problem.kind == "dense":
        return "jv", "dense costs"
    if problem.kind == "sparse":
        if problem.has_unmatched_cost:
            return "sparse-jv", "sparse costs, unmatched_cost"
        if _is_nearly_full(problem):
            return "jv", "sparse costs that fill a good part of their matrix"
        return "auction", "sparse costs without unmatched_cost"
    if problem.has_unmatched_cost:
        if _gate_width(problem) > WIDE_GATE:
            return "auction", f"point sets with more than about {WIDE_GATE} pairs a row worth a link"
        return "sparse-jv", "point sets whose links are bounded by unmatched_cost"
    pairs = int((np.diff(problem.row_offsets) * np.diff(problem.col_offsets)).max(initial=0))
    if pairs <= FEW_PAIRS:
        return "jv", f"point sets of at most {FEW_PAIRS} pairs"
    return "auction", f"point sets of more than {FEW_PAIRS} pairs"


def _is_nearly_full(problem: Problem) -> bool:
    """Whether a sparse problem's matrix is read sooner than its edges are searched, and no burden on memory."""
    pairs = int((problem.n_rows_of_block * problem.n_cols_of_block).sum())
    return FEW_PAIRS < pairs <= min(NEARLY_FULL * problem.n_edges, MATRIX_PAIRS)


def _gate_width(problem: Problem) -> float:
    """Return how many columns a cube around a row holds on average, if they were spread evenly over the bounding box.

    The cube is the one around all that is worth a link; the largest value of all blocks.
    """
    return max((_gate_width_of_block(block) for block in problem.blocks()), default=0.0)


def _gate_width_of_block(block: Problem) -> float:
    if not block.n_rows or not block.n_cols:
        return 0.0
    assert block.y is not None
    cube = 2 * gate_radius(block)
    extent = np.maximum(np.ptp(block.y, axis=0), cube)
    return float(block.n_cols * np.divide(cube, extent, out=np.ones_like(extent), where=extent > 0).prod())


def _listed(devices: Any) -> str:
    """Return one device, or several as solvers take them, "cuda:0,cuda:1"."""
    if isinstance(devices, str) and devices in ("auto", "cpu"):
        return devices
    names = devices.split(",") if isinstance(devices, str) else devices
    if not isinstance(names, Sequence) or not names or not all(map(cuda.is_device_name, names)):
        raise InvalidProblem(
            f"device needs 'auto', 'cpu', 'cuda', 'cuda:N', or a list of 'cuda:N'; got {devices!r}.", argument="device"
        )
    return ",".join(names)


def device_for(solver: Solver, problem: Problem, device: str) -> str:
    """Return "cpu", "cuda:N", or several of those joined by commas, or raise: an explicit choice never falls back."""
    if "," in device:
        _refuse_several(solver, device)
        return device
    kind = device.partition(":")[0]
    if kind == "auto":
        return "cuda" if cuda.is_available() and "cuda" in devices_for(solver, problem) else "cpu"
    if kind not in solver.devices:
        raise DeviceUnavailable(
            f"solver {solver.name!r} runs on {' and '.join(solver.devices)}; got device={device!r}. "
            "Choose another solver or device='auto'."
        )
    return device


def _refuse_several(solver: Solver, devices: str) -> None:
    if "several cuda" not in solver.devices:
        raise DeviceUnavailable(
            f"solver {solver.name!r} runs on one device at a time; got device={devices.split(',')}. Name one, or use "
            "solver='hungarian-tree' or 'hungarian-classical'."
        )
