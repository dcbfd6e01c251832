"""How the times of variants grow, so that what would take too long is left out."""

from __future__ import annotations

import math

from .record import Cell, Clock

LONGEST_COMPILATION_S = 60.0
STEEPEST = 3.0
"""Exponent of the steepest growth that is predicted from two times; what looks steeper may be noise."""


class Pace:
    """How the times of variants grow along a series, so that what would take too long is left out."""

    def __init__(self, limit_s: float, clock: Clock) -> None:
        self.limit_s = limit_s
        self.clock: Clock = clock
        self.seen: dict[tuple[str, str], list[tuple[int, float]]] = {}

    def start(self) -> None:
        """Begin another experiment, whose series are others."""
        self.seen.clear()

    def is_used_up(self, cell: Cell) -> bool:
        """Whether a cell's repetitions have taken all the time there is for them."""
        return sum(cell.times(self.clock)) > self.limit_s

    def note(self, cell: Cell) -> None:
        """Remember a cell's size and least time."""
        seconds = min(cell.times(self.clock), default=cell.warm_up_s if cell.is_final else None)
        if seconds is not None:
            self.seen.setdefault((cell.series, cell.variant), []).append((cell.size, seconds))

    def give_up(self, cell: Cell, seconds: float) -> None:
        """Leave a cell without a time if its first call worked for so long that no compiler is to blame."""
        longest = max(10 * self.limit_s, LONGEST_COMPILATION_S)
        if seconds > longest:
            cell.is_final = True
            cell.why_not = f"given up: its first call took {seconds:.3g} s, and {longest:g} s are the most"

    def too_slow(self, series: str, size: int, variant: str) -> str | None:
        """Say why a size is not tried: a smaller one was over the limit, or this one would be, growing as it did."""
        *before, last = self.seen.get((series, variant), [(size, 0.0)])
        measured, seconds = last
        if seconds > self.limit_s:
            return f"took {seconds:.3g} s at size {measured:,}, more than the limit of {self.limit_s:g} s"
        if not before or measured == size:
            return None
        smaller, faster = before[-1]
        exponent = min(max(math.log(seconds / faster) / math.log(measured / smaller), 0.0), STEEPEST)
        expected = seconds * (size / measured) ** exponent
        if expected <= self.limit_s:
            return None
        grown = f"from {faster:.2g} s at size {smaller:,} to {seconds:.2g} s at {measured:,}"
        return f"would need about {expected:.2g} s, as it grew {grown}; the limit is {self.limit_s:g} s"
