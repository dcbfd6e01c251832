"""Make the README's pictures of the plugin: tracks in 2D, tracks in 3D, the widget, a doubtful link, lineages.

    python -m auctrack.plugins.napari.scripted.screenshots FOLDER

Needs a display (`make pictures` brings a virtual one). The movies are simulated, so the pictures can be made again.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from napari import Viewer
from napari.utils.color import ColorValue
from qtpy.QtWidgets import QApplication

from ....tracker.simulating.render import RenderSettings, render
from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..layers.readers import movie_reader
from ..sample_data import MOVIE, dividing_cells
from .settled import settle

FLAT = SimulationSettings(
    particles=150, frames=40, ndim=2, box_um=(120, 160), persistence=0.9, step_um=1.2, frame_interval_s=5, seed=4
)
DEEP = replace(MOVIE, particles=90, frames=30, box_um=(20, 60, 60), persistence=0.9)
MICROSCOPE = RenderSettings(voxel_um=(1, 0.5, 0.5), seed=2)


def main(folder: Path) -> None:
    """Make the five pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    flat, _ = _tracked(FLAT, (1000, 760))
    _save_canvas(flat, folder / "napari-2d.png", zoom=5.0)
    flat.close()
    deep, widget = _tracked(DEEP, (1280, 860))
    widget.parts.results.colour.choose("mean_speed")
    settle(widget)
    widget.parts.steps.setCurrentWidget(widget.parts.link)
    settle(widget)
    deep.screenshot(str(folder / "napari-widget.png"), canvas_only=False, flash=False)
    widget.parts.results.colour.choose("track")
    deep.dims.ndisplay = 3
    deep.scene.camera.angles = (4, 32, 125)
    deep.layers["movie"].bounding_box.visible = True
    deep.layers["movie"].bounding_box.line_color = ColorValue("gray")
    deep.layers["movie"].bounding_box.points = False
    deep.layers["particles of movie"].visible = False
    settle(widget)
    _save_canvas(deep, folder / "napari-3d.png", zoom=7.8)
    deep.dims.ndisplay = 2
    deep.layers["movie"].bounding_box.visible = False
    deep.layers["particles of movie"].visible = True
    _save_doubtful_link(deep, widget, folder / "napari-check.png")
    deep.close()
    _save_lineages(folder / "napari-lineage.png")


def _tracked(simulation: SimulationSettings, size: tuple[int, int]) -> tuple[Viewer, Any]:
    """Return a viewer in which a simulated movie has been tracked, and the widget."""
    with tempfile.TemporaryDirectory() as place:
        movie, _ = render(simulate(simulation), Path(place) / "movie.ome.tif", MICROSCOPE)
        read = movie_reader(str(movie))
        assert read is not None  # a single path is always read
        data, given, _ = read(str(movie))[0]
        frames = data.compute()
    viewer = Viewer(title="auctrack in napari", show=True)
    viewer.window.resize(*size)
    viewer.add_image(frames, **given)
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    widget.running.run_all()
    settle(widget)
    viewer.dims.set_current_step(0, len(frames) - 6)
    viewer.canvas.overlays.scale_bar.visible = True
    return viewer, widget


def _save_doubtful_link(viewer: Viewer, widget: Any, path: Path) -> None:
    """Save the widget as it shows the first link of the list beside its rivals."""
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    results.tabs.setCurrentWidget(results.doubtful)
    results.suspicious.step(1)
    settle(widget)
    viewer.scene.camera.zoom = 25.0
    settle(widget)
    viewer.screenshot(str(path), canvas_only=False, flash=False)


def _save_lineages(path: Path) -> None:
    """Save the widget as it shows the lineages of cells that divide."""
    viewer: Any = Viewer(title="auctrack in napari", show=True)
    viewer.window.resize(1280, 860)
    viewer.add_points(dividing_cells(), name="cells", size=2, scale=(600, 1, 1), units=("s", "µm", "µm"))
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    settle(widget)
    widget.parts.link.fields.ticks["divisions"].setChecked(True)
    widget.running.run_all()
    settle(widget)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.lineage_page)
    viewer.dims.set_current_step(0, 20)
    widget.looking.choose_track(8)
    settle(widget)
    viewer.screenshot(str(path), canvas_only=False, flash=False)
    viewer.close()


def _save_canvas(viewer: Viewer, path: Path, *, zoom: float) -> None:
    """Save the canvas alone, `zoom` pixels a µm."""
    viewer.scene.camera.zoom = zoom
    QApplication.processEvents()
    size: Any = (620, 840)  # napari's annotation says text, and its code takes numbers
    viewer.screenshot(str(path), size=size, canvas_only=True, flash=False)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
