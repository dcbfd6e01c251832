"""One call for every matching problem: pick a solver and a device, solve, return the certified assignment."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import partial
from time import perf_counter
from typing import Any, cast

import numpy as np

from .certificate.assignment import Assignment
from .certificate.certify import matched_costs
from .certificate.matched import Matched
from .certificate.not_converged import NotConverged
from .certificate.refine import refined
from .choice import (
    FEW_SCANS,
    FEW_UPDATES,
    FIRST_TRIED,
    SMALL,
    Choice,
    choose,
    go_at_once,
    hard_ones_apart,
    hardly_large_blocks,
    large_blocks,
)
from .device import cuda
from .errors import DeviceMemoryExceeded, DeviceUnavailable, InvalidProblem
from .presolve.beyond_reach import without_unreachable
from .presolve.bilinear import by_points
from .presolve.far_above import far_above_blocks, solve_beside_far_points, solved_above_least
from .presolve.few_cheap_pairs import by_cheap_pairs
from .presolve.forced_pairs import by_forced_pairs
from .presolve.groups import by_shape, from_shorter_side, large_ones_apart, solve_apart, solve_in_groups
from .presolve.high_unmatched_costs import at_lower_unmatched_costs
from .presolve.idle_unmatched_costs import without_idle_unmatched_costs
from .presolve.sharded import ShardedCosts
from .presolve.sorting import by_sorting, calls_for_sorting
from .presolve.superposed import solve_superposed
from .problem import Problem
from .solvers import Solver, devices_for, groups_for, make_solver

_BY_SORTING = "the cheapest pairs do not cross, so sorting both sides gives the optimum"


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
        "cpu", "cuda", "cuda:N", or "auto": the first CUDA device where one is present, the solver takes the problem
        there and its memory suffices, else the CPU. Several devices share the rows of one dense problem
        (`hungarian-classical`). `Assignment.device` says which it was.
    maximize : bool
        Find the greatest sum of the matched edges, less the unmatched cost, in place of the least; -inf then forbids a
        pair of a plain matrix. `Assignment.maximize` says so, and `verify` knows it. Not for point sets and
        `ShardedCosts`.
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
        If the device that was asked for is not there, or the solver does not run on it, or (`DeviceMemoryExceeded`) its
        memory does not suffice.

    Notes
    -----
    The rule of "auto", with the figures behind it, is data: `matching.choice`. In short:

    - costs that sorting solves, as a convex function of the distance on a line is, as a matrix or as points, of sides
      one of which is at most half as long again as the other: sorted, in about the time that the proof takes (see
      `presolve.sorting`); `Assignment.solver` is then "sorting", and `device` "cpu", where it is done whatever device
      was asked for (a matrix on a GPU is fetched for it where the order of some rows and columns calls for it, and the
      GPU does not solve it soon);
    - on a CPU, sparse costs of equal sides that must be matched whole: pairs that every matching holds are taken first
      where they are half of the rows or more (see `presolve.forced_pairs`); `Assignment.solver` is "forced pairs" where
      they are all;
    - on a CPU, matrices of which all but a sixteenth of the pairs, or less, cost the same, and none more, as ones among
      which are few zeros, or a sentinel: as a graph of the cheaper pairs (see `presolve.few_cheap_pairs`);
    - on a CPU, matrices of squared distances or inner products of up to three axes, from 1,000 rows on: `auction`, on
      the points that are read from them, where nearest neighbours decide (see `presolve.bilinear`);
    - on a CPU, dense costs: `jv`; sparse costs and point sets: `jv`, on their graph, where an `unmatched_cost` leaves
      few pairs worth matching, and on their matrix where it is small or nearly full; `auction` elsewhere;
    - on a CUDA device, dense costs: `hungarian-classical`; many matrices of up to 150 rows and columns, and sparse
      costs without `unmatched_cost`: `hungarian-tree`; all else: `auction`. A problem goes there if the device is asked
      for, or if its arrays lie there and device="cpu" is not asked for, or with device="auto" if there is a device and
      the problem has enough pairs to gain by it. Several devices: `hungarian-classical`;
    - point sets of equal sides under squared distances are laid over each other first where their distributions differ
      (see `presolve.superposed`), whatever solver is named;
    - a single problem of equal sides, or a matrix on a GPU of which less than 1 % must stay unassigned, changes to
      another solver where the first one's own counts say that it takes too long, unless options are given; more than
      23,000 points that the auction of a GPU gives up are then solved on the CPU, whatever device was asked for;
    - matrices of 500 rows and columns or more (on a CPU of 200, where one of the batch turns out to be hard), and point
      sets of 1,000 without `unmatched_cost`, are solved as each would be alone where they are blocks of a batch; on a
      GPU up to 8 from 1,000 on, any number that look as if sorting solves them, or are too large to be solved at once,
      and few that take long at once.

    Examples
    --------
    >>> from auctrack.matching import solve
    >>> solve([[4, 1, 3], [2, 0, 5], [3, 2, 2]]).cost
    5
    """
    is_truth = isinstance(maximize, (int, np.integer, np.bool_))  # pyright: ignore[reportUnnecessaryIsInstance]
    if not is_truth or maximize not in (0, 1):  # 1 for True, as SciPy takes it
        raise InvalidProblem(f"maximize needs True or False; got a {type(maximize).__name__}.", argument="maximize")
    if maximize:
        return _greatest(problem, solver, device, options)
    if isinstance(problem, ShardedCosts):
        return _solve_shards(problem, solver, device, options)
    problem = Problem.of(problem)
    device = _listed(device)
    solve_on: Callable[..., Assignment]
    if isinstance(solver, str) and solver == "auto":
        solve_on = partial(_solved_by_choice, options=options)
    else:
        solve_on = partial(_solved, solver=_made(solver, options))
    return _without_needless_unmatched_costs(problem, lambda stated: _where_it_fits(stated, device, solve_on))


