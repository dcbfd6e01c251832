"""`auto` gives a solver up when its own counts say that it takes too long, and takes the next."""

import math

import numpy as np
import pytest
from scipy.sparse import coo_array

from auctrack.matching import (
    JV,
    Assignment,
    Auction,
    DeviceMemoryExceeded,
    DeviceUnavailable,
    HungarianClassical,
    InvalidProblem,
    NotConverged,
    Problem,
    choice,
    solve,
    solving,
    verify,
)
from auctrack.matching.auction import gpu_points
from auctrack.matching.device import cuda
from auctrack.matching.jv.solver import without_mask
from auctrack.matching.paths.dense_paths import assign_dense_rows
from auctrack.matching.paths.finish import FAR_TOO_HARD, TOO_HARD, match_rows
from auctrack.matching.paths.shortest_paths import lower_to_cheapest, start
from auctrack.matching.problem.convert import as_sparse
from auctrack.matching.problem.flat_graph import flat_graph
from auctrack.plugins.bench.assignment.hostile_costs import (
    arcs,
    ball_to_shell,
    cubes,
    dense_clusters,
    inner_products,
    letters,
    one_far_point,
    photographs,
    two_blobs,
)
from auctrack.plugins.bench.assignment.hostile_problems import points_of_a_line

from .auction.on_host import be_the_device


def test_long_searches_hand_over_to_the_auction():
    cost = inner_products(800, 0) + 1e-6 * np.random.default_rng(1).random((800, 800))  # of no points any more
    answer = solve(cost, device="cpu")
    assert answer.solver == "auction"
    assert "jv was given up" in answer.stats["auto"]
    assert verify(cost, answer)
    assert answer.cost == pytest.approx(solve(cost, "jv").cost, rel=1e-12)


@pytest.mark.parametrize(
    ("costs", "is_far"), [(inner_products, True), (photographs, True), (ball_to_shell, False), (one_far_point, False)]
)
def test_a_solve_says_whether_it_is_far_from_its_end(costs, is_far):
    with pytest.raises(NotConverged) as error:
        solve(costs(600, 1), JV(most_scans=12), "cpu")
    assert error.value.is_far == is_far


@pytest.mark.parametrize("seed", range(3))
def test_what_is_spent_is_no_reason_to_give_a_matrix_up(seed):
    cost = arcs(600, seed)
    taken = solve(cost, JV(), "cpu").stats["rows_scanned"] / len(cost)
    limited = solve(cost, JV(most_scans=int(0.8 * taken)), "cpu")
    assert limited.stats["rows_scanned"] > int(0.8 * taken) * len(cost)
    with pytest.raises(NotConverged, match="most_scans"):
        solve(cost, JV(most_scans=int(0.3 * taken)), "cpu")


@pytest.mark.parametrize("seed", range(1, 4))
def test_paths_that_grow_slowly_are_not_left_to_the_auction(seed):
    """Points on a circle need 30 to 40 scans a row, and the auction twice the time."""
    answer = solve(arcs(1000, seed), device="cpu")
    assert answer.solver == "jv"
    assert "given up" not in answer.stats["auto"]


def test_what_is_far_from_its_end_is_left_to_the_last_that_is_tried():
    answer = solve(photographs(1000, 1), device="cpu")
    assert answer.solver == "auction"
    assert answer.stats["auto"].count("was given up") == 1


def test_the_last_solver_has_no_limit(monkeypatch):
    limits = ("jv", {"most_scans": 1}), ("auction", {"max_bids": 1})
    monkeypatch.setitem(choice.FIRST_TRIED, "jv", lambda _: limits)
    cost = inner_products(300, 0)
    answer = solve(cost, device="cpu")
    assert answer.solver == "jv"
    assert all(f"{name} was given up" in answer.stats["auto"] for name, _ in limits)
    assert verify(cost, answer)


@pytest.mark.parametrize(
    "costs", [inner_products, two_blobs, dense_clusters, ball_to_shell, cubes, one_far_point, letters]
)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_limit_far_above_what_a_solve_takes_never_ends_it_and_a_fourth_does(costs, form):
    """Though it is given up as soon as the rows matched so far let expect that it will not do."""
    cost = Problem.dense(costs(400, 1))
    free = solve(cost, JV(form), "cpu")
    taken = free.stats["rows_scanned"] / cost.n_rows
    enough = solve(cost, JV(form, most_scans=math.ceil(5 * taken)), "cpu")
    np.testing.assert_array_equal(enough.col_of_row, free.col_of_row)
    with pytest.raises(NotConverged, match="most_scans"):
        solve(cost, JV(form, most_scans=max(int(taken / 4), 1)), "cpu")


