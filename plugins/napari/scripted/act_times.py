"""Measure how long it takes from the key of a correction until what it changed is on the screen.

    python -m auctrack.plugins.napari.scripted.act_times --particles 20000 --frames 51

Needs a display: `xvfb-run -a -s "-screen 0 1600x1100x24"` before it brings a virtual one. Links of the list are broken
one after the other, by key, each once the one looked at is painted; an act is on the screen once napari has painted the
links that it changed, and all of it is shown once tracks, tables and list have followed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import typer
from napari import Viewer
from qtpy.QtCore import Qt
from qtpy.QtTest import QTest
from qtpy.QtWidgets import QApplication

from .settled import settle
from .simulated_viewer import simulated_viewer


def main(words: Sequence[str] | None = None) -> None:
    """Link points in a viewer, break links, and print how long each step took."""
    parser = argparse.ArgumentParser(prog="python -m auctrack.plugins.napari.scripted.act_times")
    parser.add_argument("--particles", type=int, default=20_000)
    parser.add_argument("--frames", type=int, default=51)
    parser.add_argument("--acts", type=int, default=20)
    asked = parser.parse_args(words)
    viewer, widget = _linked(asked.particles, asked.frames)
    links = len(widget.parts.session.linked.linking.links)
    times = np.array([_act(viewer, widget) for _ in range(asked.acts + 1)][1:]) * 1e3  # the first opens the corrections
    typer.echo(f"{links:,} links; milliseconds after the key, {asked.acts} acts\n")
    typer.echo("| what | median | 95th percentile | CPU, median | CPU, 95th |\n|---|---|---|---|---|")
    for name, (clock, cpu) in zip(("drawn", "everything follows"), times.transpose(1, 2, 0), strict=True):
        figures = statistics.median(clock), np.percentile(clock, 95), statistics.median(cpu), np.percentile(cpu, 95)
        typer.echo(f"| {name} | " + " | ".join(f"{figure:.0f}" for figure in figures) + " |")
    viewer.close()


def _linked(particles: int, frames: int) -> tuple[Viewer, Any]:
    viewer, widget = simulated_viewer(particles, frames, (1280, 860))
    widget.running.run_all()
    settle(widget)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    settle(widget)
    return viewer, widget


def _act(viewer: Any, widget: Any) -> tuple[tuple[float, float], ...]:
    """Break the next link; return (seconds, CPU seconds) until it was drawn, and until everything had followed."""
    canvas = viewer.window._qt_viewer.canvas.native  # noqa: SLF001 - napari offers no other way to its keys
    canvas.setFocus()
    QTest.keyClick(canvas, Qt.Key.Key_N)
    while _marked(widget) != "link looked at":
        _turn()
    settle(widget, quiet_s=0.1)
    began = time.perf_counter(), time.process_time()
    QTest.keyClick(canvas, Qt.Key.Key_B)
    while _marked(widget) != "links changed":
        _turn()
    QApplication.processEvents()
    drawn = time.perf_counter(), time.process_time()
    while widget.is_busy:
        _turn()
    ended = time.perf_counter(), time.process_time()
    assert widget.parts.bar.error.text() == ""
    return tuple((at[0] - began[0], at[1] - began[1]) for at in (drawn, ended))


def _turn() -> None:
    """Run the event loop once, without keeping a core busy."""
    QApplication.processEvents()
    time.sleep(0.001)


def _marked(widget: Any) -> str:
    layer = widget.parts.overlay.layer("link")
    return "" if layer is None else layer.name


if __name__ == "__main__":
    main()
