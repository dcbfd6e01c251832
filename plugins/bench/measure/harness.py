"""Cases × variants × repetitions: warm up, time, verify, write down; in turns, so that a busy machine slows all."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ....matching.device import cuda
from ....matching.errors import AuctrackError
from .memory import give_unused_back, memory_taken, watch_memory
from .pace import Pace
from .record import Cell, Clock, Record

Facts = Mapping[str, Any]
Progress = Callable[[int, int, str], None]
"""Called as progress(cells done, cells in all, what runs)."""


class WrongAnswer(AuctrackError):
    """A variant's answer did not stand its check: no time of it counts."""


def as_it_is(given: Any) -> Any:
    """Return the input in the form the case has it."""
    return given


def always(seed: int) -> Callable[[int], int]:
    """Return the `seed_of` of a case with one input."""
    return lambda _: seed


ONE_INPUT = always(1)


@dataclass(frozen=True)
class Case:
    """One input, or several in turn.

    Attributes
    ----------
    series : str
        Cases of one series differ in size only: a variant that is too slow for one is not tried on the larger ones.
    size : int
    make : callable
        make(seed) returns the input.
    seed_of : callable
        seed_of(repetition) returns the seed of its input, which the record keeps. By default one input is made, of seed
        1, and shared.
    """

    series: str
    size: int
    make: Callable[[int], Any]
    seed_of: Callable[[int], int] = ONE_INPUT


@dataclass(frozen=True)
class Variant:
    """One way to solve a case.

    Attributes
    ----------
    name : str
    run : callable
        What is timed: run(prepared input) returns the answer.
    check : callable
        check(input, answer) raises `WrongAnswer`, or returns what is known of the answer (cost, size, counts).
    prepare : callable
        Not timed: brings the input into the form that `run` takes.
    device : str
        "cpu", or the CUDA device whose events time it.
    missing : str, optional
        Why it cannot run here: no such solver, no GPU, peer not installed.
    failures : tuple of exception types
        What it may raise instead of answering; the message is recorded. Anything else ends the benchmark.
    """

    name: str
    run: Callable[[Any], Any]
    check: Callable[[Any, Any], Facts]
    prepare: Callable[[Any], Any] = as_it_is
    device: str = "cpu"
    missing: str | None = None
    failures: tuple[type[Exception], ...] = (AuctrackError, MemoryError)


@dataclass(frozen=True)
class Experiment:
    """One table or figure: every variant on every case.

    Attributes
    ----------
    name : str
        Its key in the record.
    cases, variants : sequences
    repetitions : int
        Timed calls of each variant on each case, after one that counts nowhere.
    complete : bool
        Whether no limit ends the repetitions: where answers are compared, all variants need the same inputs.
    """

    name: str
    cases: Sequence[Case]
    variants: Sequence[Variant]
    repetitions: int
    complete: bool = False


def cell_of(record: Record, experiment: Experiment, case: Case, variant: str) -> Cell:
    """Return what a record holds of a variant on a case of an experiment; an empty cell if it holds nothing."""
    return record.cell(experiment.name, case.series, case.size, variant)


def measure(
    experiments: Sequence[Experiment],
    record: Record,
    limit_s: float,
    *,
    clock: Clock = "wall",
    progress: Progress | None = None,
) -> None:
    """Measure what the record does not hold yet.

    Parameters
    ----------
    experiments : sequence of Experiment
    record : Record
        Read, added to and saved all along and in the end, so that an interrupted benchmark goes on where it was.
    limit_s : float
        Seconds of the clock: a cell's repetitions end when they add up to more, and a variant is not tried on larger
        cases of a series when one run took more, or would, growing as it did.
    clock : {"wall", "cpu"}
        See `Cell.times`.
    progress : callable, optional
    """
    try:
        _measure(experiments, record, Pace(limit_s, clock), progress)
    finally:
        record.save()


