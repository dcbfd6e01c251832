"""Measure how long napari's window goes without a tick while the widget links points, and how soon Cancel answers.

    python -m auctrack.plugins.napari.scripted.ticks

Needs a display: `xvfb-run -a -s "-screen 0 1600x1100x24"` before it brings a virtual one. With NUMBA_CACHE_DIR set to
an empty folder the first run is the very first after installation, which compiles; else it is the first of a session,
which loads what was compiled. A tick is measured by the clock, and by the CPU time of all threads in it, which other
programs on the machine hardly lengthen.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import typer
from qtpy.QtCore import QObject, QTimer
from qtpy.QtWidgets import QApplication

from ..session.steps import ProgressUpdate
from ..threads.timers import single_shot
from .settled import settle
from .simulated_viewer import simulated_viewer

_TICK_MS = 5
_LONG = 0.1
_PAINT_MS = 100  # after the last layer, in which the canvas paints

WORKING, MAKING, DRAWING = "it links", "napari makes its first layers", "napari draws"


@dataclass
class LongestTicks:
    """The longest tick by the clock, the longest by CPU time, and how many took over 0.1 s by the clock."""

    seconds: float = 0.0
    cpu_seconds: float = 0.0
    long: int = 0

    def add(self, seconds: float, cpu_seconds: float) -> None:
        """Count one tick."""
        self.seconds, self.cpu_seconds = max(self.seconds, seconds), max(self.cpu_seconds, cpu_seconds)
        self.long += seconds > _LONG


@dataclass
class _Clock:
    seconds: float = field(default_factory=time.perf_counter)
    cpu_seconds: float = field(default_factory=time.process_time)


class Ticks(QObject):
    """Counts the ticks of a widget's window, by what goes on (`longest`)."""

    def __init__(self, widget: Any) -> None:
        super().__init__()
        self.longest: dict[str, LongestTicks] = {}
        self._overlay = widget.parts.overlay
        self._state = WORKING
        self._last = _Clock()
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._painted = single_shot(self, _PAINT_MS, self._work_on)
        self._overlay.announced.connect(self._draws)
        self._overlay.drawn.connect(self._painted.start)
        self._timer.start()

    def stop(self) -> None:
        """Count no more."""
        self._timer.stop()

    def _tick(self) -> None:
        now, last = _Clock(), self._last
        self.longest.setdefault(self._state, LongestTicks()).add(
            now.seconds - last.seconds, now.cpu_seconds - last.cpu_seconds
        )
        self._last = now

    def _draws(self, sentence: str) -> None:
        del sentence
        self._painted.stop()
        self._state = MAKING if self._overlay.layer("tracks") is None else DRAWING

    def _work_on(self) -> None:
        self._state = WORKING


def main(words: Sequence[str] | None = None) -> None:
    """Link points in a viewer a few times, and print the longest ticks."""
    parser = argparse.ArgumentParser(prog="python -m auctrack.plugins.napari.scripted.ticks")
    parser.add_argument("--particles", type=int, default=10_000)
    parser.add_argument("--frames", type=int, default=50)
    parser.add_argument("--runs", type=int, default=3)
    asked = parser.parse_args(words)
    viewer, widget = simulated_viewer(asked.particles, asked.frames, (900, 600))
    typer.echo(f"{asked.particles:,} points × {asked.frames} frames; the longest tick while\n")
    typer.echo("| run | while | ms | CPU ms | ticks over 100 ms |\n|---|---|---|---|---|")
    for run in range(1, asked.runs + 1):
        for state, tick in _measured(widget).items():
            typer.echo(f"| {run} | {state} | {tick.seconds * 1e3:.0f} | {tick.cpu_seconds * 1e3:.0f} | {tick.long} |")
    typer.echo(f"\nCancel gave the widget back after {_cancelled(widget) * 1e3:.0f} ms.")
    viewer.close()


def _measured(widget: Any) -> dict[str, LongestTicks]:
    ticks = Ticks(widget)
    widget.running.run_all()
    settle(widget)
    ticks.stop()
    return ticks.longest


def _cancelled(widget: Any) -> float:
    """Return the seconds from Cancel, pressed once some frames are linked, until the next run could begin."""
    reported: list[ProgressUpdate] = []
    widget.work.reported.connect(reported.append)
    widget.running.run_all()
    while widget.work.is_busy and not (reported and reported[-1].stage == "link" and reported[-1].done):
        QApplication.processEvents()
    began = time.perf_counter()
    widget.parts.bar.cancel_button.click()
    while not widget.parts.bar.run_button.isEnabled():
        QApplication.processEvents()
    took = time.perf_counter() - began
    settle(widget)
    return took


if __name__ == "__main__":
    main()