def _where_it_fits(problem: Problem, device: str, solve_on: Callable[..., Assignment]) -> Assignment:
    """Solve on the device; what "auto" sent to a GPU whose memory does not suffice, on the CPU."""
    try:
        return solve_on(problem, device=device)
    except DeviceMemoryExceeded:
        if device != "auto" or problem.is_on_device:
            raise
        answer = solve_on(problem, device="cpu")
        return answer.with_stats(auto=f"the memory of the GPU did not suffice; {answer.stats.get('auto', 'the CPU')}")


def _without_needless_unmatched_costs(problem: Problem, solve_stated: Callable[[Problem], Assignment]) -> Assignment:
    """Solve without the unmatched costs that do not matter, or would not but for rows and columns beyond reach."""
    if not problem.has_unmatched_cost:
        return solve_stated(problem)
    return without_idle_unmatched_costs(problem, lambda stated: without_unreachable(stated, solve_stated))


def _solved_by_choice(problem: Problem, device: str, options: dict[str, Any]) -> Assignment:
    """Solve as "auto" does, and record why that solver was chosen."""
    if options or (problem.n_blocks == 1 and min(problem.shape) < SMALL):
        choice = choose(problem, device)
        return _solved(problem, make_solver(choice.solver, **options), choice.device).with_stats(auto=choice.reason)
    answer = _sorted(problem, device)
    return _solved_as_chosen(problem, choose(problem, device)) if answer is None else answer


