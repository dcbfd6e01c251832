"""Named hard cases of the assignment problem, and the one check that every solver must pass on each of them.

A new solver runs through all of them with three lines, from any test module below `tests/matching`. pytest's importlib
mode names those modules `tests.matching.…`, so the relative import works from a clean clone with no path set:

    from .cases import CASES, assert_solves        # `from ..cases` one folder further down

    @pytest.mark.parametrize("case", CASES, ids=str)
    def test_solves(case):
        assert_solves(case, "my-solver")

The optimum that a case states never comes from the code under test: SciPy's `linear_sum_assignment` finds it, with an
unmatched cost on the (n + m) × (n + m) matrix whose dummy rows and columns mean "unassigned"; where integers are beyond
the 2**53 up to which SciPy is right, all matchings are tried.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from auctrack.matching import JV, SOLVERS, Infeasible, Problem, solve, verify
from auctrack.matching.solvers import make_solver

JV_FORMS = JV(form="dense"), JV(form="sparse")
ON_CPU = (*(name for name in SOLVERS if name != "jv" and "cpu" in make_solver(name).devices), *JV_FORMS)
"""Every solver that runs on a CPU, in each of its forms: names, or instances."""


@dataclass(frozen=True)
class Case:
    """A problem, and what its answer must cost.

    `optimum` holds one cost a block, or is None where there is no assignment. `allowed` says of each pair of a single
    problem whether it may be matched, bool (rows, columns).
    """

    name: str
    problem: Problem
    optimum: tuple[float, ...] | None
    allowed: np.ndarray | None = None

    def __str__(self) -> str:
        return self.name


def assert_solves(case: Case, solver: Any, device: str = "cpu", **options: Any) -> None:
    """Solve the case; hold its cost to the optimum and its duals to `verify`, or its refusal to Hall's condition."""
    if case.optimum is None:
        with pytest.raises(Infeasible) as caught:
            solve(case.problem, solver, device, **options)
        if case.allowed is not None:
            assert_violates_hall(caught.value, case.allowed)
        return
    answer = solve(case.problem, solver, device, **options)
    certificate = verify(case.problem, answer)
    assert certificate.faults == ()
    assert certificate.is_optimal
    assert answer.is_optimal
    costs = np.atleast_1d(answer.cost)
    assert costs.shape == (case.problem.n_blocks,)
    if case.problem.is_integer:
        assert costs.tolist() == list(case.optimum)
        assert not np.any(answer.gap)
        assert answer.row_duals.dtype == answer.col_duals.dtype == np.int64
    else:
        np.testing.assert_allclose(costs, case.optimum, rtol=1e-12, atol=1e-12 * _largest_term(case.problem))


def assert_violates_hall(error: Infeasible, allowed: np.ndarray) -> None:
    """Check from the pairs alone that the members which the error names reach only partners that are fewer."""
    members, partners = (error.rows, error.columns) if error.side == "rows" else (error.columns, error.rows)
    pairs = allowed if error.side == "rows" else allowed.T
    assert allowed.shape[0] <= allowed.shape[1] or error.side == "columns"
    assert len(set(members)) == len(members) > len(partners)
    assert set(np.flatnonzero(pairs[list(members)].any(axis=0)).tolist()) <= set(partners)


def optimum_of(cost: np.ndarray, row_unmatched: Any = None, col_unmatched: Any = None) -> float | None:
    """Return the least cost of a matrix (n, m) with +inf for forbidden pairs, or None where there is no assignment.

    Without unmatched costs the whole shorter side is matched; with them, dummies let every member stay unassigned.
    """
    n, m = cost.shape
    if row_unmatched is not None:
        enlarged = np.full((n + m, n + m), np.inf, dtype=cost.dtype)
        enlarged[:n, :m] = cost
        enlarged[np.arange(n), m + np.arange(n)] = np.broadcast_to(row_unmatched, n)
        enlarged[n + np.arange(m), np.arange(m)] = np.broadcast_to(col_unmatched, m)
        enlarged[n:, m:] = 0
        cost = enlarged
    finite = cost[cost < np.inf]
    if cost.dtype == object and max(map(abs, finite), default=0) > 2**53:
        return _least_by_trying(cost)
    real = cost.astype(np.float64)
    try:
        rows, cols = linear_sum_assignment(real)
    except ValueError:
        return None
    return sum(cost[rows, cols].tolist())


