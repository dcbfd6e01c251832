"""`auto` solves the large blocks of a batch as it solves each alone, and the answers are those of the batch."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest

from auctrack.matching import Assignment, Infeasible, NotConverged, Problem, choice, solve, solving, verify
from auctrack.matching.device import cuda
from auctrack.matching.presolve.groups import large_ones_apart
from auctrack.matching.problem.selection import chosen
from auctrack.plugins.bench.assignment.hostile_costs import (
    inner_products,
    machol_wien,
    roots_on_a_line,
    squared_on_a_line,
    two_blobs,
)

from .auction.on_host import be_the_device

LARGE, LARGE_SET = choice.LARGE["dense"], choice.LARGE["points"]


def _independent(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((n, n))


def _assert_as_alone(blocks: Sequence[Problem], together: Assignment) -> None:
    """Hold the answer to a batch against the proof, and each block's cost against that of its own solve."""
    assert verify(Problem.batch(blocks), together).is_optimal
    assert together.is_optimal
    assert together.gap.shape == together.cost.shape == (len(blocks),)
    for block, answer in zip(blocks, together.blocks(), strict=True):
        alone = solve(block, device="cpu")
        assert answer.cost == pytest.approx(alone.cost, rel=1e-12)
        assert verify(block, answer).is_optimal


@pytest.mark.parametrize("make", [inner_products, two_blobs, machol_wien, squared_on_a_line, roots_on_a_line])
def test_large_hard_matrices_are_solved_by_what_each_alone_is(make: Callable[[int, int], np.ndarray]):
    blocks = [Problem.dense(make(LARGE + 100 * k, k)) for k in range(3)]
    together = solve(Problem.batch(blocks), device="cpu")
    _assert_as_alone(blocks, together)
    assert set(together.solver.split(",")) == {solve(block, device="cpu").solver for block in blocks}


@pytest.mark.parametrize("make", [inner_products, two_blobs, machol_wien])
def test_hard_matrices_that_are_hardly_large_are_solved_by_what_each_alone_is(make: Callable[[int, int], np.ndarray]):
    """Together as long as they are easy: one hard one is told by its scans, and the small stay together."""
    sizes = (300, 400, 30, 20, 300)
    easy = [Problem.dense(_independent(n, k)) for k, n in enumerate(sizes)]
    blocks = [*easy, Problem.dense(make(450, 1))]
    together = solve(Problem.batch(blocks), device="cpu")
    _assert_as_alone(blocks, together)
    assert set(together.solver.split(",")) == {solve(block, device="cpu").solver for block in blocks}
    assert "given up" not in solve(Problem.batch(easy), device="cpu").stats["auto"]


def test_several_solvers_are_named_in_the_order_of_their_blocks():
    blocks = [Problem.dense(make(LARGE, 1)) for make in (_independent, machol_wien, _independent)]
    together = solve(Problem.batch(blocks), device="cpu")
    _assert_as_alone(blocks, together)
    assert together.solver == "jv,sorting"
    assert "sorting" in together.stats["auto"]
    assert "dense costs" in together.stats["auto"]


def test_large_and_small_tall_and_wide_blocks_keep_their_places():
    rng = np.random.default_rng(3)
    small, tall, wide = rng.random((4, 7)), rng.random((LARGE + 20, LARGE)), rng.random((LARGE, LARGE + 20))
    hard = inner_products(LARGE, 2)
    costs = [small, hard, small.T, small[:, :2], tall, wide, hard.T, np.empty((0, 3)), np.empty((3, 0)), tall, small]
    blocks = [Problem.dense(cost) for cost in costs]
    _assert_as_alone(blocks, solve(Problem.batch(blocks), device="cpu"))


def test_integers_are_proven_without_a_gap():
    rng = np.random.default_rng(4)
    blocks = [Problem.dense(np.outer(*rng.integers(1, 10_000, (2, LARGE + k)))) for k in range(3)]
    together = solve(Problem.batch(blocks), device="cpu")
    _assert_as_alone(blocks, together)
    assert together.cost.dtype == together.row_duals.dtype == np.int64
    assert not together.gap.any()


