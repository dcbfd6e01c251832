"""Measure the CPU time that the first *Run all* of a session takes, beside the command line on the same file.

    python -m auctrack.plugins.napari.scripted.first_run
    python -m auctrack.plugins.napari.scripted.first_run --particles 20000 --frames 51

Needs a display: `xvfb-run -a -s "-screen 0 1600x1100x24"` before it brings a virtual one. Without `--particles` it is
the sample movie, from pixels to tracks; with them a table of points, which is linked. The command line goes first, so
that what numba compiles is kept by then. Its time is that of the whole process; the window's is from the press of the
button until all is drawn.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer
from napari import Viewer

from ....tracker.formats.write import write_points
from ....tracker.simulating.render import RenderSettings, render
from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..sample_data import MOVIE
from .settled import settle

_COMMAND = "from auctrack.plugins.cli.entry import main; main()"


def main(words: Sequence[str] | None = None) -> None:
    """Track a file twice from the command line, then once in a viewer, and print what the last two took."""
    parser = argparse.ArgumentParser(prog="python -m auctrack.plugins.napari.scripted.first_run")
    parser.add_argument("--particles", type=int)
    parser.add_argument("--frames", type=int, default=51)
    asked = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as place:
        path = _file(Path(place), asked.particles, asked.frames)
        by_command = [_by_command(path) for _ in range(2)][1]
        in_window = _in_window(path)
    typer.echo("| what | command line, CPU-s | first *Run all*, CPU-s | ratio |\n|---|---|---|---|")
    typer.echo(f"| {path.name} | {by_command:.2f} | {in_window:.2f} | {in_window / by_command:.2f} |")


def _file(folder: Path, particles: int | None, frames: int) -> Path:
    """Write the sample movie, or a table of simulated points, and return where it is."""
    if particles is None:
        voxels = RenderSettings(voxel_um=(1, 0.5, 0.5), seed=1)
        return render(simulate(MOVIE), folder / "movie.ome.tif", voxels)[0]
    points = simulate(SimulationSettings(particles=particles, frames=frames)).detections
    write_points(points, folder / "points.csv")
    return folder / "points.csv"


def _by_command(path: Path) -> float:
    """Return the CPU seconds that the command line takes from its start to its end."""
    step = "link" if path.suffix == ".csv" else "track"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as place:
        output = Path(place) / "out.tracks.csv" if step == "link" else Path(place)
        command = [sys.executable, "-c", _COMMAND, step, str(path), "--output", str(output)]
        subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _in_window(path: Path) -> float:
    """Return the CPU seconds from the press of *Run all* until all is shown, in a viewer that has the file open."""
    viewer: Any = Viewer(title="auctrack", show=True)
    viewer.window.resize(1280, 860)
    viewer.open(str(path), plugin="auctrack")
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    settle(widget)
    began = time.process_time()
    widget.parts.bar.run_button.click()
    settle(widget)
    took = time.process_time() - began
    assert widget.parts.session.linked is not None, widget.parts.bar.error.text()
    viewer.close()
    return took


if __name__ == "__main__":
    main()