def _least_by_trying(cost: np.ndarray) -> float | None:
    """Try all assignments of a small matrix of Python integers and inf."""
    short = cost if cost.shape[0] <= cost.shape[1] else cost.T
    rows = range(short.shape[0])
    sums = [
        sum(short[i, j] for i, j in zip(rows, chosen, strict=True))
        for chosen in permutations(range(short.shape[1]), len(rows))
        if all(short[i, j] < np.inf for i, j in zip(rows, chosen, strict=True))
    ]
    return min(sums, default=None)


def _largest_term(problem: Problem) -> float:
    unmatched = [p for p in (problem.row_unmatched, problem.col_unmatched) if p is not None]
    finite = [abs(values[np.isfinite(values)]).max(initial=1e-300) for values in (problem.data, *unmatched)]
    return float(max(finite))


# -------------------------------------------------------------------- stating cases


def dense_case(name: str, cost: Any, *, unmatched_cost: Any = None, forbidden: Any = None) -> Case:
    """State a case by its cost matrix."""
    cost = np.asarray(cost)
    problem = Problem.dense(cost, unmatched_cost=unmatched_cost, forbidden=forbidden)
    return Case(name, problem, *_answer(cost, unmatched_cost, forbidden))


def sparse_case(name: str, cost: Any, *, unmatched_cost: Any = None, forbidden: Any = None) -> Case:
    """State a case by the edges of its cost matrix; zeros are stored."""
    cost = np.asarray(cost)
    allowed = _allowed(cost, forbidden)
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(allowed, axis=1))])
    graph = (indptr, np.nonzero(allowed)[1], cost[allowed])
    problem = Problem.sparse(graph, shape=cost.shape, unmatched_cost=unmatched_cost)
    return Case(name, problem, *_answer(cost, unmatched_cost, forbidden))


def points_case(name: str, x: Any, y: Any, *, unmatched_cost: Any = None, metric: Any = "distance") -> Case:
    """State a case by two point sets."""
    problem = Problem.points(x, y, unmatched_cost=unmatched_cost, metric=metric)
    cost = cdist(x, y, "euclidean" if metric == "distance" else "sqeuclidean")
    return Case(name, problem, *_answer(cost, unmatched_cost, None))


