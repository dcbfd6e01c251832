"""Whole tables linked by the gate alone (motion "none") and by learned motion, on a CPU and on a GPU."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from ....tracker.linking.link import link, link_points
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings
from ....tracker.points import Points
from ..assignment.solver_variants import missing_device
from ..benchmark import Effort
from ..measure.harness import Case, Experiment, Facts, Variant, WrongAnswer

STEP = 0.1
"""Standard deviation of a step along each axis; density 1."""
RANGE, UNMATCHED_COST = 0.7, 0.25
SIZES = ((10, 200_000), (10, 1_000_000), (1000, 10_000))
QUICK = ((10, 2000), (100, 200))


def whole_tables(effort: Effort, gpu: str) -> Experiment:
    """Return the experiment: tables of (frames, particles), by ways to link them."""
    sizes = QUICK if effort.quick else SIZES
    cases = [Case(f"{frames:,} frames", n, partial(table, frames, n), seed_of=int) for frames, n in sizes]
    return Experiment(
        "table",
        cases,
        [_from_host("CPU", "cpu"), _learned("CPU", "cpu"), *_on(gpu), _learned("GPU", gpu)],
        effort.times(5, 2),
    )


def table(frames: int, n: int, seed: int) -> pd.DataFrame:
    """Return n particles in a cube of volume n that walk at random: `frame`, `z`, `y`, `x`."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(0, STEP, (frames, n, 3))
    steps[0] = rng.random((n, 3)) * n ** (1 / 3)
    positions = np.cumsum(steps, axis=0).reshape(-1, 3)
    return pd.DataFrame({"frame": np.repeat(np.arange(frames), n), **dict(zip("zyx", positions.T, strict=True))})


def _on(gpu: str) -> list[Variant]:
    return [
        _from_host("GPU", gpu),
        _from_host("GPU, range and unmatched cost measured too", gpu, search_range="auto", unmatched_cost="auto"),
        Variant(
            "GPU, columns there",
            partial(link, search_range=RANGE, unmatched_cost=UNMATCHED_COST, motion="none", device=gpu),
            partial(_as_from_host, gpu),
            prepare=partial(_on_gpu, gpu),
            device=gpu,
            missing=missing_device(gpu),
        ),
    ]


def _from_host(name: str, device: str, search_range: Any = RANGE, unmatched_cost: Any = UNMATCHED_COST) -> Variant:
    run = partial(_link, device, search_range, unmatched_cost)
    return Variant(name, run, _proven, prepare=Points, device=device, missing=missing_device(device))


def _learned(name: str, device: str) -> Variant:
    run = partial(_link_learned, device)
    return Variant(
        f"{name}, motion learned", run, _proven, prepare=Points, device=device, missing=missing_device(device)
    )


def _link_learned(device: str, points: Points) -> Linking:
    return link_points(points, LinkSettings(device=device))


def _link(device: str, search_range: Any, unmatched_cost: Any, points: Points) -> Linking:
    return link_points(points, LinkSettings(search_range, unmatched_cost, motion="none", device=device))


def _on_gpu(gpu: str, given: pd.DataFrame) -> dict[str, Any]:
    from ....matching.device import cuda

    with cuda.using(gpu) as cupy:
        return {str(name): cupy.asarray(column.to_numpy()) for name, column in given.items()}


def _proven(given: pd.DataFrame, linking: Linking) -> Facts:
    del given
    if not linking.report["is_optimal"]:
        raise WrongAnswer(f"links not proven optimal, gap {linking.report['gap']}")
    return {name: linking.report[name] for name in ("links", "candidate_links")}


def _as_from_host(gpu: str, given: pd.DataFrame, tracks: dict[str, Any]) -> Facts:
    """Refuse tracks other than those of links proven optimal, made from the host's memory."""
    proven = _link(gpu, RANGE, UNMATCHED_COST, Points(given))
    if not np.array_equal(tracks["track_id"].get(), proven.tracks.table["track_id"]):
        raise WrongAnswer("not the tracks of the links proven optimal")
    return _proven(given, proven)
