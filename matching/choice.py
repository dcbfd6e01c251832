"""What "auto" stands for: which solver takes a problem, on which device, and what it tries first.

The rules are data, tried from the top; the first that holds decides. The figures beside them were measured on one core
of a CPU, or on H200s, against the other solver that could have been taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .device import cuda
from .presolve.sorting import calls_for_sorting, lie_along_lines
from .problem import Problem
from .problem.convert import as_dense, fills_its_matrix, gate_radius
from .problem.selection import chosen
from .solvers import devices_for, make_solver

FEW_PAIRS = 60_000
"""Pairs of each of many point sets up to which the matrices of all their costs are made; and of a graph up to which it
is not taken for a matrix."""

SMALL_MATRIX = 2**18
"""Pairs of two point sets up to which their matrix is made: 250 to 500 points of five families, in the plane and in
space, by distance and squared, take 0.2 to 1.0 of the time that they take without; 700 take 0.3 to 1.5."""

GPU_PAYS = {"dense": 4_000_000, "sparse": 200_000, "points": 25_000_000}
"""Pairs from which a problem that lies on the host is sent to a GPU: from there on one H200 takes a fourth of the
time of one CPU core or less, copies included. Its first use costs a process a second, the very first three more."""

SMALL = 200
"""Rows up to which no solver takes long enough to be changed for another."""

NEARLY_SQUARE = 1.01
"""Columns for each row, or rows for each column, below which a GPU's auction of a matrix keeps its prices from phase to
phase (`auction.gpu_scaling.FEW_UNASSIGNED`): by its own kernels on the host, 200 × 201 of Machol and Wien's costs take
26,430 bids and a search, 200 × 200 take 26,261 bids, 200 × 240 take 135 searches. The classical method changes its
duals as often as for equal sides: 300 × 301 and 300 × 300 of these 300 and 298 times, of blobs apart 138 and 115."""

FEW_SCANS = 2
"""Rows scanned, for each row, in which a matrix is solved that needs no more: 2,000 points and their copies moved by
noise take 6 ms so and 290 as points, most of it for the proof. In vain it takes 12 to 17 ms, of 5,000 rows 84."""

FEW_UPDATES = 10
"""Changes of the duals after which a matrix on a GPU that sorting may solve is fetched for it. Those that take more
take many: products 1,000 for 1,000 rows, squares on a line 58 of 13 ms each for 2,000."""

MOST_IN_MATRIX = 8000
"""Rows of two point sets up to which a GPU's auction of their matrix is sooner done than a CPU's without one: 5,000 in
clouds side by side take 0.65 s and 1.4, 10,000 in blobs apart 3.3, 20,000 in different clusters over 20 and 3.0."""

FEW_ROWS_IN_BLOCKS = 150
"""Rows and columns of each of many matrices up to which a GPU's tree method takes 0.46 to 0.97 of the classical one's
time (4,000 blocks of 100, 20,000 of 30), of hard ones a third; blocks of 200 take it 0.85 to 1.2, of 500 up to 3.7."""

LARGE = {"dense": 500, "points": 1000, "cuda": 1000}
"""Rows and columns of a block of a batch, of a matrix or a point set on a CPU, from which it may be solved apart, as it
would be alone: sorted, read as points, or handed from one solver to another. Point sets of 500 take 7.4 ms so and 6.6
together, noisy copies 2.8 to 3 and 2.3, sets of 2,000 28 and 28."""

FEW_LARGE = 8
"""Large blocks up to which a GPU solves them apart where it could take them at once, each by a block of threads and
without a limit: 1,000 of 500 take 18 ms at once, less than a launch each. One H200, seconds at once and apart: letters,
9 of 2,000, 2.4 and 1.7, roots on a line 0.54 and 0.26. Machol and Wien's, 9 of 1,000, took 17 and 0.09: blocks that
look as if sorting solves them are solved apart, however many; and few of them whatever their size."""

MOST_AT_ONCE = 2048
"""Longer side of a block above which a GPU takes it by itself anyway (`hungarian.gpu_batch.MOST_SIDE`). From 1,500 on
it would take 32 independent ones of 2,000 0.20 seconds in place of 0.04, and nine of two blobs 1.6 in place of 3.3."""

UPDATES_AT_ONCE, ROWS_A_HARD_BLOCK = 20, 125
"""Changes of the duals after which matrices that a GPU takes at once, and of which a third of the rows is left, are
taken for hard; and up to one for so many rows of them are solved apart. One H200, nine of 1,000 and of 2,000: inner
products, two blobs, colours and Machol and Wien's are told so from eight other kinds, in 0.02 to 0.2 seconds, as well
as after 62 and 125 changes, in 0.05 to 0.8. Blobs of 2,000 take 3.3 seconds at once, each by itself 0.18, colours 10.9
and 0.49, inner products 2.0 and 0.23; those of 1,000 0.66 and 0.075, 1.7 and 0.15, 0.87 and 0.075."""

ROWS_AN_UPDATE = 200
"""Rows for each change of the duals after which a matrix on a GPU of which half the rows are left is taken for hard.
The share that is left falls alike for all sizes. Of 2,000 to 10,000 rows letters have 0.42 left then and a cube and a
slab 0.39, colours 0.68 to 0.72, blobs apart 0.80, inner products 0.90; of 400 rows fifteen other kinds have less than
0.15. Of 10,000 inner products these changes take 0.5 s and those that tell so by a third of the rows 2.8, the auction
1.7; letters take the auction 18 s and the classical method 3.3."""

WIDE_GATE = 100
"""Columns in a row's cube of pairs worth matching above which those pairs are not written out."""