@pytest.mark.parametrize("unmatched_cost", [2.0, 1e3, 1e9], ids=["some", "none", "sentinel"])
def test_unmatched_costs_are_those_of_each_block(unmatched_cost: float):
    blocks = [
        Problem.dense(two_blobs(LARGE, 1), unmatched_cost=unmatched_cost),
        Problem.dense(1e-3 * two_blobs(LARGE, 2), unmatched_cost=1e-3 * unmatched_cost),
        Problem.dense(1e6 * np.random.default_rng(2).random((20, 30)), unmatched_cost=1e12),
    ]
    _assert_as_alone(blocks, solve(Problem.batch(blocks), device="cpu"))


@pytest.mark.parametrize("unmatched_cost", [None, 0.05], ids=["whole", "gate"])
def test_large_point_sets_are_solved_as_each_alone(unmatched_cost: float | None):
    rng = np.random.default_rng(5)
    line = rng.random((2, LARGE_SET, 1)) * np.array([1.0, 2.0, 3.0])
    sets = [line, rng.random((2, 40, 3)), line[::-1], rng.random((2, LARGE_SET, 3)) + np.array([[[0.0]], [[0.3]]])]
    blocks = [Problem.points(x, y, metric="squared", unmatched_cost=unmatched_cost) for x, y in sets]
    together = solve(Problem.batch(blocks), device="cpu")
    _assert_as_alone(blocks, together)
    assert ("sorting" in together.solver) == (unmatched_cost is None)


@pytest.mark.parametrize("at", [0, 2, 3])
@pytest.mark.parametrize("n", [20, LARGE])
def test_the_block_that_cannot_be_matched_is_named(n: int, at: int):
    broken = np.random.default_rng(6).random((n, n))
    broken[:, [4, 7]] = np.inf
    broken[3, [4, 7]] = 1.0
    costs = [inner_products(LARGE, 1), np.ones((5, 6)), machol_wien(LARGE, 1)]
    costs.insert(at, broken)
    with pytest.raises(Infeasible, match=f"Block {at}") as together:
        solve(Problem.batch([Problem.dense(cost) for cost in costs]), device="cpu")
    with pytest.raises(Infeasible) as alone:
        solve(broken, device="cpu")
    assert together.value.block == at
    for name in ("rows", "columns", "side"):
        assert getattr(together.value, name) == getattr(alone.value, name)


def test_easy_matrices_are_solved_once_beside_hard_ones(monkeypatch: pytest.MonkeyPatch):
    solved, seen = solving._solved, []
    monkeypatch.setattr(solving, "_solved", lambda *given: seen.append(given[0].data[0]) or solved(*given))
    easy = [Problem.dense(_independent(LARGE, k)) for k in range(3)]
    blocks = [easy[0], Problem.dense(roots_on_a_line(LARGE, 4)), *easy[1:], Problem.dense(np.eye(3))]
    _ = solve(Problem.batch(blocks), device="cpu")
    assert [seen.count(block.data[0]) for block in easy] == [1, 1, 1]


def test_options_are_for_one_solve_of_all_blocks():
    blocks = [Problem.dense(inner_products(LARGE, k)) for k in range(2)]
    assert solve(Problem.batch(blocks), device="cpu", most_scans=2**31).solver == "jv"


def test_large_blocks_stand_apart_and_all_are_in_order():
    is_large = np.random.default_rng(7).random(200) < 0.5
    groups = large_ones_apart(is_large)
    np.testing.assert_array_equal(np.concatenate(groups), np.arange(200))
    assert all(len(group) == 1 or not is_large[group].any() for group in groups)
    assert all(is_large[a[0]] or is_large[b[0]] for a, b in pairwise(groups))


@pytest.mark.parametrize("kind", ["dense", "sparse", "points"])
def test_neighbouring_blocks_are_taken_without_a_copy(kind: str):
    rng = np.random.default_rng(8)
    make = {
        "dense": lambda n: Problem.dense(rng.random((n, n)), forbidden=rng.random((n, n)) < 0.1, unmatched_cost=1.0),
        "sparse": lambda n: Problem.sparse((np.arange(n + 1), np.arange(n), rng.random(n)), shape=(n, n)),
        "points": lambda n: Problem.points(*rng.random((2, n, 2)), unmatched_cost=1.0),
    }[kind]
    batch = Problem.batch([make(n) for n in (3, 4, 5, 6)])
    part = chosen(batch, [1, 2])
    names = ("data", "forbidden", "indices", "x", "y", "row_unmatched", "col_unmatched")
    held = [(getattr(part, name), getattr(batch, name)) for name in names if getattr(part, name) is not None]
    assert held
    assert all(np.shares_memory(own, whole) for own, whole in held if whole.size)


