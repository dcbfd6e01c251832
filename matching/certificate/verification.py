"""An independent check of an assignment's certificate. Imports no solver.

The sums of the certificate are those that `certify` makes; small problems are checked once more without them, and
without rounding (`exact_optimum`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import InvalidProblem
from ..problem import Problem
from ..problem.costs import absent_cost, best_row_duals, edge_costs, largest_cost, row_costs
from ..tolerance import DUALS_BEYOND_COSTS, EPS, STATED, ULPS
from .assignment import Assignment
from .certify import (
    Slackness,
    block_of,
    certify,
    complementary_slackness,
    doubted,
    incomplete_blocks,
    inverse,
    settled,
    without_rounding,
)
from .exact_optimum import is_cheapest, is_small
from .far_unmatched_costs import at_lower_unmatched_costs

_TOLERANCE = ULPS * EPS


@dataclass(frozen=True)
class Certificate:
    """What `verify` found.

    Attributes
    ----------
    is_valid : bool
        The matching is one, allowed by the problem, complete where it must be, its duals are feasible, and cost, gap
        and `is_optimal` are as stated. False means that the assignment is wrong, whatever it says of itself.
    is_optimal : bool
        Valid, and the duals prove that nothing is cheaper (gap 0; for real costs within 64 ulp, term by term, and the
        gap with its rounding within 1e-9 of the matched edges' own cost, and of what they cost above the rows' least).
        Of small problems the optimum itself says so; where unmatched costs
        are far above all costs, duals for lower ones that leave the same matched edges the cheapest.
    cost, gap : number, or ndarray (blocks,) of several blocks
        Recomputed from the problem; NaN where the matched edges are not a matching or the duals not numbers.
    faults : tuple of str
        One sentence for each thing that is wrong.
    """

    is_valid: bool
    is_optimal: bool
    cost: Any
    gap: Any
    faults: tuple[str, ...]

    def __bool__(self) -> bool:
        return self.is_optimal

    def __repr__(self) -> str:
        """Of a batch in sums: its blocks may be thousands."""
        found = "optimal" if self.is_optimal else "valid" if self.is_valid else f"invalid: {' '.join(self.faults)}"
        return f"<Certificate {found}, cost {np.sum(self.cost)}, gap {np.max(self.gap)}>"


def verify(problem: Any, assignment: Assignment) -> Certificate:
    """Recompute an assignment's certificate from nothing but the problem.

    Parameters
    ----------
    problem : Problem, or array or sparse matrix as taken by `solve`
    assignment : Assignment

    Returns
    -------
    Certificate
        True in a condition when the assignment is proven optimal.

    Raises
    ------
    InvalidProblem
        If there is no assignment, or its arrays are of another kind or do not have the problem's sizes.
    """
    if not isinstance(assignment, Assignment):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidProblem(
            f"assignment needs what solve returned; got {type(assignment).__name__}.", argument="assignment"
        )
    _check_kinds(assignment)
    if assignment.maximize:
        found = verify(Problem.of_values(problem), assignment.negated())
        return replace(found, cost=-found.cost)
    problem, assignment = Problem.of(problem).on_host(), assignment.on_host()
    _check_arrays(problem, assignment)
    faults = _matching_faults(problem, assignment) or _dual_size_faults(problem, assignment)
    if faults:
        nothing = np.full(problem.n_blocks, np.nan)
        return Certificate(False, False, _per_block(nothing), _per_block(nothing), tuple(faults))
    r, v = assignment.row_duals, assignment.col_duals
    best, terms = best_row_duals(problem, v)
    matched = assignment.col_of_row, assignment.row_of_col
    sums = doubted(problem, *matched, complementary_slackness(problem, *matched, r, v, terms))
    sums = settled(problem, *matched, r, v, sums)
    proven = bool(sums.has_zero_slack.all()) and (
        _is_cheapest(problem, assignment) if is_small(problem) else _is_beyond_doubt(problem, assignment, sums)
    )
    gap = _gap_at_lower_unmatched_costs(problem, assignment, sums)
    faults = _dual_faults(problem, r, v, best) + _claim_faults(assignment, sums, gap, proven)
    proven = proven and not faults
    return Certificate(not faults, proven, _per_block(sums.cost), _per_block(gap), tuple(faults))


def _is_cheapest(problem: Problem, assignment: Assignment) -> bool:
    """Whether every block of a small problem is matched as cheaply as can be."""
    matched = np.split(assignment.col_of_row, problem.row_offsets[1:-1])
    duals = np.split(assignment.col_duals, problem.col_offsets[1:-1])
    return all(map(is_cheapest, problem.blocks(), matched, duals))


def _is_beyond_doubt(problem: Problem, assignment: Assignment, sums: Slackness) -> bool:
    """Whether each block of a large problem is proven, at lower unmatched costs where these are far above all costs.

    Duals as large as these would leave a right edge in doubt.
    """
    for b in np.flatnonzero(sums.in_doubt).tolist():
        proof = _proof_at_lower_unmatched_costs(problem, assignment, b)
        if proof is None or not (proof.is_optimal or _is_exact(problem, assignment, sums, b)):
            return False
    return True


def _is_exact(problem: Problem, assignment: Assignment, sums: Slackness, b: int) -> bool:
    """Whether the duals of a block prove it at its stated unmatched costs, all of them computed without rounding."""
    rows, cols = slice(*problem.row_offsets[b : b + 2]), slice(*problem.col_offsets[b : b + 2])
    matched = assignment.col_of_row[rows], assignment.row_of_col[cols]
    duals = assignment.row_duals[rows], assignment.col_duals[cols]
    return without_rounding(problem.block(b), matched, duals, float(sums.gap[b]))[1]


def _gap_at_lower_unmatched_costs(problem: Problem, assignment: Assignment, sums: Slackness) -> np.ndarray:
    """Return the gap of each block, or at lower unmatched costs where these prove more (`far_unmatched_costs`)."""
    gap, stated = sums.gap.copy(), np.atleast_1d(assignment.gap)
    if stated.shape != gap.shape:
        return gap
    for b in np.flatnonzero(stated < gap - _rounding_of_gap(sums)).tolist():
        proof = _proof_at_lower_unmatched_costs(problem, assignment, b)
        if proof is not None and proof.is_optimal:
            gap[b] = proof.gap
    return gap


def _proof_at_lower_unmatched_costs(problem: Problem, assignment: Assignment, b: int) -> Assignment | None:
    """Return the matching of a block certified at lower unmatched costs; None where these are not far above all."""
    col_of_row = assignment.col_of_row[slice(*problem.row_offsets[b : b + 2])]
    proof = None
    for lower, col_duals in at_lower_unmatched_costs(problem.block(b), col_of_row):
        proof = certify(lower, col_of_row, col_duals, solver="")
        if proof.is_optimal:
            break
    return proof


def _rounding_of_gap(sums: Slackness) -> Any:
    """Return by how much a stated gap may be below that of the duals, per block."""
    return 0 if sums.cost.dtype.kind == "i" else sums.rounding + STATED * abs(sums.gap)


def _per_block(values: np.ndarray) -> Any:
    """Return a number for a single problem and the array for a batch, as `Assignment` does."""
    return values[0].item() if len(values) == 1 else values


def _check_kinds(assignment: Assignment) -> None:
    """Refuse what is no array of whole numbers or of duals, and costs and gaps that are no numbers."""
    for name, kinds in ("col_of_row", "iu"), ("row_of_col", "iu"), ("row_duals", "if"), ("col_duals", "if"):
        array = getattr(assignment, name)
        if getattr(array, "ndim", 0) != 1 or array.dtype.kind not in kinds:
            raise InvalidProblem(
                f"assignment needs {name} as an array of {'whole numbers' if 'u' in kinds else 'numbers'}; got "
                f"{_kind_of(array)}.",
                argument="assignment",
            )
    for name in "cost", "gap":
        value = np.asarray(getattr(assignment, name))
        if value.dtype.kind not in "iuf" or value.ndim > 1:
            raise InvalidProblem(
                f"assignment needs {name} as a number, or one for each block; got {_kind_of(value)}.",
                argument="assignment",
            )


def _kind_of(value: Any) -> str:
    """Say of what kind a value is that was not expected."""
    return f"{value.dtype} of shape {value.shape}" if hasattr(value, "dtype") else type(value).__name__


def _check_arrays(problem: Problem, assignment: Assignment) -> None:
    arrays = assignment.col_of_row, assignment.row_of_col, assignment.row_duals, assignment.col_duals
    sizes = tuple(len(a) for a in arrays)
    if sizes != (*problem.shape, *problem.shape):
        raise InvalidProblem(
            f"assignment needs the problem's {problem.n_rows} rows and {problem.n_cols} columns; "
            f"got arrays of {sizes}.",
            argument="assignment",
        )
    types = assignment.row_duals.dtype, assignment.col_duals.dtype
    if any(own != problem.dual_dtype for own in types):
        raise InvalidProblem(
            f"assignment needs duals of {problem.dual_dtype} for these costs; got {types[0]} for rows, {types[1]} for "
            "columns. Verify it against the problem that was solved.",
            argument="assignment",
        )


def _matching_faults(problem: Problem, assignment: Assignment) -> list[str]:
    """Say how the matched edges fail to be a matching that the problem allows and that is complete where it must be."""
    col_of_row, row_of_col = assignment.col_of_row, assignment.row_of_col
    rows = np.flatnonzero(col_of_row >= 0)
    block = block_of(problem.row_offsets, rows)
    local = col_of_row[rows]
    if (local >= np.diff(problem.col_offsets)[block]).any() or (col_of_row < -1).any():
        return ["a row names a column out of its block's range"]
    cols = local + problem.col_offsets[block]
    if len(np.unique(cols)) != len(cols):
        return ["two rows share a column"]
    faults: list[str] = []
    if not np.array_equal(inverse(problem, col_of_row), row_of_col):
        faults.append("row_of_col is not the inverse of col_of_row")
    if (edge_costs(problem, rows, block, local) == absent_cost(problem)).any():
        faults.append("a matched edge is forbidden by the problem")
    if incomplete_blocks(problem, col_of_row).any():
        faults.append("a member of a shorter side is unassigned although there is no unmatched_cost")
    return faults


def _dual_size_faults(problem: Problem, assignment: Assignment) -> list[str]:
    """Say whether duals are so large that rounding would let them prove anything.

    Some optimal duals are always sums of costs along a path, so none needs more than its length times the largest cost;
    the factor leaves room for the overshoot of auctions. Where all costs are 0, no matched edge can be wrong.
    """
    duals = np.concatenate([assignment.row_duals, assignment.col_duals])
    if not np.isfinite(duals).all():
        return ["a dual is not finite"]
    shorter = np.minimum(np.diff(problem.row_offsets), np.diff(problem.col_offsets)).max(initial=0)
    largest = largest_cost(problem)
    limit = DUALS_BEYOND_COSTS * (float(shorter) + 2) * largest
    if largest and (abs(duals.astype(np.float64)) > limit).any():
        return [f"a dual is beyond ±{limit:g}, more than these costs can need: its rounding would hide a wrong edge"]
    return []


def _claim_faults(assignment: Assignment, sums: Slackness, gap: np.ndarray, proven: bool) -> list[str]:
    """Say which of the stated cost, gap and optimality are not what the matched edges and duals come to."""
    cost = sums.cost
    stated_cost, stated_gap = np.atleast_1d(assignment.cost), np.atleast_1d(assignment.gap)
    if stated_cost.shape != cost.shape or stated_gap.shape != gap.shape:
        return [f"cost and gap need one number for each of {len(cost)} blocks"]
    cost_rounding = 0 if cost.dtype.kind == "i" else STATED * sums.size
    faults: list[str] = []
    if not (abs(stated_cost - cost) <= cost_rounding).all():
        faults.append(f"the stated cost {assignment.cost} is not the matched edges' {_per_block(cost)}")
    if not (stated_gap >= gap - _rounding_of_gap(sums)).all():
        faults.append(f"the stated gap {assignment.gap} is below the {_per_block(gap)} that the duals prove")
    if assignment.is_optimal and not proven:
        faults.append("is_optimal is stated, but the duals do not prove it")
    return faults


def _dual_faults(problem: Problem, r: np.ndarray, v: np.ndarray, best: np.ndarray) -> list[str]:
    """Say where duals break c_ij - r_i - v_j ≥ 0 or their bounds; `best` are the largest feasible row duals."""
    row_bound, col_bound = problem.dual_bounds()
    faults: list[str] = []
    if (r > row_bound).any() or (v > col_bound).any():
        faults.append("a dual is above its bound")
    # A slack of row i is at least best - r, and its tolerance at least that of r alone.
    tolerance = 0 if problem.is_integer else _TOLERANCE * abs(r)
    violated = [i for i in np.flatnonzero(r - best > tolerance).tolist() if _row_is_violated(problem, i, r, v)]
    if violated:
        i = violated[0]
        faults.append(f"row {i} has dual {r[i]}, but nothing above {best[i]} is feasible ({len(violated)} such rows)")
    return faults


def _row_is_violated(problem: Problem, i: int, r: np.ndarray, v: np.ndarray) -> bool:
    """Whether a pair of row `i` has a negative slack beyond the rounding of its own three terms."""
    cols, cost = row_costs(problem, i)
    slack = cost - r[i] - v[cols]
    if problem.is_integer:
        return bool((slack < 0).any())
    largest = np.maximum(np.maximum(abs(cost), abs(v[cols])), abs(r[i]))
    return bool((slack < -_TOLERANCE * largest).any())
