"""First order: every pair of consecutive frames is a matching problem of its own, and lengths are all that counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ....matching.jit.threads import one_ahead
from ...links import ids_of_chains
from ...points import Points, Tracks
from ...stepwise import Step, Steps, on_device
from ..constraints import NOTHING_GIVEN, Constraints
from ..gate.candidates import CandidateLinks, Frame, WideGate, frame_pairs, gate, gated_pairs, in_runs
from ..gate.limits import GateLimits
from ..gate.optimum import optimum
from ..gate.spacing import automatic_range
from ..hooks import Hooks, hooks_of
from ..result import Linking
from ..settings import LinkSettings
from ..solution import KeepSolution
from ..unmatched_cost.measured import UnmatchedCost, measured_unmatched_cost
from ..whole_movie.link_gain import LengthGain
from .gpu_frame_pairs import link_on_gpu, takes_gpu
from .hooked_pairs import expected_frame, with_further_costs
from .open_pairs import open_pairs
from .pair_links import PairLinks
from .pair_solutions import PairSolutions


def first_order(
    points: Points,
    settings: LinkSettings,
    *,
    margins: bool = False,
    edge_budget: int | None = None,
    constraints: Constraints = NOTHING_GIVEN,
    keeping: KeepSolution = KeepSolution.NOTHING,
) -> Steps[Linking]:
    """Link particles from frame to frame, each frame pair to proven optimality; see `link.link_steps`."""
    search_range = automatic_range(points) if settings.search_range == "auto" else float(settings.search_range)
    hooks = hooks_of(points, settings)
    unmatched_cost = unmatched_cost_of(points, settings, search_range, _expected(hooks))
    # A link that costs more than leaving both its ends unlinked is never made, so it need not be a candidate. With a
    # further cost, which may be below 0, length does not say what it costs.
    longest = min(search_range, unmatched_cost.longest) if settings.extra_cost is None else search_range
    made = PairLinks(settings, with_margins=margins, measured_on=None if hooks is None else points)
    solutions = PairSolutions(len(points), keeping)
    is_plain = not (constraints or keeping is KeepSolution.ALWAYS or margins or hooks)
    ids, cost = None, unmatched_cost.in_costs(settings.cost)
    if is_plain and takes_gpu(points, settings):
        device = "cuda" if settings.device == "auto" else settings.device
        ids = yield from on_device(link_on_gpu(points, settings, unmatched_cost, longest, made), device)
    is_on_host = ids is None
    if is_on_host:
        n_pairs = int(np.count_nonzero(np.diff(points.frame_numbers) == points.frame_step))
        half, is_kept = settings.memory_budget / 2, not (is_plain and keeping is KeepSolution.NOTHING)
        limits = GateLimits.within(half, edge_budget, is_kept=is_kept)  # of what is solved, and what is gated ahead
        gated = _gated(points, longest, limits, hooks, constraints)
        if hooks is not None and hooks.extra_cost is not None:
            gated = with_further_costs(gated, hooks, settings.cost, cost)
        runs = in_runs(gated, limits)
        # What users call is called in their thread.
        for run in one_ahead(runs) if hooks is None else runs:
            answered = optimum(run, settings.cost, cost, settings.solver, settings.device)
            made.add(*answered)
            solutions.add(*answered)
            yield Step(made.frame_pairs + 1, n_pairs + 1, partial(tracks_so_far, points, made), device=made.device)
        if len(constraints.pinned):
            made.add_pinned(points, constraints.pinned)
    if ids is None:
        ids = ids_of_chains(points.frames, made.before(len(points)))
    tracks = points.with_track_ids(ids)
    effective = replace(
        settings, search_range=search_range, unmatched_cost=unmatched_cost.distance, max_missed_frames=0
    )
    gain = LengthGain(longest, settings.cost, cost)
    links, report = made.links(points.frame_step), made.report()
    solution = solutions.solution(gain) if is_on_host else None
    return Linking(tracks, links, effective, unmatched_cost, report=report, solution=solution)


def _expected(hooks: Hooks | None) -> Callable[[Frame, int], Frame] | None:
    """Return where a user's function expects the particles of a frame; None where there is none."""
    return None if hooks is None or hooks.predict is None else partial(expected_frame, hooks)


def _gated(
    points: Points, longest: float, limits: GateLimits, hooks: Hooks | None, constraints: Constraints
) -> Iterator[CandidateLinks | WideGate]:
    """Return the candidates of every frame pair, particles where users expect them."""
    if not constraints and hooks is None:
        return gated_pairs(points, longest, limits)
    pairs = frame_pairs(points, longest, _expected(hooks))
    if constraints:
        return open_pairs(points, pairs, longest, constraints, limits)
    return (gate(*pair, longest, limits) for pair in pairs)


def tracks_so_far(points: Points, made: PairLinks) -> Tracks:
    """Return the tracks of the links made so far; particles that have none yet are left out."""
    before = made.before(len(points))
    linked = before >= 0
    linked[before[linked]] = True
    tracks = points.with_track_ids(ids_of_chains(points.frames, before))
    return replace(tracks, table=tracks.table[linked])


def unmatched_cost_of(
    points: Points, settings: LinkSettings, search_range: float, expected: Callable[[Frame, int], Frame] | None = None
) -> UnmatchedCost:
    """Return the unmatched cost: as given, measured, or half the range where there is nothing to measure."""
    if settings.unmatched_cost != "auto":
        return UnmatchedCost(float(settings.unmatched_cost), "as given")
    pairs, limits = frame_pairs(points, 0.0, expected), GateLimits.within(settings.memory_budget)
    unmatched_cost = measured_unmatched_cost(pairs, search_range, points, limits)
    if unmatched_cost is not None:
        return unmatched_cost
    follows = bool((np.diff(points.frame_numbers) == points.frame_step).any())
    nothing = (
        "no two particles are within the search range of each other" if follows else "no two frames are consecutive"
    )
    return UnmatchedCost(search_range / 2, f"not measured: {nothing}")
