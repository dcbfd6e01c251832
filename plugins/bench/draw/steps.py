"""The steps of a solver: the wall seconds that it tells of itself."""

from __future__ import annotations

from ..measure.record import Cell, Clock
from .tables import duration

_WHOLE = ("solve_s", "solve_and_copy_s")


def step_seconds(cell: Cell) -> dict[str, float]:
    """Return the median seconds of each step, by its name in words; steps that took no time are left out."""
    steps = [name for name in (cell.facts[0] if cell.facts else {}) if name.endswith("_s") and name not in _WHOLE]
    medians = {name.removesuffix("_s").replace("_", " "): cell.median(name) for name in steps}
    return {name: seconds for name, seconds in medians.items() if seconds}


def steps_text(cell: Cell, clock: Clock) -> str:
    """Return the steps in one line; "" if the solver tells none.

    Solvers tell wall seconds, which are no neighbours of CPU seconds: under the CPU clock a CPU's steps are shares.
    """
    steps = step_seconds(cell)
    if clock == "cpu" and cell.device == "cpu":
        whole = sum(steps.values())
        return ", ".join(f"{name} {100 * seconds / whole:.0f} %" for name, seconds in steps.items())
    return ", ".join(f"{name} {duration(seconds)}" for name, seconds in steps.items())
