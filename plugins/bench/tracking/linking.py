"""`auctrack bench linking`: how right links are, and how far they can be trusted, beside what others use."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ....tracker.linking.link import link_points
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings, Motion
from ..assignment.peer_solvers import not_installed
from ..benchmark import Benchmark, Effort
from ..draw.figures import draw_lines
from ..draw.tables import NOTHING, Table, fact_mean, grid, mean_times
from ..measure.harness import Case, Experiment, Facts, Variant, WrongAnswer, always, cell_of
from ..measure.record import Cell, Record
from . import peer_linkers
from .attainable import attainable_f1
from .known_links import LEAST_SURE, link_facts
from .movies import LinkingInput, simulated
from .real_movies import REAL_MOVIES, read_movie

OURS = "auctrack"
CLEAN, NOISE = {"missed": 0.0, "false": 0.0}, {"missed": 0.05, "false": 0.05}
SIMULATED: dict[str, dict[str, float]] = {
    f"step {step:g}, persistence {persistence:g}{about}": {"step": step, "persistence": persistence, **settings}
    for about, settings, movies in (
        ("", NOISE, ((0.3, 0.9), (0.3, 0.5), (0.45, 0.9), (0.6, 0.9))),
        (", clean", CLEAN, ((0.3, 0.9), (0.3, 0.5))),
    )
    for step, persistence in movies
}
FRAMES = 10
MOST_SAMPLED = 2000
"""Particles of a frame up to which trackings are sampled to see what any method can reach."""
LEAST_DRAWN = 1e-4
"""Share of wrong links that the figure begins with."""


def linking(effort: Effort, data: Path | None = None) -> Benchmark:
    """Return the benchmark; `data` is the folder of the real movies."""
    experiment = Experiment("movies", _cases(effort, data), _linkers(), effort.times(1, 1))
    clean = [case for case in experiment.cases if case.series.endswith("clean") and case.size <= MOST_SAMPLED]
    most = Experiment("attainable", clean, [_linkers()[0], _any_method()], 1)
    return Benchmark(
        "linking",
        [experiment, most],
        partial(_tables, experiment, most, effort, data),
        partial(_figures, experiment),
    )


def _cases(effort: Effort, data: Path | None, held: Collection[str] = ()) -> list[Case]:
    """Return simulated movies, and the real ones that are there or whose measurements are `held`."""
    sizes = effort.of_sizes((2000, 10_000), (300,))
    made = [
        Case(name, n, partial(_simulated, n, **settings), seed_of=int)
        for n in sizes
        for name, settings in SIMULATED.items()
    ]
    absent = set(_absent(data)) - set(held)
    return made + [
        Case(name, 1, partial(_real, name, data or Path()), seed_of=always(1))
        for name in REAL_MOVIES
        if name not in absent
    ]


def _simulated(n: int, seed: int, **settings: float) -> LinkingInput:
    missed = 1 if settings["missed"] else 0
    made: dict[str, Any] = settings
    return simulated(seed, particles=n, frames=FRAMES, allowed_missed=missed, **made)


def _real(name: str, data: Path, _: int) -> LinkingInput:
    return read_movie(REAL_MOVIES[name], data)


def _absent(data: Path | None) -> list[str]:
    """Return the names of the real movies that cannot be read."""
    return [name for name, movie in REAL_MOVIES.items() if data is None or not (data / movie.file).exists()]


def _linkers() -> list[Variant]:
    ours: dict[str, Motion] = {OURS: "auto", "auctrack, motion none": "none"}
    return [
        *(Variant(name, partial(_linked, motion), _checked) for name, motion in ours.items()),
        # What a peer raises (trackpy: SubnetOversizeException) is its result.
        *(
            Variant(name, run, link_facts, missing=not_installed(name), failures=(Exception,))
            for name, run in peer_linkers.LINKERS.items()
        ),
    ]


def _linked(motion: Motion, given: LinkingInput) -> Linking:
    """Link with nothing given, but that particles divide where they do."""
    divisions = given.divides and motion != "none"
    return link_points(given.points, LinkSettings(device="cpu", motion=motion, divisions=divisions))


def _checked(given: LinkingInput, made: Linking) -> Facts:
    if not made.report["is_optimal"]:
        raise WrongAnswer(f"links not proven optimal, gap {made.report['gap']}")
    links, is_learned = made.links, made.motion is not None
    probability = links["probability"].to_numpy() if is_learned else None
    return link_facts(given, links[["source", "target"]].to_numpy(), probability)


def _any_method() -> Variant:
    return Variant("any method, at most", attainable_f1, lambda _, f1: {"f1": f1})


def _label(case: Case) -> str:
    return case.series if case.series in REAL_MOVIES else f"{case.series}: {case.size:,} a frame"


def _tables(experiment: Experiment, most: Experiment, effort: Effort, data: Path | None, record: Record) -> list[Table]:
    held = {cell.series for cell in record.cells.values() if cell.experiment == experiment.name and cell.seconds}
    experiment = replace(experiment, cases=_cases(effort, data, held))
    absent = [name for name in _absent(data) if name not in held]
    known = (
        "nothing is given to auctrack, but that the cells of embryo and nuclei divide; the others are given a range "
        f"of {peer_linkers.RANGE_GIVEN}, and that a frame may be missed where one may be",
        *([f"not there (--data DIR): {', '.join(absent)}"] if absent else []),
    )
    links = {
        "f1": ("F1 of links between consecutive frames", 4),
        "f1_with_gaps": ("F1 of all links, those across missed frames among them", 4),
        "gap_recall": ("Links across missed frames: recall", 3),
        "gap_precision": ("Links across missed frames: precision", 3),
        "division_f1": ("F1 of divisions", 3),
    }
    return [
        *(
            grid(
                title,
                _those_with(fact, experiment, record),
                record,
                fact_mean(fact, digits),
                label=_label,
                notes=known if fact == "f1" else (),
            )
            for fact, (title, digits) in links.items()
        ),
        grid(
            "F1 of links that can be expected, by the model that made the movie",
            most,
            record,
            fact_mean("f1", 4),
            label=_label,
        ),
        _trust_table(experiment, record),
        grid("Time", experiment, record, mean_times(effort.clock), label=_label),
    ]


def _those_with(fact: str, experiment: Experiment, record: Record) -> Experiment:
    """Return the experiment with the movies of which a fact is known of any linker."""
    cases = [case for case in experiment.cases if any(cell.values(fact) for cell in _cells(experiment, case, record))]
    return replace(experiment, cases=cases)


def _cells(experiment: Experiment, case: Case, record: Record) -> Iterable[Cell]:
    return (cell_of(record, experiment, case, variant.name) for variant in experiment.variants)


def _trust_table(experiment: Experiment, record: Record) -> Table:
    """Return what our probabilities say beside what is."""
    columns: dict[str, Callable[[Cell], str]] = {
        "links expected to be wrong": fact_mean("expected_wrong", 0),
        "wrong": fact_mean("wrong", 0),
        "calibration error": fact_mean("calibration_error", 4),
        f"errors among the {LEAST_SURE:.0%} least sure": _share("among_least_sure"),
    }
    rows = [
        (_label(case), *(text(cell) for text in columns.values()))
        for case in _those_with("wrong", experiment, record).cases
        if (cell := cell_of(record, experiment, case, OURS)).seconds
    ]
    return Table("How far probabilities of links hold, motion learned", ("", *columns), rows)


def _share(fact: str) -> Callable[[Cell], str]:
    def text(cell: Cell) -> str:
        values = cell.values(fact)
        return f"{statistics.mean(values):.0%}" if values else NOTHING

    return text


def _figures(experiment: Experiment, record: Record, folder: Path) -> list[Path]:
    """Draw the share of wrong links against the share expected, in bins of links of the largest simulated movies."""
    lines: dict[str, Any] = {}
    for case in (case for case in experiment.cases if case.series in SIMULATED):
        if curves := cell_of(record, experiment, case, OURS).values("reliability"):
            lines[case.series] = [(x, max(y, LEAST_DRAWN)) for x, y in curves[0] if x > LEAST_DRAWN]
    if not lines:
        return []
    where, title = folder / "linking-reliability.png", "Links expected to be wrong, and wrong, in bins of equal numbers"
    lines["as expected"] = [(LEAST_DRAWN, LEAST_DRAWN), (1.0, 1.0)]
    return draw_lines(where, title, lines, x="expected share", y="share that is wrong", log=(True, True))
