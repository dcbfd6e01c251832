"""`auctrack bench tracking`: the auction-tracking paper's two figures, and how right links are in harder movies.

Vasconcelos & Rosenhahn 2009, Figures 5 and 6; the rest goes beyond it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from ....matching.problem import Problem
from ....tracker.linking.link import link_points
from ....tracker.linking.settings import LinkSettings
from ....tracker.points import Tracks
from ..assignment.solver_variants import solver_variant
from ..benchmark import Benchmark, Effort, is_measured
from ..draw.figures import draw_lines, draw_times, draw_tracks
from ..draw.tables import Table, fact_mean, grid, mean_times, times_with_spread
from ..draw.time_lines import times_by_size
from ..measure.harness import Case, Experiment, Facts, Variant, WrongAnswer, cell_of
from ..measure.record import Record
from ..papers import vasconcelos_rosenhahn_2009 as paper
from .baselines import full_assignment_links, greedy_links, scipy_links
from .linker_variants import by_hand, linked_by_us, movie_case
from .movies import simulated
from .whole_movies import whole_movies
from .whole_tables import whole_tables

PERSISTENCE = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
RANGES = (0.78, 1.05, 1.35, 1.8)
SWEEPS: dict[str, tuple[float, ...]] = {
    "persistence": PERSISTENCE,
    "step": (0.1, 0.2, 0.3, 0.4, 0.6),
    "missed": (0.0, 0.05, 0.1, 0.2),
    "false": (0.0, 0.05, 0.1, 0.2),
}
"""What is varied, one at a time; `step` is the mean step in spacings: twice the step is eight times the density."""
NOISE = {"missed": 0.05, "false": 0.05}

_X_AXES = {
    "persistence": "persistence of the direction",
    "step": "mean step (spacings)",
    "missed": "share of missed detections",
    "false": "share of false detections",
    "range": "search range (spacings)",
}


@dataclass(frozen=True)
class FramePair:
    """Two frames of as many particles, to be matched by Euclidean distance."""

    x: np.ndarray
    y: np.ndarray

    @cached_property
    def matrix(self) -> np.ndarray:
        """All distances, float64 (n, n)."""
        from scipy.spatial.distance import cdist

        return cdist(self.x, self.y)

    @cached_property
    def dense(self) -> Problem:
        """All pairs as a stored matrix."""
        return Problem.dense(self.matrix)

    @cached_property
    def points(self) -> Problem:
        """All pairs, none stored."""
        return Problem.points(self.x, self.y)


def tracking(effort: Effort, gpu: str = "cuda") -> Benchmark:
    """Return the benchmark; `gpu` names the CUDA device of the GPU variants."""
    experiments = [
        _figure_5(effort),
        _figure_6(effort, gpu),
        _accuracy(effort),
        _ranges(effort),
        whole_tables(effort, gpu),
        whole_movies(effort, gpu),
    ]
    return Benchmark(
        "tracking", experiments, partial(_tables, experiments, effort), partial(_figures, experiments, effort)
    )


def _figure_5(effort: Effort) -> Experiment:
    cases = [
        movie_case(f"persistence {p:g}", paper.PARTICLES_OF_FIGURE_5, persistence=p, frames=20) for p in PERSISTENCE
    ]
    return Experiment("figure-5", cases, [linked_by_us("auctrack")], effort.times(5, 2))


def _figure_6(effort: Effort, gpu: str) -> Experiment:
    sizes = effort.of_sizes((50, 100, 200, 500, 1000, 2000, 4000), (50, 100, 200))
    cases = [Case("frame pair", n, partial(_frame_pair, n), seed_of=int) for n in sizes]
    dense: Callable[[FramePair], Problem] = lambda pair: pair.dense  # noqa: E731
    points: Callable[[FramePair], Problem] = lambda pair: pair.points  # noqa: E731
    as_paper: dict[str, Any] = {"variant": "paper", "prepare": dense, "exact": False}
    variants = [
        solver_variant("CPU Hungarian", "hungarian-classical", prepare=dense),
        solver_variant("CPU auction", "auction", **as_paper),
        solver_variant("GPU auction", "auction", gpu, **as_paper),
        solver_variant("GPU auction, reduction", "auction", gpu, convergence="reduction", **as_paper),
        solver_variant("auctrack, CPU", "auto", prepare=dense),
        solver_variant("auctrack, CPU, no matrix", "auction", prepare=points),
        solver_variant("auctrack, GPU", "auto", gpu, prepare=dense),
        solver_variant("auctrack, GPU, no matrix", "auction", gpu, prepare=points),
        Variant("SciPy", _scipy_assignment, _check_scipy, prepare=lambda pair: pair.matrix),
    ]
    return Experiment("figure-6", cases, variants, effort.times(paper.DATA_SETS_OF_FIGURE_6, 5))


def _frame_pair(n: int, seed: int) -> FramePair:
    given = simulated(seed, particles=n, frames=2)
    return FramePair(*(given.positions[rows] for rows in given.frames))


def _scipy_assignment(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.optimize import linear_sum_assignment

    return linear_sum_assignment(matrix)


def _check_scipy(given: FramePair, answer: tuple[np.ndarray, np.ndarray]) -> Facts:
    rows, cols = answer
    if len(np.unique(cols)) != len(given.x):
        raise WrongAnswer("not every particle has a partner of its own")
    return {"cost": float(given.matrix[rows, cols].sum())}


def _accuracy(effort: Effort) -> Experiment:
    n = 200 if effort.quick else 2000
    cases = [
        movie_case(f"{name} {value:g}", n, **{**NOISE, name: value})
        for name, values in SWEEPS.items()
        for value in values
    ]
    return Experiment("accuracy", cases, _linkers(), effort.times(5, 2), complete=True)


def _ranges(effort: Effort) -> Experiment:
    n = 500 if effort.quick else 10_000
    cases = [movie_case(f"range {r:g} spacings", n, range_in_spacings=r, **NOISE) for r in RANGES]
    same = linked_by_us(
        "auctrack, the range as unmatched cost",
        lambda given: given.search_range,
        unmatched_cost=lambda given: given.search_range / 2,
    )
    default = linked_by_us("auctrack", lambda given: given.search_range)
    return Experiment(
        "accuracy: range",
        cases,
        [default, same, by_hand("SciPy, the range as unmatched cost", scipy_links)],
        effort.times(5, 2),
        complete=True,
    )


def _linkers() -> list[Variant]:
    return [
        linked_by_us("auctrack"),
        linked_by_us("auctrack, cost distance", cost="distance"),
        by_hand("best range as unmatched cost (SciPy)", scipy_links),
        by_hand("greedy within it", greedy_links),
        by_hand("all pairs, no unmatched cost (the paper)", full_assignment_links),
    ]


def _tables(experiments: list[Experiment], effort: Effort, record: Record) -> list[Table]:
    figure_5, figure_6, accuracy, ranges, tables, pixels = experiments
    return [
        grid(
            f"Figure 5: {paper.PARTICLES_OF_FIGURE_5} particles in 3D, 20 frames; F1 of links",
            figure_5,
            record,
            fact_mean("f1", 4),
            label=lambda case: case.series,
        ),
        grid(
            f"Figure 6: mean answer time over up to {figure_6.repetitions} random data sets (± standard deviation)",
            figure_6,
            record,
            mean_times(effort.clock),
            label=lambda case: f"{case.size} particles",
            notes=(
                f"the paper draws Figure 6 and prints no numbers to set beside these; its hardware: {paper.HARDWARE}",
                "'auction' is the paper's: a fixed increment, no proof of optimality; its two tests of convergence are "
                "a counter and a reduction; those of auctrack are proven optimal",
            ),
        ),
        _accuracy_table(accuracy, ": one thing varied at a time", record),
        _accuracy_table(ranges, ", by search range", record),
        grid(
            "Whole tables linked by the gate alone, and by learned motion",
            tables,
            record,
            times_with_spread(effort.clock),
            label=lambda case: f"{case.series} of {case.size:,}",
            notes=("links proven optimal; range and unmatched cost given where nothing else is said",),
        ),
        grid(
            "Pixels to tracks on a GPU",
            pixels,
            record,
            times_with_spread(effort.clock),
            label=lambda case: f"{case.size} frames of {case.series}",
            notes=(
                "an uncompressed TIFF of uint16, nothing given: diameter and threshold measured, motion learned; "
                "or linked by distance alone, range and unmatched cost measured; or with diameter and threshold given "
                "too",
            ),
        ),
    ]


def _accuracy_table(experiment: Experiment, what: str, record: Record) -> Table:
    movies = (
        f"mean over {experiment.repetitions} seeded movies of 10 frames; persistence 0.9, mean step 0.3 spacings, 5 % "
        "missed and 5 % false detections where another value is not said; twice the step is eight times the density"
    )
    return grid(
        f"F1 of links, {experiment.cases[0].size:,} particles{what}",
        experiment,
        record,
        fact_mean("f1", 4),
        label=lambda case: case.series,
        notes=(movies,),
    )


def _figures(experiments: list[Experiment], effort: Effort, record: Record, folder: Path) -> list[Path]:
    figure_5, figure_6, accuracy, ranges, *_ = experiments
    paths = _draw_tracks(figure_5, record, folder / "tracking-figure-5.png")
    lines = times_by_size(figure_6, record, effort.clock, average=statistics.mean)
    own = [name for name in lines if name.startswith("auctrack")]
    title, path = "Mean answer time over random data sets", folder / "tracking-figure-6.png"
    paths += draw_times(path, title, lines, x="particles in each frame", bold=own)
    for name in SWEEPS:
        paths += _draw_accuracy(name, accuracy, record, folder)
    return paths + _draw_accuracy("range", ranges, record, folder)


def _draw_tracks(experiment: Experiment, record: Record, path: Path) -> list[Path]:
    """Draw one movie of every other persistence, tracked once more, if the experiment was measured."""
    if not is_measured(experiment, record):
        return []
    tracks: dict[str, Any] = {}
    for p in PERSISTENCE[::2]:
        given = simulated(0, particles=paper.PARTICLES_OF_FIGURE_5, frames=20, persistence=p)
        linked: Tracks = link_points(given.points, LinkSettings(device="cpu", motion="none")).tracks
        tracks[f"persistence {p:g}"] = linked.table
    return draw_tracks(path, f"{paper.PARTICLES_OF_FIGURE_5} particles, 20 frames, as tracked", tracks)


def _draw_accuracy(name: str, experiment: Experiment, record: Record, folder: Path) -> list[Path]:
    """Draw F1 against what is called `name` in the series of the experiment."""
    lines = {
        variant.name: [
            (float(case.series.split()[1]), statistics.mean(values))
            for case in experiment.cases
            if case.series.split()[0] == name
            and (values := cell_of(record, experiment, case, variant.name).values("f1"))
        ]
        for variant in experiment.variants
    }
    path, title = folder / f"tracking-accuracy-{name}.png", f"Right links, {experiment.cases[0].size:,} particles"
    return draw_lines(path, title, lines, x=_X_AXES[name], y="F1 of links", log=(False, False))
