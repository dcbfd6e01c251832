"""Jaqaman's two steps with the costs of TrackMate's LAP tracker, for tracks that must be the same as its.

First every pair of consecutive frames is linked by squared length. The chains that this makes, of two detections or
more, are segments, and a second assignment joins them: the end of one to the start of another some frames later (a
gap), to the middle of another in the next frame (a merge), and a middle to a start in the next frame (a division).
Detections that the first step leaves unlinked take no part in the second.

In both steps a link of cost c is worth a - c against both its ends unlinked. The alternative cost a is 1.05 times
the largest cost of the frame pair, and in the second step 1.05 times the 90th percentile of all costs. The unmatched
cost is half of it: what is linked pays `a` once more in the fourth block of Jaqaman's matrix (K. Jaqaman et al., Nature
Methods 5, 2008, with the simplifications of J.-Y. Tinevez et al., Methods 115, 2017). Where features have penalties,
lengths are everywhere those that `feature_penalties` makes of them, against the ranges too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from ...matching.solving import solve
from ..calibrating.digits import in_digits, in_unit
from ..errors import InvalidSetting
from ..links import ends_of, links_between, tracks_of
from ..points import Points
from ..stepwise import Step, Steps
from .feature_penalties import require_columns, times_as_far
from .frame_pairs.first_order import tracks_so_far
from .frame_pairs.pair_links import PairLinks
from .gate.candidates import CandidateLinks, WideGate, gated_pairs, in_runs
from .gate.fitting_range import give_shorter
from .gate.limits import GateLimits
from .gate.optimum import optimum
from .gate.spacing import automatic_range
from .motion.candidates.graph import Graph, candidates, merged
from .motion.detections.ordered import Ordered, ordered
from .result import Linking
from .settings import PENALTIES, SEGMENT_RANGES, LinkSettings
from .whole_movie.best_links import best_links

FACTOR = 1.05
"""Alternative cost over the cost that it is measured by."""
PERCENTILE = 0.9
"""Of the second step's costs: the one that its alternative cost is measured by."""
MISSED = 1
"""Frames that may be missed with "auto"."""


def jaqaman(
    points: Points,
    settings: LinkSettings,
    *,
    margins: bool = False,
    edge_budget: int | None = None,
) -> Steps[Linking]:
    """Link a movie in Jaqaman's two steps, each to proven optimality; see `link.link_steps`.

    Raises
    ------
    InvalidSetting
        If a feature with a penalty is no column of numbers, or links have penalties and more of one frame pair are
        within the search range than can be written out.
    """
    for name in PENALTIES:
        require_columns(points, getattr(settings, name), name)
    settings = _in_force(points, settings)
    made = PairLinks(settings, with_margins=margins, measured_on=points)
    pairs = int(np.count_nonzero(np.diff(points.frame_numbers) == points.frame_step))
    limits = GateLimits.within(settings.memory_budget, edge_budget, is_kept=True)
    for frames in in_runs(_nearer(points, settings, limits), limits):
        if isinstance(frames, WideGate):
            half = float(_half_of(_largest(frames)))
            made.add(*optimum(frames, "squared", half, settings.solver, settings.device))
        else:
            problem = frames.problem("squared", _half_alternative_cost(frames))
            made.add(frames, problem, solve(problem, settings.solver, settings.device))
        yield Step(made.frame_pairs, pairs + 1, partial(tracks_so_far, points, made))
    links = made.links(points.frame_step)()
    joined = _joined(points, links, settings, margins=margins)
    yield Step(pairs + 1, pairs + 1)
    links = pd.concat([links, joined.links], ignore_index=True) if len(joined.links) else links
    report = made.report() | {
        "candidate_links": made.candidate_links + joined.candidates,
        "solves": made.solves + 1,
        "gap": made.gap + joined.gap,
        "is_optimal": made.is_optimal and joined.is_optimal,
        "learned": _said(settings, joined, points.calibration.unit),
    }
    return Linking(tracks_of(points, *ends_of(links)), lambda: links, settings, None, report=report)