def _solved_as_chosen(problem: Problem, choice: Choice) -> Assignment:
    """Solve apart what is sooner solved so, else by what is tried before the chosen solver, else by that."""
    if problem.n_blocks > 1:
        if large_blocks(problem, choice.device).any():
            return _solved_apart(problem, choice)
        if choice.device == "cpu" and hardly_large_blocks(problem).any():
            return _solved_soon_or_apart(problem, choice)
    if choice.device == "cpu" and not problem.is_on_device:
        by_same = partial(_solved_by_choice, device="cpu", options={})
        answer = by_cheap_pairs(problem, partial(_without_needless_unmatched_costs, solve_stated=by_same))
        if answer is not None:
            return answer.with_stats(auto="all but few pairs cost the same, and none more: a graph of the cheaper ones")
        answer = by_forced_pairs(problem, by_same)
        if answer is not None:
            return answer.with_stats(auto="most rows or columns have one partner that is left to them")
        answer = by_points(problem, _solved_soon)
        if answer is not None:
            return answer.with_stats(auto="the costs hold the squared distances or inner products of points")
    if go_at_once(problem, choice):
        return _solved_at_once(problem, choice)
    answer = _soon_or_sorted(problem, choice)
    return _solved_in_turns(problem, choice) if answer is None else answer


def _solved_in_turns(problem: Problem, choice: Choice) -> Assignment:
    """Solve by what is tried before the chosen solver, within limits, and at last by that."""
    reason = choice.reason
    first = waiting = choice.first_tried(problem)
    while waiting:
        (tried, limits), *waiting = waiting
        try:
            return _solved(problem, make_solver(tried, **limits), choice.device).with_stats(auto=reason)
        except NotConverged as error:
            reason = f"{reason}; {tried} was given up, with {limits}"
            waiting = waiting[-1:] if error.is_far else waiting
        except DeviceMemoryExceeded:
            reason = f"{reason}; the matrix of {tried} did not fit the device"
    return _solved(problem, make_solver(choice.solver), choice.last_device(problem, first)).with_stats(auto=reason)


def _solved_apart(problem: Problem, choice: Choice) -> Assignment:
    """Solve each large block of a batch as it is alone, on the device that all are worth, and the others together."""
    groups, alone = large_ones_apart(large_blocks(problem, choice.device)), partial(_solved_alone, choice=choice)
    with cuda.device_of(problem.data):
        return solve_apart(problem, groups, alone, threads=choice.device == "cpu" and not problem.is_on_device)


def _solved_soon_or_apart(problem: Problem, choice: Choice) -> Assignment:
    """Solve matrices of a batch together on a CPU, or, where one is hard, those that may be as each is alone."""
    (first, limits), *_ = FIRST_TRIED["jv"](SMALL)
    try:
        return _solved(problem, make_solver(first, **limits), choice.device).with_stats(auto=choice.reason)
    except NotConverged:
        groups, alone = large_ones_apart(hardly_large_blocks(problem)), partial(_solved_alone, choice=choice)
        return solve_apart(problem, groups, alone, threads=True)


def _solved_alone(problem: Problem, choice: Choice) -> Assignment:
    """Solve a part of a batch as if there were no other, on the device that all are worth."""
    by_choice = partial(_solved_by_choice, device=choice.device, options={})
    return _without_needless_unmatched_costs(problem, by_choice)


def _solved_at_once(problem: Problem, choice: Choice) -> Assignment:
    """Solve the matrices of each shape at once on a GPU, but for those that take long so and not by themselves."""
    with _current(problem, choice.device):
        groups = groups_for(make_solver(choice.solver), problem, choice.device)
        return solve_apart(problem, groups, partial(_solved_of_one_shape, choice=choice))


def _solved_of_one_shape(problem: Problem, choice: Choice) -> Assignment:
    limits = choice.limits_at_once(problem)
    if limits is None:
        return _solved_to_the_end(problem, choice)
    try:
        return _solved(problem, make_solver(choice.solver, **limits), choice.device).with_stats(auto=choice.reason)
    except NotConverged as error:
        groups = hard_ones_apart(problem, error.blocks)
    return solve_apart(problem, groups, partial(_solved_to_the_end, choice=choice))


