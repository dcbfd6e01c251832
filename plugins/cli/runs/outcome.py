"""What became of each input, and the exit code that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from .chosen_series import NO_CHOICE, ChosenSeries

ALL_GOOD, SOME_FAILED, INTERRUPTED = 0, 1, 130
"""Exit codes; wrong usage is 2, which typer sees to."""

_NAMED = 10
"""Failed inputs that the end of a batch names."""

Status = Literal["tracked", "up to date", "failed", "interrupted", "not started"]


@dataclass
class Outcome:
    """What became of one input; one entry of the summary.

    Attributes
    ----------
    source, result : str
        The input as it was given, and where its tracks go.
    status : str
    seconds : float
        Time spent on it.
    message : str or None
        Why it failed, or what of it is whole though it was interrupted.
    picture : str or None
        Where its picture is, if one was asked for and is drawn.
    figures : mapping or None
        Figures of the run: points, frames, tracks, links, the proof.
    is_refused : bool
        Whether a setting does not fit the input, so that it failed before anything was begun; no part of the entry.
    compiling : float
        Part of `seconds` during which something was compiled, as it is once; no part of the entry.
    series : ChosenSeries
        What is read of it; the entry says which one of several.
    """

    source: str
    result: str
    status: Status = "not started"
    seconds: float = 0.0
    message: str | None = None
    picture: str | None = None
    figures: Mapping[str, Any] | None = None
    is_refused: bool = False
    compiling: float = 0.0
    series: ChosenSeries = NO_CHOICE

    @property
    def name(self) -> str:
        """What the input is called: by its source, and which of several series in it."""
        return self.series.of(self.source)

    def entry(self) -> dict[str, Any]:
        """Return what the summary says of it."""
        said = {name: value for name, value in asdict(self).items() if name not in ("is_refused", "compiling")}
        return {**said, "series": self.series.asked if self.series.part else None}


def exit_code(states: Sequence[str]) -> int:
    """Return the exit code of a run by what became of its inputs."""
    if "interrupted" in states:
        return INTERRUPTED
    return SOME_FAILED if "failed" in states else ALL_GOOD


def tally(states: Sequence[str]) -> str:
    """Return how many inputs came to what: "3 tracked, 1 failed"."""
    return ", ".join(f"{states.count(status)} {status}" for status in dict.fromkeys(states))


def named_failed(sources: Sequence[str]) -> str:
    """Return which inputs failed, a line each, as what was said of them has scrolled away."""
    more = [f"and {len(sources) - _NAMED} more"] if len(sources) > _NAMED else []
    return "\n  ".join(["failed:", *sources[:_NAMED], *more])