def test_a_gpu_solves_few_large_blocks_apart_and_many_only_if_it_could_not_take_them_at_once():
    def large(shapes: Sequence[tuple[int, int]]) -> list[bool]:
        return choice.large_blocks(Problem.batch([Problem.dense(np.zeros(shape)) for shape in shapes]), "cuda").tolist()

    least, most = choice.LARGE["cuda"], choice.FEW_LARGE
    assert large([(least, least), (least - 1, least), (9, 9)]) == [True, False, False]
    wide = (least, choice.MOST_AT_ONCE + 1)
    assert large([(least, least)] * most + [wide]) == [False] * most + [True]


def test_blocks_on_a_gpu_change_to_another_solver_where_they_lie(monkeypatch: pytest.MonkeyPatch):
    be_the_device(monkeypatch)
    monkeypatch.setitem(choice.LARGE, "cuda", LARGE)
    solved, tried = solving._solved, []

    def give_up_classical(problem: Problem, solver: solving.Solver, device: str) -> Assignment:
        tried.append((problem.n_blocks, solver.name, device))
        if solver.name == "hungarian-classical":
            raise NotConverged("no end")
        return solved(problem, solver, "cpu")

    monkeypatch.setattr(solving, "_solved", give_up_classical)
    blocks = [Problem.dense(_independent(LARGE, k)) for k in range(2)]
    together = solve(Problem.batch(blocks), device="cuda")
    assert tried == [(1, "hungarian-classical", "cuda"), (1, "auction", "cuda")] * 2
    assert verify(Problem.batch(blocks), together).is_optimal


@pytest.mark.gpu
@pytest.mark.parametrize("there", ["host", "device"])
def test_large_hard_blocks_on_a_gpu(there: str):
    costs = [make(choice.LARGE["cuda"], 1) for make in (inner_products, machol_wien, _independent)]
    given = [cuda.cupy().asarray(cost) for cost in costs] if there == "device" else costs
    together = solve(Problem.batch([Problem.dense(cost) for cost in given]), device="cuda")
    assert cuda.is_device_array(together.col_of_row) == (there == "device")
    _assert_as_alone([Problem.dense(cost) for cost in costs], together.on_host())


def test_a_gpu_solves_any_number_of_large_blocks_apart_that_look_as_if_sorting_solves_them():
    n, many = choice.LARGE["cuda"], choice.FEW_LARGE + 1
    costs = [machol_wien(n, 1), _independent(n, 1)] * many
    apart = choice.large_blocks(Problem.batch([Problem.dense(cost) for cost in costs]), "cuda")
    assert apart.tolist() == [True, False] * many


def test_a_gpu_solves_few_smaller_blocks_apart_that_look_as_if_sorting_solves_them():
    few = choice.FEW_LARGE
    for many, is_apart in ((1, True), (few, True), (few + 1, False)):
        costs = [_independent(300, 1)] * 20 + [squared_on_a_line(300, 1)] * many
        apart = choice.large_blocks(Problem.batch([Problem.dense(cost) for cost in costs]), "cuda")
        assert apart.tolist() == [False] * 20 + [is_apart] * many


@pytest.mark.parametrize("unit", [1e-200, 1e200, 2**20])
def test_blocks_look_as_if_sorting_solves_them_in_any_unit(unit):
    n = choice.LARGE["cuda"]
    costs = [unit * machol_wien(n, 1).astype(type(unit)), unit * _independent(n, 1)] * (choice.FEW_LARGE + 1)
    apart = choice.large_blocks(Problem.batch([Problem.dense(cost) for cost in costs]), "cuda")
    assert apart.tolist() == [True, False] * (choice.FEW_LARGE + 1)
