"""What states a problem, and what is refused: every input has a defined answer."""

from __future__ import annotations

from dataclasses import fields
from typing import Literal

import numpy as np
import pytest
import scipy.sparse as sp

from auctrack.matching import InvalidProblem, Problem, choice, solve, verify
from auctrack.matching.hungarian import gpu_classical
from auctrack.matching.problem.selection import chosen

from ...refusals import refused
from ..cases import JV_FORMS

COST = np.array([[4, 1, 3], [2, 0, 5], [3, 2, 2]])
BEST = 5


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        (">f8", "float64"),
        (">f4", "float32"),
        ("bool", "int32"),
        ("int8", "int32"),
        ("uint8", "int32"),
        ("uint16", "int32"),
        ("int32", "int32"),
        (">i4", "int32"),
        ("uint32", "int64"),
        ("int64", "int64"),
        (">i8", "int64"),
        ("uint64", "int64"),
    ],
)
def test_real_types_are_kept_or_widened_dense_and_sparse(dtype: str, kept: str):
    cost = COST.astype(dtype)
    expected = 0 if dtype == "bool" else BEST
    if dtype == "bool":
        cost = COST > 2
    for problem in (
        Problem.dense(cost),
        Problem.sparse((np.arange(4) * 3, np.tile(np.arange(3), 3), cost.ravel()), shape=(3, 3)),
    ):
        assert problem.data.dtype == np.dtype(kept)
        assert problem.data.dtype.isnative
        assert solve(problem).cost == expected


@pytest.mark.parametrize("dtype", ["complex128", "object", "U3", "M8[s]", "longdouble"])
def test_other_types_are_refused(dtype: str):
    if dtype == "longdouble" and np.longdouble is np.float64:
        pytest.skip("long double is float64 on this platform")
    cost = np.ones((2, 2)).astype(int).astype(dtype)
    with pytest.raises(InvalidProblem, match="dtype"):
        Problem.dense(cost)
    with pytest.raises(InvalidProblem, match="dtype"):
        Problem.sparse((np.array([0, 1, 2]), np.array([0, 1]), cost[0]), shape=(2, 2))


def test_uint64_beyond_int64_is_refused():
    with pytest.raises(InvalidProblem, match="below 2\\*\\*63"):
        Problem.dense(np.array([[2**63]], dtype=np.uint64))


def _read_only(cost: np.ndarray) -> np.ndarray:
    cost = cost.copy()
    cost.setflags(write=False)
    return cost


LAYOUTS = {
    "fortran": np.asfortranarray,
    "every second": lambda cost: np.repeat(np.repeat(cost, 2, axis=0), 2, axis=1)[::2, ::2],
    "backwards": lambda cost: cost[::-1, ::-1].copy()[::-1, ::-1],
    "read-only": _read_only,
    "nested lists": np.ndarray.tolist,
    "broadcast": lambda cost: np.broadcast_to(cost, (1, *cost.shape))[0],
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS.keys())
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_any_memory_layout_is_read_right_and_never_written(layout, dtype: type):
    rng = np.random.default_rng(0)
    cost = rng.integers(0, 100, (5, 7)).astype(dtype)
    given = layout(cost)
    before = np.array(given)
    answer = solve(given, unmatched := "jv")
    assert unmatched == answer.solver
    np.testing.assert_array_equal(answer.col_of_row, solve(cost, "jv").col_of_row)
    np.testing.assert_array_equal(given, before)


def test_read_only_sparse_arrays_and_unmatched_costs_are_taken_and_never_written():
    parts = [_read_only(a) for a in (np.array([0, 2, 3]), np.array([1, 0, 1]), np.array([3.0, 2.0, 1.0]))]
    unmatched = _read_only(np.array([5.0, 6.0]))
    before = [a.copy() for a in (*parts, unmatched)]
    problem = Problem.sparse(tuple(parts), shape=(2, 2), unmatched_cost=(unmatched, unmatched))
    assert solve(problem).cost == 3.0
    for a, b in zip((*parts, unmatched), before, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("cost", "message"),
    [
        ([[1.0, np.nan]], r"cost\[0, 1\] .*nan"),
        ([[1.0, 2.0], [-np.inf, 1.0]], r"cost\[1, 0\] .*-inf"),
        ([1.0, 2.0], r"\(2,\)"),
        (3.0, r"\(\)"),
        (np.zeros((1, 1, 1, 1)), r"\(1, 1, 1, 1\)"),
        ([[1.0, 2.0], [3.0]], "array"),
        (np.zeros((0, 2, 2)), r"\(0, 2, 2\)"),
        ([[1e308, 0.0], [0.0, 1e308]], r"1e\+308"),
    ],
)
def test_dense_costs_that_state_no_problem_are_refused(cost, message: str):
    with refused(InvalidProblem, argument="cost", match=message):
        solve(cost)