def _in_force(points: Points, settings: LinkSettings) -> LinkSettings:
    """Return the settings with numbers in place of "auto"."""
    search_range = automatic_range(points) if settings.search_range == "auto" else float(settings.search_range)
    missed = MISSED if settings.max_missed_frames == "auto" else int(settings.max_missed_frames)
    ranges = {name: getattr(settings, name) for name in SEGMENT_RANGES}
    ranges = {name: search_range if of == "auto" else float(of) for name, of in ranges.items()}
    return replace(settings, motion="none", search_range=search_range, max_missed_frames=missed, **ranges)


def _nearer(points: Points, settings: LinkSettings, limits: GateLimits) -> Iterator[CandidateLinks | WideGate]:
    """Yield the candidate links of each frame pair; one as long as the range is none, as in TrackMate's first step."""
    search_range = float(settings.search_range)
    for links in gated_pairs(points, search_range, limits):
        if isinstance(links, WideGate):
            if settings.link_penalties:
                raise InvalidSetting(
                    f"needs links that can be written out; from frame {links.earlier.number} to {links.later.number} "
                    f"more than {links.more_than} are within the search range of {in_digits(search_range, 4)}. "
                    f"{give_shorter(links)}.",
                    setting="link_penalties",
                )
            yield replace(links, radius=np.nextafter(search_range, 0.0))
            continue
        links = replace(links, distance=links.distance * times_as_far(points, settings.link_penalties, *links.ends))
        yield links.only(links.distance < search_range)


def _half_alternative_cost(links: CandidateLinks) -> tuple[np.ndarray, np.ndarray]:
    """Return the unmatched cost of each row and column, float64: half the alternative cost of its frame pair."""
    rows, cols = np.diff(links.row_offsets), np.diff(links.col_offsets)
    pair = np.repeat(np.repeat(np.arange(len(rows)), rows), np.diff(links.indptr))
    largest = np.zeros(len(rows))
    np.maximum.at(largest, pair, links.distance**2)
    half = _half_of(largest)
    return np.repeat(half, rows), np.repeat(half, cols)


def _largest(links: WideGate) -> float:
    """Return the largest cost of a frame pair whose links are not written out together."""
    return max(float(part.distance.max(initial=0.0)) for part in links.parts()) ** 2


def _half_of(largest: float | np.ndarray) -> np.ndarray:
    """Return half the alternative cost of frame pairs by their largest cost."""
    return 0.5 * FACTOR * np.where(largest > 0, largest, 1.0)  # where nothing moves any unmatched cost links


@dataclass(frozen=True)
class _Joined:
    """What the second step made.

    Attributes
    ----------
    links : DataFrame
        As `Linking.links`.
    candidates : int
    alternative_cost : float
        In the unit of the cost; NaN without candidates.
    gap : float
    is_optimal : bool
    """

    links: pd.DataFrame
    candidates: int
    alternative_cost: float
    gap: float
    is_optimal: bool


@dataclass(frozen=True)
class _Segments:
    """Which detections are what of a segment, bool (n,) each; none of them is one that was left unlinked."""

    start: np.ndarray
    middle: np.ndarray
    end: np.ndarray


def _joined(points: Points, links: pd.DataFrame, settings: LinkSettings, *, margins: bool) -> _Joined:
    """Join the segments that the links of the first step make."""
    movie = ordered(points)
    segments = _segments(movie, links)
    graph, square = _joins(points, movie, segments, settings)
    alternative = FACTOR * _percentile(square) if len(square) else np.nan
    worth = alternative - square
    if alternative == 0:  # nine in ten do not move: these are linked, and no others
        worth = np.where(square > 0, -np.inf, 1.0)
    answer = best_links(graph, worth, solver=settings.solver, device=settings.device)
    source, target = movie.row[answer.source], movie.row[answer.target]
    seconds = {"is_division": segments.middle[answer.source], "is_merge": segments.middle[answer.target]}
    made = links_between(points, source, target, np.nan, answer.margin if margins else np.nan, **seconds)
    proof = answer.proof
    return _Joined(made, len(graph), float(alternative), float(np.sum(proof.gap)), proof.is_optimal)