@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_an_eighth_of_a_limit_and_a_few_searches_tell_that_it_will_not_do(form):
    problem, counts = Problem.dense(inner_products(400, 1)), np.zeros(3, np.int64)
    limit = solve(problem, JV(form), "cpu").stats["rows_scanned"] // 4
    graph, state = flat_graph(as_sparse(problem)), start(*problem.dual_bounds())
    lower_to_cheapest(*graph, state)
    if form == "dense":
        assert assign_dense_rows(problem.cost_matrix, state, counts, limit, None) == FAR_TOO_HARD
    else:
        assert match_rows(np.arange(400), *graph, state, counts, limit) == TOO_HARD
    assert limit / 8 < counts[2] < limit / 2


def _neighbours(height: int, width: int, seed: int) -> Problem:
    """Return neighbours in a grid, black squares against white ones, at independent costs."""
    square = np.arange(height * width).reshape(height, width)
    is_white = np.indices(square.shape).sum(axis=0).ravel() % 2
    place = np.where(is_white, np.cumsum(is_white), np.cumsum(1 - is_white)) - 1
    down, across = (square[:-1], square[1:]), (square[:, :-1], square[:, 1:])
    ends = np.concatenate([np.stack(pair).reshape(2, -1) for pair in (down, across)], axis=1)
    black, white = np.take_along_axis(ends, np.argsort(is_white[ends], axis=0), axis=0)
    costs = np.random.default_rng(seed).random(len(black)) + 0.01
    return Problem.sparse(coo_array((costs, (place[black], place[white]))).tocsr())


@pytest.mark.parametrize("seed", [0, 1, 5, 6, 14])
def test_paths_that_do_not_grow_are_not_given_up_for_an_auction(seed):
    problem = _neighbours(250, 250, seed)
    answer, free = solve(problem, device="cpu"), solve(problem, "jv", "cpu")
    assert answer.stats["bids"] == free.stats["bids"]
    assert answer.cost == free.cost
    assert verify(problem, answer)


def test_most_scans_ends_in_an_error_that_names_it():
    with pytest.raises(NotConverged, match="most_scans"):
        solve(inner_products(300, 0), JV(most_scans=1))
    with pytest.raises(InvalidProblem, match="most_scans"):
        JV(most_scans=0)


@pytest.mark.gpu
@pytest.mark.parametrize("make", [inner_products, two_blobs])
def test_many_changes_of_the_duals_hand_over_to_the_auction_on_a_gpu(make):
    cost = make(2500, 0)
    answer = solve(cost, device="cuda")
    assert answer.solver == "auction"
    assert "hungarian-classical was given up" in answer.stats["auto"]
    assert verify(cost, answer)
    assert answer.cost == pytest.approx(solve(cost, device="cpu").cost, rel=1e-12)


def test_arrays_on_a_gpu_have_all_solvers_of_one(monkeypatch):
    problem = Problem.points(*np.random.default_rng(5).random((2, 300, 3)))
    asked_for = choice.choose(problem, "cuda")
    monkeypatch.setattr(Problem, "is_on_device", True)
    lie_there = choice.choose(problem, "auto")
    assert lie_there.first_tried(problem) == asked_for.first_tried(problem) != ()
    assert lie_there.device == "cuda"


@pytest.mark.parametrize(("shape", "is_tried"), [((300, 301), True), ((345, 300), True), ((300, 346), False)])
def test_solvers_are_changed_where_the_auction_makes_a_matrix_square(shape, is_tried):
    problem = Problem.dense(np.zeros(shape))
    on_gpu = choice.choose(problem, "cuda")
    square = on_gpu.first_tried(Problem.dense(np.zeros((300, 300))))
    assert on_gpu.first_tried(problem) == (square if is_tried else ())
    on_cpu = choice.choose(problem, "cpu")
    assert on_cpu.first_tried(problem) == (on_cpu.first_tried(Problem.dense(np.zeros((300, 300)))) if is_tried else ())
    assert on_gpu.first_tried(Problem.dense(np.zeros(shape), unmatched_cost=1.0)) == ()


CLASSICAL, AUCTION = ("hungarian-classical", "cuda"), ("auction", "cuda")


def _refused(monkeypatch: pytest.MonkeyPatch, errors: list[Exception]) -> list[tuple[str, str]]:
    """Let the first solves end in these errors and the next be done on the host; return what is tried where."""
    be_the_device(monkeypatch)
    solved, tried = solving._solved, []

    def refuse_first(problem, solver, device):
        tried.append((solver.name, device))
        if len(tried) <= len(errors):
            raise errors[len(tried) - 1]
        return solved(problem, solver, "cpu")

    monkeypatch.setattr(solving, "_solved", refuse_first)
    return tried