def _measure(experiments: Sequence[Experiment], record: Record, pace: Pace, progress: Progress | None) -> None:
    total = sum(len(experiment.cases) * len(experiment.variants) for experiment in experiments)
    done = 0
    for experiment in experiments:
        pace.start()
        for case in sorted(experiment.cases, key=lambda case: case.size):
            if progress is not None:
                progress(done, total, f"{experiment.name}: {case.series}, {case.size}")
            _measure_case(experiment, case, record, pace)
            done += len(experiment.variants)
    if progress is not None:
        progress(total, total, "done")


def _measure_case(experiment: Experiment, case: Case, record: Record, pace: Pace) -> None:
    made = lru_cache(maxsize=1)(case.make)

    waiting: list[tuple[Variant, Cell, Any]] = []
    for variant in experiment.variants:
        cell = cell_of(record, experiment, case, variant.name)
        if not _is_done(cell, experiment):
            cell.device = variant.device
            cell.why_not = variant.missing or pace.too_slow(case.series, case.size, variant.name)
            if cell.why_not is None:
                waiting.append((variant, cell, _warm_up(variant, cell, made(case.seed_of(0)), pace)))
            record.keep(cell)
    for repetition in range(experiment.repetitions):
        for variant, cell, prepared in waiting:
            if _is_done(cell, experiment) or len(cell.seconds) > repetition:
                continue
            seed = case.seed_of(repetition)
            given = made(seed)
            _repeat(variant, cell, seed, given, prepared if seed == case.seed_of(0) else variant.prepare(given))
            cell.is_final |= pace.is_used_up(cell)
            record.keep(cell)
    for variant in experiment.variants:
        pace.note(cell_of(record, experiment, case, variant.name))


def _is_done(cell: Cell, experiment: Experiment) -> bool:
    enough = len(cell.seconds) >= experiment.repetitions
    return enough or (cell.is_final and (cell.why_not is not None or not experiment.complete))


def _warm_up(variant: Variant, cell: Cell, given: Any, pace: Pace) -> Any:
    """Run once for compilers, caches and allocators; return the prepared input.

    On a machine that others use, a compiler may take minutes of wall time, so on a CPU its own seconds count.
    """
    give_unused_back(variant.device)
    prepared = None
    try:
        prepared = variant.prepare(given)
        before = watch_memory(variant.device)
        _, cell.warm_up_s, cpu_seconds = _timed(variant, prepared)
        cell.peak_bytes = memory_taken(variant.device, before)
        pace.give_up(cell, min(cell.warm_up_s, cpu_seconds) if variant.device == "cpu" else cell.warm_up_s)
    except variant.failures as error:
        _fail(cell, f"failed: {type(error).__name__}: {error}")
    return prepared


def _repeat(variant: Variant, cell: Cell, seed: int, given: Any, prepared: Any) -> None:
    """Run once, and count the time if the answer stands its check."""
    try:
        answer, seconds, cpu_seconds = _timed(variant, prepared)
        facts = variant.check(given, answer)
    except WrongAnswer as error:
        _fail(cell, f"wrong: {error}")
    except variant.failures as error:
        _fail(cell, f"failed: {type(error).__name__}: {error}")
    else:
        cell.seeds.append(seed)
        cell.seconds.append(seconds)
        cell.cpu_seconds.append(cpu_seconds)
        cell.facts.append(dict(facts))


def _fail(cell: Cell, why: str) -> None:
    """Note why there is no answer; a variant that is ever wrong on a case keeps no time of it."""
    cell.why_not, cell.is_final = " ".join(why.split()), True
    cell.seeds, cell.seconds, cell.cpu_seconds, cell.facts = [], [], [], []


def _timed(variant: Variant, prepared: Any) -> tuple[Any, float, float]:
    """Return the answer, its wall seconds (GPU: between events on the current stream), and CPU seconds."""
    if variant.device == "cpu":
        cpu, began = time.process_time(), time.perf_counter()
        answer = variant.run(prepared)
        return answer, time.perf_counter() - began, time.process_time() - cpu
    with cuda.using(variant.device) as cp:
        before, after = cp.cuda.Event(), cp.cuda.Event()
        cpu = time.process_time()
        before.record()
        answer = variant.run(prepared)
        after.record()
        after.synchronize()
        return answer, cp.cuda.get_elapsed_time(before, after) / 1e3, time.process_time() - cpu