class Rule(NamedTuple):
    """A solver, the problems that it is taken for, and why."""

    holds: Callable[[Problem], bool]
    solver: str
    reason: str


def _always(_: Problem) -> bool:
    return True


def _has_unmatched_cost(problem: Problem) -> bool:
    return problem.has_unmatched_cost


def _is_nearly_full(problem: Problem) -> bool:
    return problem.n_pairs > FEW_PAIRS and fills_its_matrix(problem)


def _has_wide_gate(problem: Problem) -> bool:
    return problem.has_unmatched_cost and _gate_width(problem) > WIDE_GATE


def _has_few_pairs(problem: Problem) -> bool:
    most = SMALL_MATRIX if problem.n_blocks == 1 else FEW_PAIRS
    return int((problem.n_rows_of_block * problem.n_cols_of_block).max(initial=0)) <= most


ON_CPU: dict[str, tuple[Rule, ...]] = {
    "dense": (
        # 0.1 to 0.6 of SciPy's time from n = 500 at every dtype; in [0, n/10], n = 5,000, 0.3 of hungarian-classical's.
        Rule(_always, "jv", "dense costs"),
    ),
    "sparse": (
        Rule(_has_unmatched_cost, "jv", "sparse costs, unmatched_cost"),
        # Whole numbers as floats, all 2,000 × 2,000: 0.45 CPU seconds in place of 3.9.
        Rule(_is_nearly_full, "jv", "sparse costs that fill a good part of their matrix"),
        # Does what jv does where the problem is easy or paths do not grow, and takes 1/4 to 1/30 of its time elsewhere.
        Rule(_always, "auction", "sparse costs without unmatched_cost"),
    ),
    "points": (
        # From an unmatched cost of twice the mean distance to the nearest on; memory does not grow with the gate.
        Rule(_has_wide_gate, "auction", f"point sets with more than about {WIDE_GATE} pairs a row worth matching"),
        # A third of the auction's time up to an unmatched cost of the mean distance of nearest neighbours.
        Rule(_has_unmatched_cost, "jv", "point sets whose matched edges are bounded by unmatched_cost"),
        # n = 250 to 500: 0.7 to 1.2 of the auction's time; n = 4,000: ten times as long or longer.
        Rule(_has_few_pairs, "jv", "point sets of few pairs, as a matrix"),
        Rule(_always, "auction", "point sets of many pairs"),
    ),
}
"""By kind of problem; the last rule of each holds."""


