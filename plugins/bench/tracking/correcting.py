"""`auctrack bench correcting`: links to look at until nearly all are right, and how long an act takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ....tracker.editing.session import Session
from ....tracker.errors import InvalidEdit
from ....tracker.linking.link import link_points
from ....tracker.linking.settings import LinkSettings
from ....tracker.points import Points
from ..benchmark import Benchmark, Effort
from ..draw.figures import draw_lines
from ..draw.tables import Table, fact_mean, grid
from ..measure.harness import Case, Experiment, Facts, Variant, WrongAnswer, always, cell_of
from ..measure.record import Record
from .annotator import ENOUGH, Annotator, Truth, at_random, longest_first
from .movies import simulated

MOVIES = {
    "step 0.45, persistence 0.9": {"step": 0.45, "persistence": 0.9},
    "step 0.6, persistence 0.9": {"step": 0.6, "persistence": 0.9},
    "step 0.3, persistence 0.5": {"step": 0.3, "persistence": 0.5},
}
NOISE = {"missed": 0.05, "false": 0.05}
FRAMES = 10
ACTS = 200
"""Places of a movie at which each kind of act is timed: where the least sure links are."""
Do = Callable[[Session, int, int], object]
KINDS: dict[str, Do] = {
    "break a link": lambda session, source, target: session.break_link(source, target),
    "confirm a link": lambda session, source, target: session.confirm_link(source, target),
    "split a track": lambda session, source, _: session.split_track(source),
    "delete a detection": lambda session, _, target: session.delete_detection(target),
    "move a detection": lambda session, source, _: session.move_detection(source, _beside(session, source)),
    "add a detection": lambda session, source, _: session.add_detection(
        session.frame(source), _beside(session, source)
    ),
}


def correcting(effort: Effort, gpu: str = "cuda") -> Benchmark:  # noqa: ARG001 - as all benchmarks are called
    """Return the benchmark; nothing of it runs on a GPU."""
    experiments = [_looking(effort), _acting(effort)]
    return Benchmark(
        "correcting",
        experiments,
        partial(_tables, experiments),
        partial(_figures, experiments),
        "Times are CPU seconds.",
    )


def _looking(effort: Effort) -> Experiment:
    particles = effort.of_sizes((1000,), (150,))
    cases = [
        Case(name, n, partial(_movie, n, **settings), seed_of=int)
        for name, settings in MOVIES.items()
        for n in particles
    ]
    orders = {
        "our queue": Annotator.by_doubt,
        "longest first": lambda annotator: annotator.by_key(longest_first(annotator.points)),
        "random": lambda annotator: annotator.by_key(at_random(0)),
    }
    variants = [Variant(name, partial(_annotated, order), _counted) for name, order in orders.items()]
    return Experiment("looking", cases, variants, effort.times(3, 1), complete=True)


def _acting(effort: Effort) -> Experiment:
    cases = [
        Case("links of a movie", n, partial(_session, n), seed_of=always(1))
        for n in ((10_000,) if effort.quick else (10_000, 100_000, 1_000_000))
    ]
    variants = [Variant(name, partial(_timed, do), lambda _, facts: facts) for name, do in KINDS.items()]
    return Experiment("acting", cases, variants, 1)


def _movie(n: int, seed: int, **settings: float) -> Points:
    made: dict[str, Any] = {**NOISE, **settings}
    return simulated(seed, particles=n, frames=FRAMES, **made).points


def _session(links: int, seed: int) -> Session:
    """Return a session of a movie of about so many links."""
    n = round(links / (FRAMES - 1) / (1 - NOISE["missed"]))
    return Session(link_points(_movie(n, seed, step=0.45, persistence=0.9), LinkSettings(device="cpu"), editable=True))


def _annotated(order: Callable[[Annotator], None], points: Points) -> Annotator:
    session = Session(link_points(points, LinkSettings(device="cpu"), editable=True))
    annotator = Annotator(session, Truth.of(points))
    order(annotator)
    return annotator


def _counted(_: Points, annotator: Annotator) -> Facts:
    if annotator.share < ENOUGH:
        raise WrongAnswer(f"{annotator.share:.4f} of the links are right after all were looked at")
    if not annotator.session.proof().is_optimal:
        raise WrongAnswer("the links are not proven optimal after the corrections")
    curve = annotator.curve[:: max(len(annotator.curve) // 100, 1)] + annotator.curve[-1:]
    return {
        "looked": annotator.looked,
        "corrected": annotator.corrected,
        "before": annotator.curve[0][1],
        "curve": curve,
    }


def _timed(do: Do, session: Session) -> Facts:
    """Do an act at each of many places, undone each time; return how long one takes."""
    took: list[float] = []
    for source, target in session.doubtful(ACTS)[["source", "target"]].to_numpy().tolist():
        begun = time.process_time()
        try:
            do(session, source, target)
        except InvalidEdit:  # such as splitting where a track ends already
            continue
        took.append(1e3 * (time.process_time() - begun))
        session.undo()
    if not session.proof().is_optimal:
        raise WrongAnswer("the links are not proven optimal after the acts")
    return {"median_ms": statistics.median(took), "p95_ms": float(np.quantile(took, 0.95))}


def _beside(session: Session, detection: int) -> tuple[float, ...]:
    return tuple(value + 1.0 for value in session.position(detection))


def _tables(experiments: list[Experiment], record: Record) -> list[Table]:
    looking, acting = experiments
    about = f"mean over {looking.repetitions} seeded movies of {FRAMES} frames, 5 % missed and 5 % false detections"
    name = lambda case: f"{case.series}, {case.size:,} particles"  # noqa: E731
    links = lambda case: f"about {case.size:,} links"  # noqa: E731
    return [
        grid(
            f"Links looked at until {ENOUGH:.1%} are right",
            looking,
            record,
            fact_mean("looked", 0),
            label=name,
            notes=(about, "a right one is confirmed, a wrong one put right; each act is followed by a new optimum"),
        ),
        grid("Those among them that were wrong", looking, record, fact_mean("corrected", 0), label=name),
        grid("Share of right links before", looking, record, fact_mean("before", 4), label=name),
        grid("An act, median, CPU milliseconds", acting, record, fact_mean("median_ms", 2), label=links),
        grid("An act, 95th percentile, CPU milliseconds", acting, record, fact_mean("p95_ms", 2), label=links),
    ]


def _figures(experiments: list[Experiment], record: Record, folder: Path) -> list[Path]:
    """Draw the share of right links against those looked at, of the first movie of the kind that is wrong most."""
    looking = experiments[0]
    case = looking.cases[-1]
    lines = {
        variant.name: [(looked, share) for looked, share in curves[0]]
        for variant in looking.variants
        if (curves := cell_of(record, looking, case, variant.name).values("curve"))
    }
    title = f"Right links, {case.series}, {case.size:,} particles"
    where = folder / "correcting-looked-at.png"
    return draw_lines(where, title, lines, x="links looked at", y="share of right links", log=(False, False))