@pytest.mark.parametrize("shape", [(300, 301), (301, 300)])
def test_nearly_square_costs_that_a_gpu_gives_up_are_handed_to_its_auction(shape, monkeypatch):
    tried = _refused(monkeypatch, [NotConverged("no end")])
    cost = np.random.default_rng(5).random(shape)
    answer = solve(cost, device="cuda")
    assert tried == [CLASSICAL, AUCTION]
    assert verify(cost, answer)
    assert answer.cost == pytest.approx(solve(cost, "jv", "cpu").cost, rel=1e-12)


@pytest.mark.parametrize("shape", [(300, 300), (300, 301), (305, 300)])
@pytest.mark.parametrize("cost", ["products", "independent"])
def test_what_a_gpu_gives_up_is_fetched_only_if_some_rows_and_columns_call_for_sorting(cost, shape, monkeypatch):
    tried = _refused(monkeypatch, [NotConverged("no end")])
    monkeypatch.setattr(Problem, "is_on_device", True)
    monkeypatch.setattr(Problem, "on_host", lambda problem: problem)
    monkeypatch.setattr(Assignment, "on_device", lambda answer: answer)
    x, y = map(np.random.default_rng(1).random, shape)
    problem = Problem.dense(np.outer(x, y) if cost == "products" else np.random.default_rng(2).random(shape))
    answer = solving._soon_or_sorted(problem, choice.Choice("hungarian-classical", "cuda", "dense costs"))
    if cost == "products":
        assert answer.solver == "sorting"
        assert "sorting" in answer.stats["auto"]
        assert tried == [CLASSICAL]
    else:
        assert answer is None
        assert tried == []


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((300, 300), [CLASSICAL, AUCTION]),
        ((299, 300), [AUCTION, CLASSICAL, AUCTION]),
        ((299, 299), [AUCTION, ("auction", "cpu")]),
    ],
    ids=["few", "many", "too many for a matrix"],
)
def test_few_points_on_a_gpu_begin_with_their_matrix_and_many_end_with_it_or_on_the_cpu(sizes, expected, monkeypatch):
    monkeypatch.setattr(choice, "FIRST_IN_MATRIX", sizes[0])
    monkeypatch.setattr(choice, "MOST_IN_MATRIX", sizes[1])
    tried = _refused(monkeypatch, [NotConverged("no end")] * (len(expected) - 1))
    problem = Problem.points(*np.random.default_rng(5).random((2, 300, 3)))
    assert verify(problem, solve(problem, device="cuda"))
    assert tried == expected


def test_points_whose_matrix_a_gpu_cannot_hold_are_solved_there_without_one(monkeypatch):
    tried = _refused(monkeypatch, [DeviceMemoryExceeded("full")] * 2)
    problem = Problem.points(*np.random.default_rng(5).random((2, 300, 3)))
    answer = solve(problem, device="cuda")
    assert verify(problem, answer)
    assert tried == [CLASSICAL, AUCTION, AUCTION]
    assert "did not fit" in answer.stats["auto"]


@pytest.mark.parametrize("solver", ["auto", "auction"])
def test_what_a_gpu_cannot_hold_goes_to_the_cpu_unless_the_gpu_was_asked_for(solver, monkeypatch):
    _refused(monkeypatch, [DeviceMemoryExceeded("full")])
    monkeypatch.setattr(cuda, "is_available", lambda: True)
    monkeypatch.setitem(choice.GPU_PAYS, "dense", 1)
    cost = np.random.default_rng(5).random((30, 30))
    answer = solve(cost, solver)
    assert answer.device == "cpu"
    assert "memory of the GPU" in answer.stats["auto"]
    assert verify(cost, answer)

    _refused(monkeypatch, [DeviceMemoryExceeded("full")])
    with pytest.raises(DeviceMemoryExceeded, match="full"):
        solve(cost, solver, device="cuda")


@pytest.mark.gpu
@pytest.mark.parametrize("there", ["host", "device"])
def test_points_of_a_line_are_sorted_whatever_the_device(there):
    x, y = np.random.default_rng(1).random((2, 3000, 1))
    given = [cuda.cupy().asarray(side) for side in (x, y)] if there == "device" else [x, y]
    answer = solve(Problem.points(*given, metric="squared"), device="cuda")
    assert (answer.solver, cuda.is_device_array(answer.col_of_row)) == ("sorting", there == "device")
    assert verify(Problem.points(x, y, metric="squared"), answer)


