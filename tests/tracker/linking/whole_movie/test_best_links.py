"""One assignment for the whole movie, against an integer program.

A thousand movies in the ordinary run; `AUCTRACK_FUZZ=10000` before `pytest` and this file's name: more.
"""

import os

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from auctrack.tracker.linking.motion.candidates.graph import Graph
from auctrack.tracker.linking.whole_movie import pairs_once
from auctrack.tracker.linking.whole_movie.best_links import best_links
from auctrack.tracker.linking.whole_movie.seams import Proven

MOVIES_OF_A_KIND = -(-int(os.environ.get("AUCTRACK_FUZZ", "1000")) // 3)


def random_movie(rng: np.random.Generator) -> tuple[Graph, np.ndarray]:
    """Candidates over one and two frames among a few detections, and their weights."""
    frame = np.repeat(np.arange(4), rng.integers(2, 6, 4))
    lag = frame[None, :] - frame[:, None]
    tail, head = np.nonzero((lag >= 1) & (lag <= 2) & (rng.random(lag.shape) < 0.7))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(frame)))])
    graph = Graph(indptr, head.astype(np.int32), lag[tail, head].astype(np.int8), np.zeros((len(tail), 3)))
    return graph, rng.normal(1.0, 2.0, len(tail))


def integer_program(graph: Graph, weight, division=None, merge=None) -> float:
    """Largest sum of weights: at most one first link a tail and a head; second ones only beside a first."""
    m, n = len(graph), graph.n
    out, into = np.zeros((n, m)), np.zeros((n, m))
    out[graph.tail, np.arange(m)] = 1
    into[graph.head, np.arange(m)] = 1
    none = np.full(m, -1e3)
    second, joined = (none if extra is None else np.minimum(extra, weight) for extra in (division, merge))
    zero = np.zeros_like(out)
    rows = [
        np.hstack([out, zero, out]),  # first links out of each tail
        np.hstack([-out, out, -out]),  # a second daughter needs a first
        np.hstack([into, into, zero]),  # first links into each head
        np.hstack([-into, -into, into]),  # a second parent needs a first
        np.tile(np.eye(m), 3),  # no pair is linked twice
    ]
    high = np.concatenate([np.repeat([1.0, 0.0, 1.0, 0.0], n), np.ones(m)])
    cost = -np.concatenate([weight, second, joined])
    found = milp(
        cost,
        constraints=LinearConstraint(np.vstack(rows), -np.inf, high),
        integrality=np.ones(3 * m),
        bounds=Bounds(0, 1),
    )
    return -found.fun


@pytest.mark.parametrize("kind", ["gaps", "divisions", "merges"])
def test_it_reaches_the_optimum_of_an_integer_program(kind: str):
    rng = np.random.default_rng(len(kind))
    for _ in range(MOVIES_OF_A_KIND):
        graph, weight = random_movie(rng)
        second = np.where(rng.random(len(weight)) < 0.8, weight - rng.exponential(1.0, len(weight)), -np.inf)
        division = second if kind == "divisions" else None
        merge = second if kind == "merges" else None
        answer = best_links(graph, weight, division, merge)
        assert answer.proof.is_optimal
        finite = np.where(np.isfinite(second), second, -1e3)
        best = integer_program(
            graph, weight, finite if division is not None else None, finite if merge is not None else None
        )
        assert -answer.proof.cost == pytest.approx(best, abs=1e-9)


def both_copies(rng: np.random.Generator):
    """A movie whose particles may divide and merge, and what its best links are worth, no pair taken twice."""
    graph, weight = random_movie(rng)
    division, merge = (np.where(graph.lag == 1, weight - rng.exponential(1.0, len(weight)), -1e3) for _ in "dm")
    answer = best_links(graph, weight, division, merge)
    assert len(np.unique(answer.source * graph.n + answer.target)) == len(answer.source)
    return answer, integer_program(graph, weight, division, merge)


def test_with_divisions_and_merges_it_is_the_best_in_which_no_pair_is_linked_twice():
    rng = np.random.default_rng(17)
    for _ in range(MOVIES_OF_A_KIND):
        answer, best = both_copies(rng)
        assert answer.proof.is_optimal
        assert answer.shortfall == 0
        assert -answer.proof.cost == pytest.approx(best, abs=1e-9)


def test_where_too_much_hangs_together_the_answer_says_how_far_from_the_best_it_may_be(monkeypatch):
    monkeypatch.setattr(pairs_once, "MOST_PROGRAMMED", 0)
    rng, shortfalls = np.random.default_rng(18), []
    for _ in range(60):
        answer, best = both_copies(rng)
        assert -answer.proof.cost - 1e-9 <= best <= answer.shortfall - answer.proof.cost + 1e-9
        assert Proven.of(answer).is_optimal == (answer.shortfall < 1e-9)
        shortfalls.append(answer.shortfall)
    assert max(shortfalls) > 0


def test_a_second_link_never_stands_without_a_first():
    rng = np.random.default_rng(5)
    for _ in range(40):
        graph, weight = random_movie(rng)
        answer = best_links(graph, weight, weight)  # a division is worth as much as a link: all ties
        firsts = set(answer.source[~answer.is_second].tolist())
        assert set(answer.source[answer.is_second].tolist()) <= firsts
        assert len(firsts) == (~answer.is_second).sum()


@pytest.mark.parametrize("kind", ["gaps", "divisions", "merges"])
def test_a_margin_is_what_the_answer_loses_without_the_link(kind: str):
    """Where particles divide or merge, other links keep their places as firsts and seconds, which may cost more."""
    rng, exact = np.random.default_rng(3), []
    for _ in range(10):
        graph, weight = random_movie(rng)
        second = np.where(rng.random(len(weight)) < 0.5, weight, weight - rng.exponential(1.0, len(weight)))
        division, merge = (second if kind == of else None for of in ("divisions", "merges"))
        answer = best_links(graph, weight, division, merge)
        for source, target, margin in zip(answer.source, answer.target, answer.margin, strict=True):
            without = np.where((graph.tail == source) & (graph.head == target), -1.0, weight)
            loss = best_links(graph, without, division, merge).proof.cost - answer.proof.cost
            assert loss <= margin + 1e-9
            exact.append(loss == pytest.approx(margin, abs=1e-9))
    assert np.mean(exact) > 0.9 if kind != "gaps" else all(exact)