def test_nan_in_a_later_block_is_named_by_its_row():
    cost = np.ones((2, 2, 3))
    cost[1, 0, 2] = np.nan
    with pytest.raises(InvalidProblem, match="nan"):
        Problem.dense(cost)


@pytest.mark.parametrize(
    "mask", [np.zeros((2, 3), bool), np.zeros((2, 2), int), np.zeros(4, bool), [[True], [False, True]]]
)
def test_a_mask_of_another_shape_or_type_is_refused(mask):
    with pytest.raises(InvalidProblem, match="forbidden"):
        Problem.dense([[1, 2], [3, 4]], forbidden=mask)


def test_integer_costs_are_taken_up_to_the_limit_and_refused_beyond():
    limit = 2**62 // (2 * 2 + 4)
    assert solve([[limit, -limit], [-limit, limit]]).cost == -2 * limit
    for beyond in (limit + 1, -limit - 1, np.iinfo(np.int64).min):
        with pytest.raises(InvalidProblem, match=f"±{limit}.*{abs(beyond)}"):
            Problem.dense([[beyond, 0], [0, 0]])


def test_unmatched_costs_that_would_overflow_summed_over_many_unassigned_columns_are_refused():
    cost = np.zeros((1, 1000), int)
    unmatched_cost = 2**62 // (1 + 1000 + 4)
    assert solve(Problem.dense(cost, unmatched_cost=unmatched_cost)).cost == 999 * unmatched_cost
    with pytest.raises(InvalidProblem, match=str(unmatched_cost + 1)):
        Problem.dense(cost, unmatched_cost=unmatched_cost + 1)


def test_integers_beside_a_fractional_unmatched_cost_must_fit_float64():
    assert solve(Problem.dense([[2**53]], unmatched_cost=0.5)).cost == 1.0
    with pytest.raises(InvalidProblem, match="unmatched_cost"):
        Problem.dense([[2**53 + 1]], unmatched_cost=0.5)


# -------------------------------------------------------------------- sparse

EDGES = np.array([0, 0, 1, 2, 2]), np.array([2, 0, 1, 1, 2]), np.array([5, 0, 0, 7, 1])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("family", ["array", "matrix"])
def test_every_scipy_format_is_taken(form: str, family: str):
    rows, cols, data = EDGES
    graph = getattr(sp, f"coo_{family}")((data + 1, (rows, cols)), shape=(3, 3)).asformat(form)
    assert solve(graph).cost == 1 + 1 + 2


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_stored_zero_is_an_edge(form: str):
    rows, cols, data = EDGES
    graph = sp.coo_array((data, (rows, cols)), shape=(3, 3)).asformat(form)
    answer = solve(graph)
    assert answer.cost == 1
    assert answer.col_of_row.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "graph", [sp.dia_array(np.eye(3)), sp.bsr_array(np.eye(4), blocksize=(2, 2))], ids=["dia", "bsr"]
)
def test_formats_that_pad_with_zeros_are_refused(graph):
    with refused(InvalidProblem, argument="graph", match=graph.format.upper()):
        solve(graph)


def test_a_sparse_matrix_is_not_stated_as_a_dense_one():
    with refused(InvalidProblem, argument="cost", match=r"Problem\.sparse"):
        Problem.dense(sp.csr_array(np.eye(2)))


def test_a_masked_array_is_refused_because_its_mask_would_be_lost():
    cost = np.ma.masked_array([[1.0, 2.0], [3.0, 4.0]], mask=[[True, False], [False, False]])
    with refused(InvalidProblem, argument="cost", match="forbidden="):
        solve(cost)


