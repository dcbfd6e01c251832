"""Windows joined: one assignment for the movie, whatever hangs together across seams."""

from itertools import pairwise

import numpy as np
import pytest

from auctrack.tracker.linking.motion.candidates.graph import Graph
from auctrack.tracker.linking.motion.detections.ordered import Ordered
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.whole_movie.best_links import best_links
from auctrack.tracker.linking.whole_movie.seams import MadeLinks, Seams
from auctrack.tracker.linking.whole_movie.windows import windows_of

LAGS = 3


def movie_of(sizes) -> Ordered:
    """Frames of so many detections, nowhere in particular."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    n, frames = int(starts[-1]), len(sizes)
    rows, nowhere = np.arange(n), np.zeros((n, 2))
    return Ordered(
        nowhere, np.arange(frames), starts, rows, rows, 1.0, np.zeros(2), np.zeros((frames, 2)), 0.0, np.zeros(2)
    )


def candidates_of(movie: Ordered, rng) -> tuple[Graph, np.ndarray]:
    """Candidates over up to three frames, so many that nearly all hang together, and their weights."""
    frame = movie.frame
    lag = frame[None, :] - frame[:, None]
    tail, head = np.nonzero((lag >= 1) & (lag <= LAGS) & (rng.random(lag.shape) < 0.5))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(frame)))])
    steps = np.zeros((len(tail), 2))
    return Graph(indptr, head.astype(np.int32), lag[tail, head].astype(np.int32), steps), rng.normal(0, 2, len(tail))


def part_of(graph: Graph, first: int, last: int) -> tuple[Graph, np.ndarray]:
    """The candidates between some detections, and which they are."""
    inside = (graph.tail >= first) & (graph.tail < last) & (graph.head < last)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(graph.tail[inside] - first, minlength=last - first))])
    return Graph(indptr, graph.head[inside] - first, graph.lag[inside], graph.step[inside]), inside


def joined(movie: Ordered, graph: Graph, weight, second, closed) -> tuple[Seams, int]:
    """The links by windows of some ten detections, every candidate as in the whole movie; and the number of windows."""
    seams = Seams(movie, closed, LinkSettings(divisions=second is not None))
    windows = windows_of(movie, 10, LAGS)
    for window in windows:
        first, begin, last = movie.starts[[window.first, window.begin, window.last]]
        part, inside = part_of(graph, first, last)
        own = np.where(part.tail + first >= begin, weight[inside], -np.inf)
        ends = tuple(side.reshape(-1, len(movie))[:, first:last].ravel() for side in closed)
        answer = best_links(part, own, None if second is None else second[inside], closed=ends)
        seams.add(window, answer, np.zeros(len(answer.source)))
    return seams, len(windows)


def sure(links: MadeLinks) -> dict[tuple[int, int], float]:
    ends = zip(links.source.tolist(), links.target.tolist(), strict=True)
    return dict(zip(ends, links.margin.tolist(), strict=True))


@pytest.mark.parametrize("kind", ["gaps", "divisions", "closed ends"])
def test_they_are_the_best_links_of_the_whole_movie_and_proven(kind):
    rng = np.random.default_rng(3)
    for _ in range(40):
        movie = movie_of(rng.integers(0 if kind == "gaps" else 1, 5, 40))
        graph, weight = candidates_of(movie, rng)
        second = weight - rng.exponential(1.0, len(weight)) if kind == "divisions" else None
        closed = tuple(
            rng.random(len(movie) * (1 + (second is not None and side == 0))) < 0.1 * (kind == "closed ends")
            for side in (0, 1)
        )
        whole = best_links(graph, weight, second, closed=closed)
        seams, windows = joined(movie, graph, weight, second, closed)
        found = sure(seams.links())
        assert windows > 1
        assert len(seams.proofs) > windows  # something was held back
        assert all(proof.is_optimal for proof in seams.proofs)
        expected = dict(
            zip(zip(whole.source.tolist(), whole.target.tolist(), strict=True), whole.margin.tolist(), strict=True)
        )
        assert found.keys() == expected.keys()
        assert list(found.values()) == pytest.approx([expected[link] for link in found], abs=1e-9)
        np.testing.assert_array_equal(np.sort(seams.links().is_second), np.sort(whole.is_second))


def test_every_detections_links_are_taken_from_one_window():
    rng = np.random.default_rng(0)
    for lags in (1, 2, 4):
        movie = movie_of(rng.integers(0, 9, 200))
        windows = windows_of(movie, 400, lags)
        assert [window.end for window in windows[:-1]] == [window.begin for window in windows[1:]]
        assert (windows[0].begin, windows[-1].end) == (0, 200)
        for earlier, later in pairwise(windows):
            assert earlier.end - later.first >= lags
            assert earlier.last - earlier.end >= lags
            assert len(movie.part(earlier.first, earlier.last)) <= 400


def test_links_that_windows_do_not_agree_on_are_counted():
    """Two detections a frame; after the first window all others would have them crossed."""
    movie = movie_of([2] * 60)
    frame = movie.frame
    tail, head = np.nonzero(frame[None, :] - frame[:, None] == 1)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(tail, minlength=len(frame)))])
    graph = Graph(indptr, head.astype(np.int32), np.ones(len(tail), np.int32), np.zeros((len(tail), 2)))
    straight = (head - tail == 2).astype(float)
    closed = np.zeros(120, bool), np.zeros(120, bool)
    windows = windows_of(movie, 28, 1)
    for crossed in (False, True):
        seams = Seams(movie, closed, LinkSettings())
        for k, window in enumerate(windows):
            first, begin, last = movie.starts[[window.first, window.begin, window.last]]
            part, inside = part_of(graph, first, last)
            weight = (1 - straight if k and crossed else straight)[inside]
            answer = best_links(part, np.where(part.tail + first >= begin, weight, -np.inf))
            seams.add(window, answer, np.zeros(len(answer.source)))
        either, one = seams.differences()
        assert (one > 0) == crossed
        assert either > one
