"""What links are worth by a truth: steps, gaps and divisions each by themselves, and how far probabilities hold."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....tracker.points import Points
from ....tracker.scoring.agreement import Agreement
from ..measure.harness import Facts, WrongAnswer
from .movies import LinkingInput

UNKNOWN = -2
"""`true_id` of a detection of which the truth says nothing: its links are not judged."""
BINS = 20
"""Bins of equal numbers of links over which probabilities are held to the share of right links."""
LEAST_SURE = 0.05
"""Share of the links that is looked at for errors first."""


def link_facts(given: LinkingInput, links: Any, probability: np.ndarray | None = None) -> Facts:
    """Return how right links are, and, where they have probabilities, how far these hold.

    Right is a link from one appearance of a particle to its next. Links from a parent to its child are divisions:
    these are judged apart, and right where parent and both children are. Probabilities are held to all links, of which
    those from a parent to its child are right.

    Parameters
    ----------
    given : LinkingInput
        With `true_id`, and `parent_id` where particles divide.
    links : int array (k, 2)
        Rows of the table, earlier and later end.
    probability : float64 (k,), optional

    Raises
    ------
    WrongAnswer
        If a detection has two links into it, or two out of it where nothing divides.
    """
    links = np.asarray(links, np.int64).reshape(-1, 2)
    _require_one_to_one(links, divides=given.divides)
    points, who, frames = given.points, _who(given.points), given.points.frames
    known, lineage = (who[links] != UNKNOWN).all(axis=1), _is_lineage(points, links)
    judged = known & ~lineage
    made, real = links[judged], _real_links(who, frames)
    right = np.isin(_keys(made, len(points)), _keys(real, len(points)))
    spans, real_spans = (frames[pairs[:, 1]] - frames[pairs[:, 0]] for pairs in (made, real))
    steps, gaps = _agreement(real_spans == 1, spans == 1, right), _agreement(real_spans > 1, spans > 1, right)
    both = _agreement(real_spans > 0, spans > 0, right)
    facts: dict[str, Any] = {"f1": steps.f1, "f1_with_gaps": both.f1}
    if gaps.real:
        facts |= {"gap_recall": gaps.recall, "gap_precision": gaps.precision if gaps.predicted else None}
    if given.divides:
        facts["division_f1"] = _divisions(points, links).f1
    if probability is not None:
        trusted = lineage.copy()
        trusted[judged] = right
        facts |= _trust(trusted[known], probability[known])
    return facts


def _agreement(real: np.ndarray, made: np.ndarray, right: np.ndarray) -> Agreement:
    return Agreement(int(real.sum()), int(made.sum()), int((made & right).sum()))


def _require_one_to_one(links: np.ndarray, *, divides: bool) -> None:
    ends = links[:, 1:].T if divides else links.T
    if any(len(np.unique(end)) != len(end) for end in ends):
        raise WrongAnswer("a detection has two links on one side")


def _who(points: Points) -> np.ndarray:
    return points.table["true_id"].to_numpy(np.int64)


def _keys(links: np.ndarray, n: int) -> np.ndarray:
    return links[:, 0] * n + links[:, 1]


def _real_links(who: np.ndarray, frames: np.ndarray) -> np.ndarray:
    """Return the appearances of each particle and their next, int64 (k, 2)."""
    order = np.lexsort((frames, who))
    order = order[who[order] >= 0]
    return np.column_stack([order[:-1], order[1:]])[who[order[1:]] == who[order[:-1]]]


def _parents(points: Points) -> dict[int, int]:
    """Return the parent of each particle that has one."""
    if "parent_id" not in points.table:
        return {}
    child, parent = (points.table[name].to_numpy(np.int64) for name in ("true_id", "parent_id"))
    return {int(a): int(b) for a, b in zip(child, parent, strict=True) if b >= 0}


def _is_lineage(points: Points, links: np.ndarray) -> np.ndarray:
    """Mark links from a parent, or from its parent, to a child, bool (links,)."""
    parent, who = _parents(points), _who(points)
    if not parent:
        return np.zeros(len(links), bool)
    names = np.unique(who)
    above = np.array([parent.get(name, UNKNOWN) for name in names.tolist()])
    above_that = np.array([parent.get(name, UNKNOWN) for name in above.tolist()])
    place = np.searchsorted(names, who[links[:, 1]])
    return (who[links[:, 0]] == above[place]) | (who[links[:, 0]] == above_that[place])


def _divisions(points: Points, links: np.ndarray) -> Agreement:
    """Count divisions into two in consecutive frames: real, found, and found with both children."""
    who = _who(points)
    order = np.lexsort((points.frames, who))
    names, first, count = np.unique(who[order], return_index=True, return_counts=True)
    begins = dict(zip(names.tolist(), order[first].tolist(), strict=True))
    ends = dict(zip(names.tolist(), order[first + count - 1].tolist(), strict=True))
    births = [(ends[parent], begins[child]) for child, parent in _parents(points).items() if parent in ends]
    real, found = _pairs_of_children(points, births), _pairs_of_children(points, links.tolist())
    return Agreement(len(real), len(found), sum(found.get(mother) == children for mother, children in real.items()))


def _pairs_of_children(points: Points, links: list[Any]) -> dict[int, set[int]]:
    """Return the two rows that follow a row in the next frame, where two do."""
    children: dict[int, set[int]] = {}
    for mother, child in links:
        if points.frames[child] - points.frames[mother] == 1:
            children.setdefault(mother, set()).add(child)
    return {mother: pair for mother, pair in children.items() if len(pair) == 2}


def _trust(right: np.ndarray, probability: np.ndarray) -> dict[str, Any]:
    """Return how many links are wrong, how many were expected to be, and where they are."""
    order = np.argsort(probability, kind="stable")
    wrong, doubt = ~right[order], 1 - probability[order]
    bins = [part for part in np.array_split(np.arange(len(order)), BINS) if len(part)]
    curve = [(float(doubt[part].mean()), float(wrong[part].mean())) for part in bins]
    sizes = [len(part) / len(order) for part in bins]
    first = round(LEAST_SURE * len(order))
    return {
        "wrong": int(wrong.sum()),
        "expected_wrong": float(doubt.sum()),
        "calibration_error": sum(
            size * abs(expected - real) for size, (expected, real) in zip(sizes, curve, strict=True)
        ),
        "among_least_sure": float(wrong[:first].sum() / wrong.sum()) if wrong.any() else None,
        "reliability": curve,
    }