@pytest.mark.parametrize("shape", [(1,), (1, 1, 1), (1, -1), (1, 1.5), "ab", 1])
def test_a_shape_is_two_whole_numbers(shape):
    with refused(InvalidProblem, argument="shape"):
        Problem.sparse((np.array([0, 1]), np.array([0]), np.array([1.0])), shape=shape)


def test_unsorted_columns_are_taken():
    graph = np.array([0, 3, 5]), np.array([2, 0, 1, 1, 0]), np.array([1.0, 2.0, 9.0, 4.0, 3.0])
    problem = Problem.sparse(graph, shape=(2, 3))
    assert problem.indices is not None
    assert problem.indices.tolist() == [0, 1, 2, 0, 1]
    assert problem.data.tolist() == [2.0, 9.0, 1.0, 3.0, 4.0]
    assert graph[1].tolist() == [2, 0, 1, 1, 0]
    assert solve(problem).cost == 4.0


@pytest.mark.parametrize("index", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4", ">i8"])
def test_any_integer_type_of_index_is_taken(index):
    graph = np.array([0, 2, 3]).astype(index), np.array([0, 1, 0]).astype(index), np.array([1.0, 5.0, 2.0])
    problem = Problem.sparse(graph, shape=(2, 2))
    assert problem.indptr is not None
    assert problem.indices is not None
    assert (problem.indptr.dtype, problem.indices.dtype) == (np.int64, np.int32)
    assert solve(problem).cost == 7.0


TWICE_SORTED = np.array([0, 2]), np.array([1, 1]), np.array([1.0, 2.0])
TWICE_APART = np.array([0, 3]), np.array([1, 0, 1]), np.array([1.0, 2.0, 3.0])


@pytest.mark.parametrize("graph", [TWICE_SORTED, TWICE_APART], ids=["side by side", "apart"])
@pytest.mark.parametrize("form", ["tuple", "csr", "csc", "coo"])
def test_duplicate_edges_are_refused(graph: tuple, form: str):
    if form != "tuple":
        indptr, indices, data = graph
        rows = np.zeros(len(indices), int)
        if form == "csr":
            graph = sp.csr_array((data, indices, indptr), shape=(1, 2))
        elif form == "csc":
            order = np.argsort(indices, kind="stable")
            starts = np.searchsorted(indices[order], [0, 1, 2])
            graph = sp.csc_array((data[order], rows, starts), shape=(1, 2))
        else:
            graph = sp.coo_array((data, (rows, indices)), shape=(1, 2))
    with pytest.raises(InvalidProblem, match=r"row 0 .*column 1 "):
        Problem.sparse(graph, shape=(1, 2))


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_sparse_costs_must_be_finite(value: float):
    with pytest.raises(InvalidProblem, match=r"\(1, 0\)"):
        Problem.sparse((np.array([0, 1, 2]), np.array([0, 0]), np.array([1.0, value])), shape=(2, 2))


@pytest.mark.parametrize(
    ("indptr", "indices", "data", "named"),
    [
        ([0, 1], [2], [1.0], "indices"),
        ([0, 1], [-1], [1.0], "indices"),
        ([0, 1], [2**40], [1.0], "indices"),
        ([0, 2], [0], [1.0], "indptr"),
        ([1, 1], [0], [1.0], "indptr"),
        ([0, 2, 1], [0], [1.0], "indptr"),
        ([0.0, 1.0], [0], [1.0], "indptr"),
        ([], [0], [1.0], "indptr"),
        ([0, 1], [0], [1.0, 2.0], "graph"),
        ([0, 1], [0.0], [1.0], "graph"),
        ([0, 1], [[0]], [[1.0]], "graph"),
    ],
)
def test_malformed_csr_arrays_are_refused(indptr, indices, data, named: str):
    with refused(InvalidProblem, argument=named):
        Problem.sparse((np.array(indptr), np.array(indices), np.array(data)), shape=(len(indptr) - 1, 2))


def test_empty_lists_are_a_graph_without_edges():
    """NumPy makes floats of them, which are no indices where there is one."""
    assert solve(Problem.sparse(([0, 0, 0], [], []), unmatched_cost=1.5, shape=(2, 1))).cost == 4.5


def test_a_tuple_needs_a_shape_that_fits():
    graph = np.array([0, 1]), np.array([0]), np.array([1.0])
    with refused(InvalidProblem, argument="shape"):
        Problem.sparse(graph)
    with refused(InvalidProblem, argument="shape"):
        Problem.sparse(graph, shape=(2, 1))
    with refused(InvalidProblem, argument="graph"):
        Problem.sparse(graph[:2], shape=(1, 1))
    with refused(InvalidProblem, argument="graph"):
        Problem.sparse(np.ones((2, 2)))


@pytest.mark.parametrize(
    ("row_offsets", "col_offsets", "named"),
    [
        ([0, 1], [0, 2], "row_offsets"),
        ([0, 1, 2], [0, 2], ""),
        ([0, 2], None, "col_offsets"),
        ([1, 2], [0, 2], "row_offsets"),
        ([0, 2, 1, 2], [0, 1, 1, 2], "row_offsets"),
        ([0, 0.5, 2], [0, 1, 2], "row_offsets"),
    ],
)
def test_malformed_block_offsets_are_refused(row_offsets, col_offsets, named: str):
    graph = np.array([0, 1, 2]), np.array([0, 0]), np.array([1.0, 2.0])
    with refused(InvalidProblem, argument=named):
        Problem.sparse(graph, row_offsets=row_offsets, col_offsets=col_offsets)


def test_columns_of_a_sparse_batch_are_local_to_their_block():
    graph = np.array([0, 1, 2]), np.array([0, 1]), np.array([1, 2])
    answer = solve(Problem.sparse(graph, row_offsets=[0, 1, 2], col_offsets=[0, 1, 3]))
    assert answer.col_of_row.tolist() == [0, 1]
    assert answer.row_of_col.tolist() == [0, -1, 0]
    assert answer.cost.tolist() == [1, 2]
    with refused(InvalidProblem, argument="indices", match="column 1"):
        Problem.sparse(graph, row_offsets=[0, 1, 2], col_offsets=[0, 2, 3])


# -------------------------------------------------------------------- unmatched cost, points, batches


@pytest.mark.parametrize("unmatched_cost", [np.inf, -np.inf, np.nan, (1.0, np.inf), ([1.0, np.nan], 1.0)])
def test_unmatched_costs_must_be_finite(unmatched_cost):
    for state in (Problem.dense, lambda c, **u: Problem.sparse(sp.csr_array(c), **u)):
        with pytest.raises(InvalidProblem, match="finite"):
            state(np.ones((2, 3)), unmatched_cost=unmatched_cost)


@pytest.mark.parametrize(
    "unmatched_cost", [(1, 2, 3), ([1, 2, 3], 1), (1, [1, 2]), np.ones((2, 3)), "dear", (1.0, None)]
)
def test_unmatched_costs_must_fit_the_sides(unmatched_cost):
    with pytest.raises(InvalidProblem, match="unmatched_cost"):
        Problem.dense(np.ones((2, 3)), unmatched_cost=unmatched_cost)


def test_an_unmatched_cost_may_be_a_number_or_one_for_each_side_or_member():
    cost = np.full((2, 3), 100.0)
    unmatched = [(1, 5.0), ((1, 2), 8.0), (([1, 2], 3), 12.0), (([1, 2], [3, 4, 5]), 15.0)]
    for unmatched_cost, unassigned in unmatched:
        assert solve(Problem.dense(cost, unmatched_cost=unmatched_cost)).cost == unassigned


@pytest.mark.parametrize("metric", ["distance", "squared"])
@pytest.mark.parametrize("solver", ["auto", "auction", *JV_FORMS], ids=str)
def test_a_negative_unmatched_cost_rewards_unassigned_points(metric: Literal["distance", "squared"], solver: str):
    rng = np.random.default_rng(3)
    x, y = rng.random((30, 2)), rng.random((40, 2))
    rewarded = Problem.points(x, y, unmatched_cost=-1.0, metric=metric)
    assert solve(rewarded, solver, device="cpu").cost == -70.0
    uneven = Problem.points(x, y, unmatched_cost=(-0.1, 0.13), metric=metric)
    answer = solve(uneven, solver, device="cpu")
    assert verify(uneven, answer)
    assert 0 < answer.n_matched < 30
    squares = ((x[:, None] - y) ** 2).sum(axis=2)
    full = Problem.dense(squares if metric == "squared" else np.sqrt(squares), unmatched_cost=(-0.1, 0.13))
    assert answer.cost == pytest.approx(solve(full, "jv").cost, rel=1e-12)


@pytest.mark.parametrize(
    ("cost_type", "unmatched_cost", "integer"), [(int, 2, True), (int, 2.0, False), (float, 2, False)]
)
def test_integers_stay_integers_only_beside_an_integer_unmatched_cost(
    cost_type: type, unmatched_cost: float, integer: bool
):
    problem = Problem.dense(np.ones((2, 2), cost_type), unmatched_cost=unmatched_cost)
    assert problem.is_integer is integer
    assert isinstance(solve(problem).cost, int if integer else float)


@pytest.mark.parametrize(
    ("x", "y", "named", "match"),
    [
        (np.ones(3), np.ones((3, 1)), "x", r"\(3,\)"),
        (np.ones((3, 4)), np.ones((3, 4)), "x", r"\(3, 4\)"),
        (np.ones((3, 0)), np.ones((3, 0)), "x", r"\(3, 0\)"),
        (np.ones((3, 2)), np.ones((3, 3)), "", "2 .* 3"),
        ([[1.0, np.nan]], [[1.0, 1.0]], "x", r"x\[0\]"),
        ([[1.0, 1.0]], [[1.0, 1.0], [np.inf, 1.0]], "y", r"y\[1\]"),
        ([[1e200, 0.0]], [[0.0, 0.0]], "x", r"1e\+200"),
        ([[1e-141, 0.0]], [[0.0, 0.0]], "", "1e-141"),
        ([["a"]], [[1.0]], "x", "<U1"),
    ],
)
def test_points_that_state_no_problem_are_refused(x, y, named: str, match: str):
    with refused(InvalidProblem, argument=named, match=match):
        Problem.points(x, y)


def test_an_unknown_metric_is_refused():
    with pytest.raises(InvalidProblem, match="metric"):
        Problem.points([[0.0]], [[1.0]], metric="manhattan")  # pyright: ignore[reportArgumentType]


def test_a_batch_needs_problems_alike():
    dense, bounded = Problem.dense([[1.0]]), Problem.dense([[1.0]], unmatched_cost=1)
    sparse, points = Problem.sparse(sp.csr_array([[1.0]])), Problem.points([[0.0]], [[1.0]])
    with refused(InvalidProblem, argument="problems"):
        Problem.batch([])
    for other in (bounded, sparse, points):
        with refused(InvalidProblem, argument="problems"):
            Problem.batch([dense, other])


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_what_is_wrong_with_one_problem_of_a_batch_is_said_with_its_number(make):
    with pytest.raises(InvalidProblem, match=r"^problems\[1\]: (cost|data) .*nan") as refused:
        Problem.batch([make(np.eye(3)), make(np.array([[1.0, np.nan], [2.0, 3.0]]))])
    assert refused.value.argument


def test_a_stack_of_costs_and_plain_matrices_are_batches_too():
    stack = np.random.default_rng(0).random((3, 4, 5))
    stated = solve(Problem.batch([Problem.dense(cost) for cost in stack]))
    for given in (stack, list(stack), iter(stack.tolist())):
        np.testing.assert_array_equal(solve(Problem.batch(given)).col_of_row, stated.col_of_row)
    sparse = solve(Problem.batch([sp.csr_array(cost) for cost in stack]))
    np.testing.assert_allclose(sparse.cost, stated.cost)
    for wrong in (3, [1, 2], stack[0]):
        with pytest.raises(InvalidProblem):
            Problem.batch(wrong)


def test_blocks_of_a_batch_are_the_problems_it_was_made_of():
    rng = np.random.default_rng(0)
    parts = [Problem.dense(rng.random(shape), unmatched_cost=1) for shape in ((2, 3), (0, 1), (3, 1))]
    batch = Problem.batch(parts)
    assert batch.n_blocks == 3
    assert batch.shape == (5, 5)
    assert batch.n_edges == 6 + 0 + 3
    for block, part in zip(batch.blocks(), parts, strict=True):
        assert block.shape == part.shape
        np.testing.assert_array_equal(block.cost_matrix, part.cost_matrix)
        np.testing.assert_array_equal(block.row_unmatched, part.row_unmatched)
        np.testing.assert_array_equal(block.col_unmatched, part.col_unmatched)


@pytest.mark.parametrize("order", [slice(None), slice(None, None, -1)], ids=["first", "last"])
def test_pairs_that_one_block_of_a_batch_forbids_stay_forbidden(order: slice):
    cost = np.array([[0.0, 9.0], [9.0, 0.0]])
    parts = [Problem.dense(cost, forbidden=np.eye(2, dtype=bool)), Problem.dense(cost)]
    batch = Problem.batch(parts[order])
    assert solve(batch, "jv").cost.tolist() == [18.0, 0.0][order]


@pytest.mark.parametrize("unmatched_cost", [None, 1.5])
@pytest.mark.parametrize("kind", ["dense", "dense, some forbidden", "sparse", "points"])
def test_chosen_blocks_are_the_batch_of_those_blocks(kind: str, unmatched_cost: float | None):
    rng = np.random.default_rng(1)
    make = {
        "dense": lambda n, m: Problem.dense(rng.random((n, m)), unmatched_cost=unmatched_cost),
        "dense, some forbidden": lambda n, m: Problem.dense(
            rng.random((n, m)), forbidden=rng.random((n, m)) < 0.5, unmatched_cost=unmatched_cost
        ),
        "sparse": lambda n, m: Problem.sparse(sp.random_array((n, m), density=0.5), unmatched_cost=unmatched_cost),
        "points": lambda n, m: Problem.points(rng.random((n, 2)), rng.random((m, 2)), unmatched_cost=unmatched_cost),
    }[kind]
    batch = Problem.batch([make(*shape) for shape in ((2, 3), (4, 1), (0, 2), (3, 5))])
    for blocks in ([3, 0], [2], [1, 2, 3]):
        expected, found = Problem.batch([batch.block(b) for b in blocks]), chosen(batch, blocks)
        for field in fields(Problem):
            np.testing.assert_array_equal(getattr(found, field.name), getattr(expected, field.name), field.name)


# -------------------------------------------------------------------- solve's own arguments


def test_unknown_solvers_options_and_devices_are_refused():
    with refused(InvalidProblem, argument="solver"):
        solve(COST, "munkres")
    with refused(InvalidProblem, argument="eps", match="jv"):
        solve(COST, "jv", eps=1)
    with refused(InvalidProblem, argument="unmatched_cost", match=r"Problem\.dense\(cost, unmatched_cost=…\)"):
        solve(COST, unmatched_cost=1)
    with refused(InvalidProblem, argument="device"):
        solve(COST, device="tpu")
    with refused(InvalidProblem, argument="maximise", match=r"Did you mean maximize\?$"):
        solve(COST, maximise=True)


def test_an_explicit_device_never_falls_back():
    from auctrack.matching import DeviceUnavailable

    with pytest.raises(DeviceUnavailable, match="jv"):
        solve(COST, "jv", "cuda")


def test_a_solver_may_be_an_instance_with_its_options():
    from auctrack.matching import JV

    assert solve(COST, JV()).cost == BEST
    with pytest.raises(InvalidProblem, match="instance"):
        solve(COST, JV(), eps=1)


@pytest.mark.parametrize(
    ("problem", "chosen"),
    [
        (Problem.dense(COST), "jv"),
        (Problem.sparse(sp.csr_array(COST + 1)), "auction"),
        (Problem.sparse(sp.csr_array(COST + 1), unmatched_cost=1), "jv"),
        (Problem.points([[0.0]], [[1.0]], unmatched_cost=1), "jv"),
        (Problem.points(np.arange(300.0)[:, None], np.arange(300.0)[:, None], unmatched_cost=100), "auction"),
        (Problem.points([[0.0]], [[1.0]]), "jv"),
        (Problem.points(np.arange(300.0)[:, None], np.arange(300.0)[:, None]), "sorting"),
    ],
)
def test_auto_follows_its_documented_rule_and_says_so(problem: Problem, chosen: str):
    answer = solve(problem, device="cpu")
    assert answer.solver == chosen
    assert answer.device == "cpu"
    assert answer.stats["auto"]


def test_auto_sends_large_problems_to_a_gpu_that_is_there(monkeypatch: pytest.MonkeyPatch):
    """What would be asked of the GPU: nothing is solved here."""
    small, large = (Problem.points(np.zeros((n, 3)), np.zeros((n, 3))) for n in (100, 5000))
    monkeypatch.setattr(choice.cuda, "is_available", lambda: True)
    assert choice.choose(large, "auto")[:2] == ("auction", "cuda")
    assert choice.choose(small, "auto")[:2] == ("jv", "cpu")
    assert choice.choose(large, "cpu")[:2] == ("auction", "cpu")
    assert choice.choose(small, "cuda:1")[:2] == ("auction", "cuda:1")
    monkeypatch.setattr(choice.cuda, "is_available", lambda: False)
    assert choice.choose(large, "auto")[:2] == ("auction", "cpu")


@pytest.mark.parametrize(
    ("problem", "chosen"),
    [
        (Problem.dense(np.zeros((3, 3))), "hungarian-classical"),
        (Problem.dense(np.zeros((3, 4))), "hungarian-classical"),
        (Problem.dense(np.zeros((5, 150, 150))), "hungarian-tree"),
        (Problem.dense(np.zeros((5, 150, 151))), "hungarian-classical"),
        (Problem.batch([Problem.dense(np.zeros((2, 3))), Problem.dense(np.zeros((151, 2)))]), "hungarian-classical"),
        (Problem.dense(np.zeros((3, 3)), unmatched_cost=1), "hungarian-classical"),
        (Problem.sparse(sp.csr_array(COST + 1)), "hungarian-tree"),
        (Problem.sparse(sp.csr_array(COST + 1), unmatched_cost=1), "auction"),
        (Problem.points([[0.0]], [[1.0]]), "auction"),
    ],
)
def test_auto_on_a_gpu_takes_the_classical_method_for_matrices_and_trees_for_small_ones_and_graphs_matched_whole(
    problem: Problem, chosen: str
):
    assert choice.choose(problem, "cuda")[:2] == (chosen, "cuda")


def test_auto_on_a_gpu_takes_the_auction_for_more_rows_than_the_classical_method_does(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(gpu_classical, "MOST_ROWS", 3)
    assert choice.choose(Problem.dense(np.zeros((2, 3)), unmatched_cost=1), "cuda")[0] == "hungarian-classical"
    assert choice.choose(Problem.dense(np.zeros((3, 2)), unmatched_cost=1), "cuda")[0] == "auction"


def test_auto_on_several_gpus_takes_the_classical_method():
    for problem in (Problem.dense(np.zeros((3, 4))), Problem.dense(np.zeros((3, 3)), unmatched_cost=1)):
        assert choice.choose(problem, "cuda:0,cuda:1")[0] == "hungarian-classical"


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_integers_that_would_lose_digits_beside_real_costs_are_not_put_into_one_batch(device):
    array = np.array if device == "cpu" else pytest.importorskip("cupy").array
    real = Problem.dense(array([[0.5]]))
    costs = solve(Problem.batch([Problem.dense(array([[2**53]])), real])).cost
    assert costs.tolist() == [2.0**53, 0.5]
    with refused(InvalidProblem, argument="cost", match=str(2**53 + 1)):
        Problem.batch([Problem.dense(array([[2**53 + 1]])), real])


def test_a_batch_of_one_is_answered_as_the_problem_by_itself():
    """Such callers as do not know how many there are have numbers for each block by `atleast_1d`."""
    for parts in ([[[3]]], [[[3]], [[4]]]):
        answer = solve(Problem.batch(parts))
        assert np.atleast_1d(answer.cost).tolist() == [3, 4][: len(parts)]
        assert np.atleast_1d(verify(Problem.batch(parts), answer).gap).tolist() == [0] * len(parts)
    assert solve(Problem.batch([[[3]]])).cost == solve([[3]]).cost


def test_a_batch_may_come_from_a_generator():
    assert solve(Problem.batch(Problem.dense([[k]]) for k in range(3))).cost.tolist() == [0, 1, 2]


def test_a_problem_is_shown_without_its_arrays():
    points = np.zeros((4, 3))
    shown = {
        "<Problem dense 3 x 3, int64>": Problem.dense(COST),
        "<Problem dense 6 x 6 in 2 blocks, int64>": Problem.batch([Problem.dense(COST)] * 2),
        "<Problem sparse 3 x 3, 9 pairs, int64, unmatched_cost>": Problem.sparse(
            sp.csr_array(COST + 1), unmatched_cost=3
        ),
        "<Problem points 4 x 4, float64>": Problem.points(points, points),
    }
    assert {repr(problem): problem for problem in shown.values()} == shown