def nearly_tied(seed: int, n: int, axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return point sets on a lattice of few places, moved off it by about what rounding leaves of their distances.

    (n, axes) and (n + seed % 3, axes). Of such sets the optimum in floats is often not the cheapest to the last digit.
    """
    rng = np.random.default_rng(seed)
    x, y = (
        rng.integers(0, 5, (size, axes)) * 0.1 + 10.0 ** rng.integers(-17, -8) * rng.normal(size=(size, axes))
        for size in (n, n + seed % 3)
    )
    return x, y


def batch_case(name: str, cases: Sequence[Case]) -> Case:
    """Lay cases that can be solved side by side."""
    optima = [case.optimum for case in cases]
    together = None if None in optima else tuple(cost for optimum in optima if optimum for cost in optimum)
    return Case(name, Problem.batch([case.problem for case in cases]), together)


def _allowed(cost: np.ndarray, forbidden: Any) -> np.ndarray:
    allowed = cost < np.inf
    return allowed if forbidden is None else allowed & ~np.asarray(forbidden)


def _answer(cost: np.ndarray, unmatched_cost: Any, forbidden: Any) -> tuple[tuple[float, ...] | None, np.ndarray]:
    allowed = _allowed(cost, forbidden)
    exact = cost.astype(object) if cost.dtype.kind in "iu" else cost.astype(np.float64)
    exact[~allowed] = np.inf
    sides = unmatched_cost if isinstance(unmatched_cost, tuple) else (unmatched_cost, unmatched_cost)
    optimum = optimum_of(exact, *sides)
    return None if optimum is None else (optimum,), allowed


def _both(name: str, cost: Any, **options: Any) -> list[Case]:
    return [case(f"{name}-{form}", cost, **options) for form, case in (("dense", dense_case), ("sparse", sparse_case))]


# -------------------------------------------------------------------- the cases


def _small() -> list[Case]:
    cases: list[Case] = []
    for u in (None, 3, 2.5):
        for shape in ((0, 0), (0, 3), (3, 0)):
            cases += _both(f"empty-{shape[0]}x{shape[1]}-u{u}", np.zeros(shape, int), unmatched_cost=u)
        cases += _both(f"one-pair-u{u}", [[4]], unmatched_cost=u)
    cases += _both("one-pair-as-dear-as-two-unassigned", [[4]], unmatched_cost=2)
    cases += _both("one-pair-dearer-than-two-unassigned", [[5]], unmatched_cost=2)
    cases += _both("one-row", [[3.0, 1.5, 2.0]])
    cases += _both("one-column", [[3.0], [1.5], [2.0]])
    return cases


def _shapes_and_values() -> list[Case]:
    rng = np.random.default_rng(1)
    cases: list[Case] = []
    for n, m in ((12, 12), (9, 14), (14, 9), (1, 20), (20, 1)):
        shape = f"{n}x{m}"
        cases += _both(f"ties-{shape}", rng.integers(0, 3, (n, m)))
        cases += _both(f"integers-{shape}", rng.integers(0, 1000, (n, m)))
        cases += _both(f"uniform-{shape}", rng.random((n, m)))
        cases += _both(f"negative-{shape}", rng.integers(-50, -10, (n, m)))
        cases += _both(f"both-signs-{shape}", rng.normal(size=(n, m)))
        cases += _both(f"offset-1e6-{shape}", 1e6 + rng.random((n, m)))
        cases += _both(f"powers-of-ten-{shape}", 10.0 ** rng.integers(-6, 9, (n, m)) * rng.random((n, m)))
        cases += _both(f"2**40-{shape}", rng.integers(2**40 - 10**6, 2**40, (n, m)))
        cases += _both(f"float32-{shape}", rng.random((n, m), dtype=np.float32))
        for dtype in (int, float):
            cases += _both(f"constant-{dtype.__name__}-{shape}", np.full((n, m), 5, dtype))
            cases += _both(f"zero-{dtype.__name__}-{shape}", np.zeros((n, m), dtype))
    cases += _both("machol-wien", np.outer(np.arange(1, 31), np.arange(1, 31)))
    cases += _both("tiny-floats", 1e-250 * rng.random((10, 10)))
    cases += _both("large-floats", 1e250 * rng.random((10, 10)))
    cases += _both("two-scales-of-rows", rng.random((12, 12)) * np.where(np.arange(12) % 2, 1e9, 1e-3)[:, None])
    for shape in ((3, 3), (3, 5), (5, 3)):
        limit = 2**62 // (2 * min(shape) + 4)
        cost = rng.choice([-limit, limit, limit - 1, 1 - limit, 0], shape)
        cases += _both(f"integers-at-the-limit-{shape[0]}x{shape[1]}", cost)
    return cases


def _gated() -> list[Case]:
    rng = np.random.default_rng(2)
    cases: list[Case] = []
    for n, m in ((15, 15), (10, 16), (16, 10)):
        forbidden = rng.random((n, m)) < 0.7
        forbidden[np.arange(min(n, m)), np.arange(min(n, m))] = False
        gated = np.where(forbidden, np.inf, rng.random((n, m)))
        cases += _both(f"inf-gated-{n}x{m}", gated)
        cases += _both(f"inf-gated-u-{n}x{m}", gated, unmatched_cost=0.3)
        integers = rng.integers(-9, 9, (n, m))
        cases += _both(f"masked-integers-{n}x{m}", integers, forbidden=forbidden)
        cases += _both(f"masked-integers-u-{n}x{m}", integers, forbidden=forbidden, unmatched_cost=2)
        cases.append(dense_case(f"inf-and-mask-{n}x{m}", np.where(rng.random((n, m)) < 0.1, np.inf, gated)))
    chain = np.full((60, 60), np.inf)
    chain[np.arange(60), np.arange(60)] = 0
    chain[np.arange(1, 60), np.arange(59)] = 1
    chain[0, 0], chain[0, 59] = 5, 1000
    cases += _both("one-path-through-all", np.roll(chain, 1, axis=1))
    cases += _both("standing-still", np.where(np.eye(8, dtype=bool), 0, rng.integers(0, 9, (8, 8))))
    only_zeros = np.where(np.eye(8, dtype=bool) | (rng.random((8, 8)) < 0.2), 0.0, np.inf)
    cases += _both("only-zero-cost-edges", only_zeros)
    return cases


def _with_unmatched_cost() -> list[Case]:
    rng = np.random.default_rng(3)
    cases: list[Case] = []
    for n, m in ((12, 12), (8, 14), (14, 8), (1, 9), (9, 1)):
        shape = f"{n}x{m}"
        integers, reals = rng.integers(0, 20, (n, m)), rng.random((n, m))
        cases += _both(f"u-integer-{shape}", integers, unmatched_cost=3)
        cases += _both(f"u-tied-with-edges-{shape}", rng.integers(0, 4, (n, m)) * 2, unmatched_cost=2)
        cases += _both(f"u-fraction-beside-integers-{shape}", integers, unmatched_cost=2.25)
        cases += _both(f"u-above-all-{shape}", reals, unmatched_cost=10)
        cases += _both(f"u-real-{shape}", reals, unmatched_cost=0.1)
        cases += _both(f"u-zero-{shape}", reals - 0.7, unmatched_cost=0)
        cases += _both(f"u-zero-integer-{shape}", integers - 15, unmatched_cost=0)
        cases += _both(f"u-zero-far-below-{shape}", -100 * reals, unmatched_cost=0)
        cases += _both(f"u-small-far-below-{shape}", -100 * reals, unmatched_cost=1e-3)
        cases += _both(f"u-negative-{shape}", reals - 0.7, unmatched_cost=-0.1)
        cases += _both(f"u-negative-integer-{shape}", integers - 15, unmatched_cost=-2)
        per_member = rng.random(n), rng.random(m)
        cases += _both(f"u-each-its-own-{shape}", 3 * reals, unmatched_cost=per_member)
        whole = rng.integers(-3, 9, n), rng.integers(-3, 9, m)
        cases += _both(f"u-each-its-own-integer-{shape}", integers, unmatched_cost=whole)
        cases += _both(f"u-rows-dear-columns-free-{shape}", reals, unmatched_cost=(5, 0))
    isolated = np.full((4, 4), np.inf)
    isolated[1, 2], isolated[3, 2] = 1, 2
    cases += _both("u-isolated-rows-stay-unassigned", isolated, unmatched_cost=5)
    cases += _both("u-nothing-allowed", np.full((3, 4), np.inf), unmatched_cost=1.5)
    dearer = np.array([[4, 0, 4, 8], [8, 0, 0, 4], [0, 0, 0, 4], [4, 0, 0, 4], [8, 8, 0, 8]])
    unmatched = np.array([4, 4, 1, 3, 3]), np.array([6, 7, 7, 0])
    halves = unmatched[0] / 2, unmatched[1] / 2
    cases += _both("u-row-waits-while-its-columns-get-dearer", dearer, unmatched_cost=unmatched)
    cases += _both("u-row-waits-while-its-columns-get-dearer-real", dearer / 2, unmatched_cost=halves)
    return cases


def _infeasible() -> list[Case]:
    rng = np.random.default_rng(4)
    isolated = np.ones((5, 5))
    isolated[2] = np.inf
    shared = np.full((8, 9), np.inf)
    shared[:4, :3] = rng.random((4, 3))
    shared[4:, 2:] = rng.random((4, 7))
    mask = ~np.isfinite(shared)
    integers = rng.integers(0, 9, shared.shape)
    cases = _both("infeasible-isolated-row", isolated)
    cases += _both("infeasible-isolated-column", isolated.T)
    cases += _both("infeasible-four-rows-share-three-columns", shared)
    cases += _both("infeasible-four-columns-share-three-rows", shared.T)
    cases += _both("infeasible-masked-integers", integers, forbidden=mask)
    cases += _both("infeasible-masked-integers-tall", integers.T, forbidden=mask.T)
    cases += _both("infeasible-nothing-allowed", np.full((3, 3), np.inf))
    return cases


def _point_sets() -> list[Case]:
    rng = np.random.default_rng(5)
    cases: list[Case] = []
    for d in (1, 2, 3):
        for n, m in ((20, 20), (14, 22), (22, 14)):
            x, y = rng.random((n, d)), rng.random((m, d))
            y[:5] = x[:5]
            for metric in ("distance", "squared"):
                for u in (None, 0.15, 0.0, (rng.random(n), rng.random(m) / 5)):
                    suffix = {None: "", tuple: "-u-each"}.get(u if u is None else type(u), f"-u{u}")
                    name = f"points-{d}d-{n}x{m}-{metric}{suffix}"
                    cases.append(points_case(name, x, y, unmatched_cost=u, metric=metric))
    together = np.ones((6, 2))
    cases.append(points_case("points-coincident", together, together))
    cases.append(points_case("points-coincident-u", together, together, unmatched_cost=0.5))
    cases.append(points_case("points-far-from-the-origin", 1e6 + x, 1e6 + y, unmatched_cost=0.2))
    for seed, metric, u in ((15, "distance", None), (64, "squared", None), (66, "distance", 0.1)):
        tied = nearly_tied(seed, n=20, axes=2)
        cases.append(points_case(f"points-tied-but-for-rounding-{seed}", *tied, unmatched_cost=u, metric=metric))
    cases.append(points_case("points-none-against-three", np.empty((0, 3)), rng.random((3, 3)), unmatched_cost=1))
    cases.append(points_case("points-three-against-none", rng.random((3, 3)), np.empty((0, 3))))
    return cases


def _batches() -> list[Case]:
    rng = np.random.default_rng(6)
    cases: list[Case] = []
    shapes = ((3, 5), (0, 0), (5, 3), (4, 4), (0, 2), (1, 1), (2, 0), (6, 7))
    for form, state in (("dense", dense_case), ("sparse", sparse_case)):
        for u in (None, 0.4, 2):
            reals = [state("", rng.random(shape), unmatched_cost=u) for shape in shapes]
            whole = [state("", rng.integers(0, 9, shape), unmatched_cost=u) for shape in shapes]
            cases.append(batch_case(f"batch-{form}-u{u}", reals))
            cases.append(batch_case(f"batch-{form}-integers-u{u}", whole))
        own = [state("", rng.random(s), unmatched_cost=(rng.random(s[0]), rng.random(s[1]))) for s in shapes]
        cases.append(batch_case(f"batch-{form}-u-each-its-own", own))
        equal = [state("", rng.random((4, 4))) for _ in range(5)]
        cases.append(batch_case(f"batch-{form}-equal-shapes", equal))
        isolated = np.full((3, 3), np.inf)
        broken = [*equal[:2], state("", isolated), state("", rng.random((3, 2)))]
        cases.append(batch_case(f"batch-{form}-infeasible-in-the-middle", broken))
        cases.append(batch_case(f"batch-{form}-infeasible-tall", [*equal[:1], state("", np.full((3, 2), np.inf))]))
    mask = rng.random((3, 3)) < 0.2
    np.fill_diagonal(mask, val=False)
    some_masked = [dense_case("", rng.integers(0, 9, (3, 3)), forbidden=f) for f in (mask, None, mask)]
    cases.append(batch_case("batch-dense-some-masked", some_masked))
    for u in (None, 0.2):
        sets = [points_case("", rng.random((n, 3)), rng.random((m, 3)), unmatched_cost=u) for n, m in shapes]
        cases.append(batch_case(f"batch-points-u{u}", sets))
    stack = rng.random((4, 6, 5))
    optima = tuple(optimum_of(cost) or 0.0 for cost in stack)
    cases.append(Case("batch-3-axes", Problem.dense(stack), optima))
    return cases


CASES: list[Case] = [
    *_small(),
    *_shapes_and_values(),
    *_gated(),
    *_with_unmatched_cost(),
    *_infeasible(),
    *_point_sets(),
    *_batches(),
]
"""All named cases, those without an assignment included."""

SMALL_COSTS = {
    "zeros": np.zeros((4, 6)),
    "equal": np.full((5, 5), 1e-3),
    "reals": np.random.default_rng(7).random((6, 9)),
    "integers": np.random.default_rng(8).integers(0, 9, (7, 7)),
}
"""Costs far below an increment of 100."""
