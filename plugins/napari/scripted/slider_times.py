"""Measure what a step of the time slider costs over many tracks, beside a Tracks layer of napari's own.

    python -m auctrack.plugins.napari.scripted.slider_times --particles 20000 --frames 51

Needs a display: `xvfb-run -a -s "-screen 0 1600x1100x24"` before it brings a virtual one. The same steps are made as
the plugin draws by itself, with all vertices drawn, and with these in a layer of napari's in place of the plugin's.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import typer

from .settled import settle
from .simulated_viewer import simulated_viewer

_STEPS = 12


def main(words: Sequence[str] | None = None) -> None:
    """Link points in a viewer, move the slider, and print what a step costs."""
    parser = argparse.ArgumentParser(prog="python -m auctrack.plugins.napari.scripted.slider_times")
    parser.add_argument("--particles", type=int, default=20_000)
    parser.add_argument("--frames", type=int, default=51)
    asked = parser.parse_args(words)
    viewer: Any
    viewer, widget = simulated_viewer(asked.particles, asked.frames, (1280, 860))
    widget.running.run_all()
    settle(widget)
    typer.echo("| drawn | vertices | CPU milliseconds a step, median | 95th percentile |\n|---|---|---|---|")
    overlay = widget.parts.overlay
    _tell("by default", viewer, widget, overlay.layer("tracks"))
    overlay.show(replace(overlay.shown.drawing, most=len(overlay.shown.tracks)))
    settle(widget)
    ours = overlay.layer("tracks")
    _tell("all", viewer, widget, ours)
    data = ours.data.copy()
    viewer.window.remove_dock_widget("all")
    viewer.layers.clear()
    plain = viewer.add_tracks(data, tail_width=3, blending="translucent")
    _tell("napari alone", viewer, widget, plain)
    viewer.close()


def _tell(what: str, viewer: Any, widget: Any, layer: Any) -> None:
    """Step through frames of full tails, as far as the movie has them, and print the cost."""
    begin = max(int(viewer.dims.nsteps[0]) - _STEPS - 2, 0)
    viewer.dims.set_current_step(0, begin)
    settle(widget)
    cpu: list[float] = []
    for frame in range(begin + 1, begin + 1 + _STEPS):
        began = time.process_time()
        viewer.dims.set_current_step(0, frame)
        settle(widget, quiet_s=0.05)
        cpu.append(time.process_time() - began)
    figures = np.median(cpu) * 1e3, np.percentile(cpu, 95) * 1e3
    typer.echo(f"| {what} | {len(layer.data):,} | " + " | ".join(f"{figure:.0f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
