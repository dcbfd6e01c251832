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
from .problem.convert import are_nearly_square, fills_its_matrix, gate_radius
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

FEW_SCANS = 2
"""Rows scanned, for each row, in which a matrix is solved that needs no more: 2,000 points and their copies moved by
noise take 6 ms so and 290 as points, most of it for the proof. In vain it takes 12 to 17 ms, of 5,000 rows 84."""

FEW_UPDATES = 10
"""Changes of the duals after which a matrix on a GPU that sorting may solve is fetched for it. Those that take more
take many: products 1,000 for 1,000 rows, squares on a line 58 of 13 ms each for 2,000."""

FIRST_IN_MATRIX, MOST_IN_MATRIX = 12_000, 23_000
"""Rows of two point sets up to which a GPU begins with their matrix, and up to which it makes one at all: one H200,
seconds with it and without, 10,000 in a box and clusters 0.28 and 1.5, different clusters 0.4 and 1.3, independent ones
0.10 and 0.04; 20,000 0.5 and 0.05."""

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

FIRST_UPDATES, FEW_LEFT, ROWS_A_HARD_BLOCK = 20, 8, 125
"""Changes of the duals after which a matrix on a GPU, of whose rows more than one in so many are left, is taken for
hard; and of matrices that a GPU takes at once, up to one for so many rows are solved apart then. One H200, 5,000 rows:
these changes take 4 to 16 ms. Fifteen kinds have 0.028 or less of their rows left then, a disc and a square 0.08, and
need no more than 0.13 s in all; a box and a normal blob have 0.21, different densities 0.26 to 0.32, letters 0.37,
colours 0.72, blobs apart 0.83, inner products of 10,000 0.95, and take 0.5 to 6 s where the auction takes 0.05 to
0.9. Nine of 2,000 at once: two blobs 3.3 s, each by itself 0.18, colours 10.9 and 0.49, inner products 2.0 and 0.23."""

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


def first_on_gpu(rows: int) -> dict[str, Any]:
    """Return what `hungarian-classical` may spend on a matrix of so many rows before that is taken for hard."""
    return {"most_updates": FIRST_UPDATES, "few_left": rows // FEW_LEFT}


def _first_on_gpu_for_points(rows: int) -> tuple[tuple[str, dict[str, Any]], ...]:
    by_matrix = ("hungarian-classical", first_on_gpu(rows)), ("auction", {"matrix": "only"})
    if rows <= FIRST_IN_MATRIX:
        return by_matrix
    return ("auction", {"matrix": False}), *(by_matrix if rows <= MOST_IN_MATRIX else ())


FIRST_TRIED: dict[str, Callable[[int], tuple[tuple[str, dict[str, Any]], ...]]] = {
    "jv": lambda _: (
        *(("jv", {"most_scans": 45}), ("auction", {"max_bids": 150, "matrix": "only"})),
        *(("jv", {"most_scans": 160}), ("auction", {"max_bids": 400, "matrix": "only"})),
    ),
    "hungarian-classical": lambda rows: (
        ("hungarian-classical", first_on_gpu(rows)),
        ("auction", {"matrix": "only"}),
    ),
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

On a GPU: a few changes of the duals tell which matrices keep needing more of them, see `FIRST_UPDATES`; the auction
settles the prices of those first, and leaves the rest to the Hungarian method. More than 12,000 points are sooner done
without a matrix where neighbours say enough (20,000: independent ones 0.05 s, two blobs 0.26, dense clusters 1.1), and
by the auction of their matrix where they do not (a box and clusters 1.1, clouds side by side 1.2, different clusters
2.0)."""


class Choice(NamedTuple):
    """What "auto" stands for: a solver's name, the device (several joined by commas), and why."""

    solver: str
    device: str
    reason: str

    def last_device(self, problem: Problem, tried: Sequence[Any]) -> str:
        """Return where the solver is run once those `tried` have given up: large point sets on the CPU."""
        is_for_cpu = tried and problem.kind == "points" and problem.n_rows > FIRST_IN_MATRIX
        return "cpu" if is_for_cpu else self.device

    def first_tried(self, problem: Problem) -> tuple[tuple[str, dict[str, Any]], ...]:
        """Return the solvers to be tried before this one, and their options: none where no other is likely to pay."""
        is_near = problem.kind == "dense" and _is_nearly_square(problem)
        if "," in self.device or not (_may_be_hard(problem) or is_near):
            return ()
        of_points_on_gpu = problem.kind == "points" and self.device.startswith("cuda")
        name = f"{self.solver} of points on a GPU" if of_points_on_gpu else self.solver
        tried = FIRST_TRIED.get(name)
        return () if tried is None else tried(min(problem.shape))

    def limits_at_once(self, problem: Problem) -> dict[str, Any] | None:
        """Return what a GPU may spend on each of some matrices of one shape at once; None where none is likely hard."""
        rows, cols = (int(sides[0]) for sides in (problem.n_rows_of_block, problem.n_cols_of_block))
        may_be_hard = problem.n_blocks > 1 and _has_such_sides(rows, cols) and not problem.has_unmatched_cost
        return first_on_gpu(min(rows, cols)) if may_be_hard else None


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
    """Whether so few of the longer side of a single problem stay unassigned that the auction makes its matrix square.

    Of 33 kinds of 1,000 rows and 1,020 or 1,150 columns a CPU gives `jv` up for seven: six take 0.23 to 0.79 of the
    time, roots on a line 55 ms in place of 19; of 2,500 rows roots take 0.5 to 1 of it, four others 0.18 to 0.43.
    """
    return problem.n_blocks == 1 and not problem.has_unmatched_cost and _has_such_sides(*problem.shape)


def _has_such_sides(rows: int, cols: int) -> bool:
    return min(rows, cols) >= SMALL and are_nearly_square(rows, cols)


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