def _solved_to_the_end(problem: Problem, choice: Choice) -> Assignment:
    if problem.n_blocks > 1:
        return _solved(problem, make_solver(choice.solver), choice.device).with_stats(auto=choice.reason)
    answer = _sorted_on_host(problem) if calls_for_sorting(problem) else None
    return _solved_alone(problem, choice) if answer is None else answer


def _solved_soon(problem: Problem) -> Assignment:
    """Solve points over their neighbours alone, or a matrix by few searches; else raise `NotConverged`."""
    is_matrix = problem.kind == "dense"
    solver = make_solver("jv", most_scans=FEW_SCANS) if is_matrix else make_solver("auction", matrix=False)
    return _solved(problem, solver, "cpu")


def _soon_or_sorted(problem: Problem, choice: Choice) -> Assignment | None:
    """Return the optimum of a matrix on a GPU that calls for sorting, which the host does where the GPU takes long."""
    if not problem.is_on_device or "," in choice.device or not choice.device.startswith("cuda"):
        return None
    with cuda.device_of(problem.data):
        if not calls_for_sorting(problem):
            return None
        try:
            soon = make_solver("hungarian-classical", most_updates=FEW_UPDATES)
            return _solved(problem, soon, choice.device).with_stats(auto=choice.reason)
        except NotConverged:
            return _sorted_on_host(problem)


def _sorted_on_host(problem: Problem) -> Assignment | None:
    """Return the optimum, where the problem lies, if sorting finds it."""
    answer = by_sorting(problem.on_host())
    if answer is None:
        return None
    return (answer.on_device() if problem.is_on_device else answer).with_stats(auto=_BY_SORTING)


def _sorted(problem: Problem, device: str) -> Assignment | None:
    """Return the optimum where sorting finds it, on the host: no matrix is copied from a GPU to look for an order."""
    is_on_device = problem.is_on_device
    if "," in device or (is_on_device and problem.kind != "points"):
        return None
    if is_on_device:
        with cuda.device_of(problem.data):
            return _sorted_on_host(problem)
    if device in ("auto", "cpu"):
        return _sorted_on_host(problem)
    with cuda.using(device):  # a device that is not there is refused all the same
        return _sorted_on_host(problem)