def _segments(movie: Ordered, links: pd.DataFrame) -> _Segments:
    """Return the parts of the segments in the movie's order."""
    followed, following = (np.isin(movie.row, end) for end in ends_of(links))
    return _Segments(followed & ~following, followed & following, following & ~followed)


def _joins(points: Points, movie: Ordered, segments: _Segments, settings: LinkSettings) -> tuple[Graph, np.ndarray]:
    """Return the candidates of the second step, and their squared lengths in the unit of the positions."""
    ranges = {name: float(getattr(settings, name)) for name in SEGMENT_RANGES}
    missed, none = int(settings.max_missed_frames), np.zeros(len(movie), bool)
    from_ends = (segments.start if missed else none) | (segments.middle if settings.merges else none)
    graphs = [_near(movie, 1, max(ranges["gap_closing_range"], ranges["merge_range"]), segments.end, from_ends)]
    if settings.divisions:
        graphs.append(_near(movie, 1, ranges["division_range"], segments.middle, segments.start))
    frames_in_all = int(movie.number[-1]) + 1 if len(movie) else 0
    lags = range(2, min(missed + 2, frames_in_all))
    graphs += [_near(movie, lag, ranges["gap_closing_range"], segments.end, segments.start) for lag in lags]
    graph = merged(graphs)
    at = points.positions[movie.row]
    square = ((at[graph.head] - at[graph.tail]) ** 2).sum(axis=1)
    is_division, is_merge = segments.middle[graph.tail], segments.middle[graph.head]
    longest = np.select([is_division, is_merge], [ranges["division_range"], ranges["merge_range"]])
    longest = np.where(is_division | is_merge, longest, ranges["gap_closing_range"])
    penalties = {"gap_closing_penalties": ~(is_division | is_merge), "division_penalties": is_division}
    for name, of in (penalties | {"merge_penalties": is_merge & ~is_division}).items():
        ends = movie.row[graph.tail[of]], movie.row[graph.head[of]]
        square[of] *= times_as_far(points, getattr(settings, name), *ends) ** 2
    near = square <= longest**2
    return graph.only(near), square[near]


def _near(movie: Ordered, lag: int, radius: float, tails: np.ndarray, heads: np.ndarray) -> Graph:
    """Return the pairs of some detections with others `lag` frames later, at most `radius` (physical) apart, or so."""
    place = np.where(tails[:, None], movie.position, np.nan)
    return candidates(movie, lag, radius / movie.spacing * (1 + 1e-9), place, heads)


def _percentile(costs: np.ndarray) -> float:
    """Return the cost at `PERCENTILE`, the nearest in rank."""
    return float(np.sort(costs)[int(np.floor(PERCENTILE * (len(costs) - 1) + 0.5))])


def _said(settings: LinkSettings, joined: _Joined, unit: str) -> list[str]:
    """Return how it was linked, in lines with units."""
    missed = settings.max_missed_frames
    lines = [
        f"Jaqaman's two steps, search range {in_unit(unit, settings.search_range, 4)}, up to {missed} missed "
        f"frame{'' if missed == 1 else 's'}"
    ]
    if joined.candidates:
        of = joined.links["kind"].value_counts()
        counts = ", ".join(f"{of[kind]} {kind}{'' if of[kind] == 1 else 's'}" for kind in of.index) or "none made"
        lines += [f"segments joined: {counts}; alternative cost {in_digits(joined.alternative_cost, 4)} {unit}²"]
    return lines