def first_on_gpu(rows: int) -> tuple[str, dict[str, Any]]:
    """Return what a GPU tries of a matrix first, and what that may spend before the matrix is taken for hard."""
    most_updates = max(rows // ROWS_AN_UPDATE, min(rows // 50, UPDATES_AT_ONCE), 1)
    return "hungarian-classical", {"most_updates": most_updates, "few_left": rows // 2}


def _first_on_gpu_for_points(rows: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    without_matrix = "auction", {"matrix": False}
    if rows <= MOST_IN_MATRIX:
        return ("hungarian-classical", {"most_updates": 100, "few_left": rows * 3 // 10}), without_matrix
    return without_matrix, ("hungarian-classical", {"most_updates": 300, "few_left": rows // 8})


FIRST_TRIED: dict[str, Callable[[int], tuple[tuple[str, dict[str, Any]], ...]]] = {
    "jv": lambda _: (
        *(("jv", {"most_scans": 45}), ("auction", {"max_bids": 150})),
        *(("jv", {"most_scans": 160}), ("auction", {"max_bids": 400})),
    ),
    "hungarian-classical": lambda rows: (first_on_gpu(rows), ("auction", {})),
    "auction of points on a GPU": _first_on_gpu_for_points,
}
"""Solvers that are tried in place of one, with what each may spend on so many rows, before that takes what it needs.

One that finds itself far from an end leaves the rest to the last of them, which may spend most.

On a CPU: a bid takes about a scan's time (1,500 rows). Independent costs need 1 to 15 scans a row, where the auction
takes 15 to 23 bids (n = 1,500 to 4,000); points, a ball and a shell, dense clusters, cubes of distances, points on a
circle 20 to 50 scans (n = 2,000) and 40 to 95 (4,500), and 24 to 180 bids; inner products, clouds apart, roots on a
line 116 scans and more, growing with n, and 36 to 45 bids; where colours or pixels tie 70 to 111 bids. What is allowed
are scans still to come: a search near its end goes on. Estimates are early and low, so that 45 to come are 60 to 100 in
all, as many as take the time of 60 to 150 bids. With 30 in all and 60 bids before, 4,500 points in the plane took 2.2
times as long, points on a circle 1.6 to 2; a ball and a shell of 2,000 points .6.

On a GPU: most costs need 5 to 110 changes of the duals (n = 5,000), those too that take the auction longest; inner
products, clouds apart, and Machol and Wien's costs one for two or four rows, or for each. Where a limit of 150 ends it,
inner products, clouds apart and colours have 0.40 to 0.55 of their rows left, the pixels of letters 0.15 and 0.27
(n = 2,000 and 4,000), which then take less time than the auction. So it is after one change for 16 rows where there are
fewer: 0.41, 0.60 and 0.48, and 0.21 (n = 1,250), where after 150 inner products have 0.22 left and would go on.

Points on a GPU, seconds on an H100 by the classical method and by the auction without a matrix: 5,000 and 8,000 in
clouds side by side 0.27 and 0.34, where the auction gives up; a cube and a slab 0.08 and 0.20; dense clusters 0.06 and
0.17; a box and clusters 0.44 and 0.26, different clusters 0.53 and 0.35, of 8,000 1.65 and not at all; two blobs apart
2.0 and 0.70. After 100 changes of the duals two blobs have 0.65 and more of their rows left, the others 0.29 and less.
20,000 are sooner done by the auction where it does not give up (0.4 to 2.6 s); after 300 changes clouds have 0.11 left
and take 2.5 s in all, different clusters 0.25 and a box and clusters 0.20, which a CPU ends sooner."""


class Choice(NamedTuple):
    """What "auto" stands for: a solver's name, the device (several joined by commas), and why."""

    solver: str
    device: str
    reason: str

    def last_device(self, problem: Problem, tried: Sequence[Any]) -> str:
        """Return where the solver is run once those `tried` have given up: large point sets on the CPU."""
        is_for_cpu = tried and problem.kind == "points" and problem.n_rows > MOST_IN_MATRIX
        return "cpu" if is_for_cpu else self.device

    def form_for(self, tried: str, problem: Problem) -> Problem:
        """Return what a solver that is tried is given: the matrix where jv has made that of points before."""
        is_matrix = tried == "auction" and self.solver == "jv" and problem.kind == "points"
        return as_dense(problem) if is_matrix else problem

    def first_tried(self, problem: Problem) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Return the solvers to be tried before this one, and their options: none where no other is likely to pay."""
        is_near = problem.kind == "dense" and self.device.startswith("cuda") and _is_nearly_square(problem)
        if "," in self.device or not (_may_be_hard(problem) or is_near):
            return ()
        of_points_on_gpu = problem.kind == "points" and self.device.startswith("cuda")
        name = f"{self.solver} of points on a GPU" if of_points_on_gpu else self.solver
        tried = FIRST_TRIED.get(name)
        return () if tried is None else tried(min(problem.shape))

    def limits_at_once(self, problem: Problem) -> dict[str, Any] | None:
        """Return what a GPU may spend on each of some matrices of one shape at once; None where none is likely hard."""
        rows, cols = (int(sides[0]) for sides in (problem.n_rows_of_block, problem.n_cols_of_block))
        may_be_hard = problem.n_blocks > 1 and _are_nearly_square(rows, cols) and not problem.has_unmatched_cost
        return {"most_updates": UPDATES_AT_ONCE, "few_left": min(rows, cols) // 3} if may_be_hard else None


def choose(problem: Problem, device: str) -> Choice:
    """Return the solver that "auto" stands for, the device, and why."""
    if "," in device:
        return Choice("hungarian-classical", device, "several CUDA devices were asked for")
    if device.startswith("cuda"):
        return Choice(_best_on_gpu(problem), device, "a CUDA device was asked for")
    if device != "cpu" and problem.is_on_device:
        return Choice(_best_on_gpu(problem), "cuda" if device == "auto" else device, "arrays on a CUDA device")
    if device == "auto" and problem.n_edges >= GPU_PAYS[problem.kind] and cuda.is_available():
        return Choice(_best_on_gpu(problem), "cuda", f"a CUDA device is there, and {problem.n_edges} pairs gain by it")
    host = problem.on_host()
    rule = next(rule for rule in ON_CPU[host.kind] if rule.holds(host))
    return Choice(rule.solver, "cpu", rule.reason)


def large_blocks(problem: Problem, device: str) -> np.ndarray:
    """Return which blocks of a batch may be solved apart, bool (blocks,): large matrices, and point sets matched whole.

    A solve of edges, or of points within an `unmatched_cost`, looks at the parts of all blocks and is hardly ever hard.
    """
    rows, cols = problem.n_rows_of_block, problem.n_cols_of_block
    is_near = problem.kind == "sparse" or (problem.kind == "points" and problem.has_unmatched_cost)
    if problem.n_blocks == 1 or "," in device or is_near:
        return np.zeros(problem.n_blocks, bool)
    on_gpu = device.startswith("cuda")
    is_large = np.minimum(rows, cols) >= LARGE["cuda" if on_gpu else problem.kind]
    if on_gpu:
        lines = lie_along_lines(problem, np.arange(problem.n_blocks))
        small_lines = lines & ~is_large
        if np.count_nonzero(is_large) > FEW_LARGE:
            is_large &= (np.maximum(rows, cols) > MOST_AT_ONCE) | lines
        if np.count_nonzero(small_lines) <= FEW_LARGE:
            is_large |= small_lines
    return is_large


def hardly_large_blocks(problem: Problem) -> np.ndarray:
    """Return which matrices of a batch on the host are too small to be solved apart at once, but may be hard.

    Ten of 450 of Machol and Wien's costs, inner products, blobs apart take `jv` together 0.33, 0.25 and 0.24 seconds,
    the auction 0.08, 0.07 and 0.08.
    """
    rows, cols = problem.n_rows_of_block, problem.n_cols_of_block
    is_other = problem.kind != "dense" or problem.has_unmatched_cost or problem.is_on_device
    return np.zeros(problem.n_blocks, bool) if is_other else (rows == cols) & (rows >= SMALL)


def go_at_once(problem: Problem, choice: Choice) -> bool:
    """Whether matrices go to one GPU by `hungarian-classical`, those of a shape at once."""
    on_one_gpu = choice.device.startswith("cuda") and "," not in choice.device
    return on_one_gpu and problem.kind == "dense" and problem.n_blocks > 1 and choice.solver == "hungarian-classical"


def hard_ones_apart(problem: Problem, hard: np.ndarray) -> list[np.ndarray]:
    """Return the matrices of one shape in a group, the `hard` ones by themselves where they are few or may be sorted.

    Many others are sooner done at once: 32 blobs of 500 in 0.15 seconds in place of 1.2.
    """
    apart = hard
    if len(hard) * ROWS_A_HARD_BLOCK > problem.n_rows_of_block[0]:
        may_be = hard[lie_along_lines(problem, hard)]
        apart = may_be[[calls_for_sorting(chosen(problem, [b])) for b in may_be]]
    others = np.setdiff1d(np.arange(problem.n_blocks), apart)
    return [*([others] if len(others) else []), *apart[:, None]]


def _best_on_gpu(problem: Problem) -> str:
    """Return the solver that "auto" stands for on a CUDA device.

    n = 20,000, `hungarian-classical` beside the auction: [0, n] 14 and 26 ms, [0, 10n] 23 and 28, distances of points
    9 and 18; 1000 problems of 500: 18 and 32 ms. Gates that must be matched whole: the tree's time is 0.87 to 1.17
    times the auction's where sides are equal, 0.15 to 0.56 where there are more columns.
    """
    if problem.kind == "sparse" and not problem.has_unmatched_cost:
        return "hungarian-tree"
    if problem.kind == "dense" and problem.n_blocks > 1 and _largest_side(problem) <= FEW_ROWS_IN_BLOCKS:
        return "hungarian-tree"
    classical = make_solver("hungarian-classical")
    return classical.name if problem.kind == "dense" and "cuda" in devices_for(classical, problem) else "auction"


def _largest_side(problem: Problem) -> int:
    return int(np.maximum(problem.n_rows_of_block, problem.n_cols_of_block).max(initial=0))


def _may_be_hard(problem: Problem) -> bool:
    """Whether a problem can take one solver so much longer than another that it pays to change."""
    return problem.must_match_all(SMALL)


def _is_nearly_square(problem: Problem) -> bool:
    """Whether so few of the longer side of a single problem stay unassigned that a GPU's auction settles them after.

    On a CPU `jv` needs no other: of 16 kinds of 1,000 rows, 1,001 to 1,330 columns, the auction took 1.5 to 13 times
    its time, but for one (squares on a line, 1,330 columns: 12 ms and 20).
    """
    return problem.n_blocks == 1 and not problem.has_unmatched_cost and _are_nearly_square(*problem.shape)


def _are_nearly_square(rows: int, cols: int) -> bool:
    shorter, longer = sorted((rows, cols))
    return SMALL <= shorter <= longer < NEARLY_SQUARE * shorter


def _gate_width(problem: Problem) -> float:
    """Return how many columns a cube around a row holds on average, if they were spread evenly over the bounding box.

    The cube is the one around all that is worth matching; the largest value of all blocks.
    """
    return max((_gate_width_of_block(block) for block in problem.blocks()), default=0.0)


def _gate_width_of_block(block: Problem) -> float:
    if not block.n_rows or not block.n_cols:
        return 0.0
    assert block.y is not None
    cube = 2 * gate_radius(block)
    extent = np.maximum(np.ptp(block.y, axis=0), cube)
    return float(block.n_cols * np.divide(cube, extent, out=np.ones_like(extent), where=extent > 0).prod())