def _greatest(problem: Any, solver: str | Solver, device: str | Sequence[str], options: dict[str, Any]) -> Assignment:
    """Solve for the greatest sum: the least one of the costs' opposites."""
    if isinstance(problem, ShardedCosts):
        raise InvalidProblem(
            "maximize needs dense or sparse costs in one place; negate each shard instead.",
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
    if isinstance(solver, type) or not hasattr(solver, "match"):
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
    """Presolve, match group by group from the shorter side, certify, refine; the answer lies where the problem does."""
    device = device_for(solver, problem, device)
    if device == "cpu" and problem.is_on_device:
        with cuda.device_of(problem.data):
            return _solved(problem.on_host(), solver, device).on_device()
    if device == "cpu":
        return _solved_on(problem, solver, device)
    with _current(problem, device) as where:
        return _solved_on(problem, solver, where)


def _solved_on(problem: Problem, solver: Solver, device: str) -> Assignment:
    def prove(part: Any) -> Assignment:
        return _proven(part, solver, device)

    def in_groups(stated: Problem) -> Assignment:
        if stated.n_blocks > 1:
            return solve_in_groups(stated, groups_for(solver, stated, device), prove)
        if stated.kind != "points":
            return from_shorter_side(stated, prove)
        alike = partial(solve_superposed, solve=partial(from_shorter_side, solve=prove))
        return solve_beside_far_points(stated, alike)

    return at_lower_unmatched_costs(problem, in_groups)


def _proven(problem: Any, solver: Solver, device: str) -> Assignment:
    """Match blocks whose rows are the shorter side, and prove the answer as far as rounding lets."""
    began = perf_counter()
    found = solver.match(problem, device)
    by_same = partial(_proven, solver=solver, device=device)
    if device == "cpu" and isinstance(found, Matched) and _is_in_doubt(found):
        costs = matched_costs(problem, found.col_of_row) if found.costs is None else found.costs
        found = found._replace(costs=costs)
        answer = _solved_above_far_costs(problem, far_above_blocks(problem, costs), by_same)
        if answer is not None and answer.is_optimal:
            return answer
    matched = perf_counter()
    stats = {**found.stats, "solve_s": 0.0}
    answer = found.certified(problem, solver=solver.name, device=device, stats=stats)
    answer = answer.on_device() if problem.is_on_device else answer.on_host()
    ended = perf_counter()
    stats["certificate_s"] = stats.get("certificate_s", 0.0) + ended - matched
    stats["solve_s"] = ended - began
    if found.unfinished and not answer.is_optimal:
        raise NotConverged(found.unfinished, assignment=answer)
    if not found.is_refinable or answer.is_optimal:
        return answer
    if problem.kind == "dense" and problem.n_blocks == 1:
        answer = solved_above_least(problem, by_same) or answer
    is_matrix_of_points = problem.kind == "points" and found.form.kind == "dense"  # as large as it is, never fetched
    return refined(problem if is_matrix_of_points else found.form, answer)


def _is_in_doubt(found: Matched) -> bool:
    """Whether what a method noted does not prove what it found, but refining may."""
    return found.is_refinable and not found.unfinished and not (found.terms and found.terms.sums.proves)


def _solved_above_far_costs(
    problem: Problem, far: np.ndarray, solve_same: Callable[[Problem], Assignment]
) -> Assignment | None:
    """Solve matrices that pay far above most costs above their least: a proof as stated takes long, in vain."""
    if not far.any():
        return None
    shapes = by_shape(problem)
    if far.all() and len(shapes) == 1:
        return solved_above_least(problem, solve_same)
    groups = [np.flatnonzero(~far), *(blocks[far[blocks]] for blocks in shapes)]
    return solve_apart(problem, [group for group in groups if len(group)], solve_same, threads=True)


@contextmanager
def _current(problem: Problem, device: str) -> Generator[str]:
    """Make a CUDA device current, unless there are several; yield its number. Arrays are never moved unasked."""
    if "," in device:
        yield ",".join(f"cuda:{number}" for number in cuda.numbers_of(device.split(",")))
        return
    held = f"cuda:{cast('Any', problem.data).device.id}" if problem.is_on_device else device
    if device not in ("cuda", held):
        raise DeviceUnavailable(
            f"device={device!r}: the problem's arrays are on {held}; move them, or use device='cuda'"
        )
    with cuda.using(held) as cp:
        yield f"cuda:{cp.cuda.Device().id}"


def _solve_shards(costs: Any, solver: str | Solver, device: str | Sequence[str], options: dict[str, Any]) -> Assignment:
    """Solve `ShardedCosts` where they are."""
    chosen = _made("hungarian-classical" if isinstance(solver, str) and solver == "auto" else solver, options)
    _refuse_several(chosen, ",".join(costs.devices), devices_for(chosen, costs))
    return _proven(costs, chosen, costs.checked_devices(_listed(device)))


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
    taken = devices_for(solver, problem)
    if "," in device:
        _refuse_several(solver, device, taken)
        return device
    kind = device.partition(":")[0]
    if kind == "auto":
        return "cuda" if cuda.is_available() and "cuda" in taken else "cpu"
    if kind not in solver.devices or (kind == "cuda" and taken == ("cpu",)):
        raise DeviceUnavailable(
            f"device={device!r}: solver {solver.name!r}, with these options, takes this problem on "
            f"{' and '.join(taken)} only. Choose another solver or device='auto'."
        )
    return device


def _refuse_several(solver: Solver, devices: str, taken: tuple[str, ...]) -> None:
    if "several cuda" not in taken:
        raise DeviceUnavailable(
            f"device={devices!r}: solver {solver.name!r}, with these options, runs on one device at a time. Name one, "
            "or use solver='hungarian-classical'."
        )
