"""Linkers as variants on simulated movies, ours and others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....tracker.linking.link import link_points
from ....tracker.linking.result import Linking
from ....tracker.linking.settings import LinkSettings
from ..assignment.solver_variants import missing_device
from ..measure.harness import Case, Facts, Variant, WrongAnswer
from .movies import LinkingInput, checked_links, simulated


def movie_case(series: str, n: int, **settings: Any) -> Case:
    """Return simulated movies of n particles, one a repetition; persistence 0.9 and 10 frames by default."""
    settings = {"persistence": 0.9, "frames": 10, **settings}
    return Case(series, n, lambda seed: simulated(seed, particles=n, **settings), seed_of=int)


def linked_by_us(
    label: str,
    search_range: Callable[[LinkingInput], Any] = lambda _: "auto",
    unmatched_cost: Callable[[LinkingInput], Any] = lambda _: "auto",
    cost: Any = "squared",
    device: str = "cpu",
) -> Variant:
    """Return our linker on a device with a search range and an unmatched cost that may depend on the movie."""

    def run(given: LinkingInput) -> Linking:
        return link_points(
            given.points, LinkSettings(search_range(given), unmatched_cost(given), cost, device=device, motion="none")
        )

    return Variant(label, run, _checked_linking, device=device, missing=missing_device(device))


def by_hand(label: str, run: Callable[[LinkingInput], np.ndarray], **about: Any) -> Variant:
    """Return a linker that gives links as rows of the table, int64 (links, 2)."""
    return Variant(label, run, checked_links, **about)


def _checked_linking(given: LinkingInput, linking: Linking) -> Facts:
    if not linking.report["is_optimal"]:
        raise WrongAnswer(f"links not proven optimal, gap {linking.report['gap']}")
    return checked_links(given, linking.links[["source", "target"]])