@pytest.mark.gpu
@pytest.mark.parametrize("solver", ["sorting", "hungarian-classical"])
def test_a_matrix_on_a_gpu_is_sorted_where_the_gpu_takes_long(solver):
    """Products take it a change of the duals a row; sums of a number for each row and column, which tie, hardly one."""
    x, y = np.random.default_rng(1).integers(0, 1000, (2, 1000, 1)).astype(float)
    cost = x * y.T if solver == "sorting" else x + y.T
    answer = solve(cuda.cupy().asarray(cost), device="cuda")
    assert answer.solver == solver
    assert cuda.is_device_array(answer.col_of_row)
    assert verify(cost, answer.on_host())


def test_a_device_that_is_not_there_is_refused_where_sorting_would_do(monkeypatch):
    x = np.random.default_rng(1).random((300, 1))
    monkeypatch.setattr(cuda, "devices", tuple)
    with pytest.raises(DeviceUnavailable):
        solve(Problem.points(x, x), device="cuda:77")


@pytest.mark.gpu
def test_points_whose_neighbours_say_little_get_their_matrix_and_another_solver_on_a_gpu(monkeypatch):
    monkeypatch.setattr(gpu_points, "SAMPLED_READS", 0)
    monkeypatch.setattr(choice, "FIRST_IN_MATRIX", 1000)  # up to which the matrix comes first
    rng = np.random.default_rng(1)
    centres = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3)
    x, y = (centres[rng.integers(0, len(centres), 6000)] + 0.01 * rng.normal(size=(6000, 3)) for _ in range(2))
    problem = Problem.points(x, y, metric="squared")
    answer = solve(problem, device="cuda")
    assert answer.solver == "hungarian-classical"
    assert "auction was given up, with {'matrix': False}" in answer.stats["auto"]
    assert verify(problem, answer)
    assert answer.cost == pytest.approx(solve(problem, device="cpu").cost, rel=1e-12)


def test_an_auction_without_its_matrix_says_when_neighbours_say_too_little():
    problem = points_of_a_line(1000, 1)
    assert solve(problem, "auction", device="cpu").stats["matrix"] == 1
    with pytest.raises(NotConverged, match="matrix"):
        solve(problem, "auction", device="cpu", matrix=False)
    with pytest.raises(InvalidProblem, match="matrix"):
        Auction(matrix="no")


def test_most_updates_is_a_whole_number_above_0():
    with pytest.raises(InvalidProblem, match="most_updates"):
        HungarianClassical(most_updates=0)


def test_few_left_is_a_whole_number():
    with pytest.raises(InvalidProblem, match="few_left"):
        HungarianClassical(few_left=-1)


def test_options_are_for_the_solver_that_auto_names():
    """Who gives an option of a solver wants that solver."""
    assert solve(inner_products(800, 0), device="cpu", most_scans=2**31).solver == "jv"


@pytest.mark.parametrize(("size", "exact_in_floats"), [(1000, True), (2**50, False)])
def test_a_mask_of_integers_becomes_infinity_where_floats_are_exact_and_else_absent_edges(size, exact_in_floats):
    rng = np.random.default_rng(3)
    cost, mask = rng.integers(0, size, (30, 30)), rng.random((30, 30)) < 0.5
    np.fill_diagonal(mask, False)
    problem = Problem.dense(cost, forbidden=mask)
    assert JV().match(problem).col_duals.dtype == np.int64
    answer = solve(problem, "jv")
    assert not answer.gap
    assert verify(problem, answer)
    other = solve(problem, "hungarian-tree", device="cpu")
    assert answer.cost == other.cost
    assert without_mask(problem).kind == ("dense" if exact_in_floats else "sparse")


@pytest.mark.parametrize(("share", "solver"), [(0.9, "jv"), (0.3, "jv"), (0.1, "auction")])
def test_sparse_costs_that_fill_their_matrix_are_solved_as_one(share, solver):
    rng = np.random.default_rng(4)
    kept = rng.random((300, 300)) < share
    np.fill_diagonal(kept, True)
    cost = rng.integers(0, 40, (300, 300)).astype(float)
    indptr = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    problem = Problem.sparse((indptr, np.nonzero(kept)[1], cost[kept]), shape=kept.shape)
    answer = solve(problem, device="cpu")
    assert answer.solver == solver
    assert verify(problem, answer)
    assert answer.cost == solve(np.where(kept, cost, np.inf), device="cpu").cost
