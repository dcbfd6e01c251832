"""A tour of what the plugin can show, a picture of each state, on two sizes of screen and in both themes.

    python -m auctrack.plugins.napari.scripted.tour FOLDER

Needs a display of 1600×1100 (`xvfb-run -a -s "-screen 0 1600x1100x24"` brings a virtual one). Set QT_API to pyside6 for
the other binding. The pictures are for looking at: cut text, poor contrast, what lies below the fold.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import qtpy
from napari import Viewer
from napari.settings import get_settings
from qtpy.QtCore import Qt
from qtpy.QtWidgets import QApplication

from ....tracker.simulating.render import RenderSettings, render
from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..layers.layer_tables import tracks_layer
from ..layers.readers import movie_reader
from ..panels.scroll import PanelScroll
from ..sample_data import dividing_cells
from .settled import settle

SIZES = ((1600, 1100), (1280, 720))
THEMES = ("dark", "light")
MOVIE = SimulationSettings(
    particles=60, frames=12, box_um=(8, 40, 40), step_um=1.2, persistence=0.5, frame_interval_s=10, seed=3
)
MICROSCOPE = RenderSettings(voxel_um=(1, 0.5, 0.5), seed=3)


def main(folder: Path) -> None:
    """Write a picture of every state, named by binding, theme, size and state."""
    folder.mkdir(parents=True, exist_ok=True)
    viewer = Viewer(title="auctrack in napari", show=True)
    for theme in THEMES:
        for size in SIZES:
            for name, _ in states(viewer, theme, size):
                viewer.screenshot(
                    str(folder / f"{picture_name(theme, size, name)}.png"), canvas_only=False, flash=False
                )
    viewer.close()


def picture_name(theme: str, size: tuple[int, int], state: str) -> str:
    """Return the name of a picture without its suffix."""
    return f"{str(qtpy.API_NAME).lower()}-{theme}-{size[0]}x{size[1]}-{state}"


def states(viewer: Any, theme: str, size: tuple[int, int]) -> Iterator[tuple[str, Any]]:
    """Bring a viewer from state to state; yield the name of each, and the widget. It is empty in the end."""
    appearance: Any = get_settings().appearance
    appearance.theme = theme
    viewer.window.resize(*size)
    _, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
    for number, name in enumerate(_all_states(viewer, widget)):
        settle(widget, quiet_s=0.3)  # Qt lays out nested tabs in several turns
        yield f"{number:02}-{name}", widget
    viewer.window.remove_dock_widget("all")
    viewer.layers.clear()
    viewer.dims.ndisplay = 2
    QApplication.processEvents()


def _all_states(viewer: Any, widget: Any) -> Iterator[str]:
    yield "empty-viewer"
    yield from _errors(viewer, widget)
    yield from _steps(viewer, widget)
    yield from _results(viewer, widget)
    yield from _corrections(viewer, widget)
    yield from _lineages(viewer, widget)


def _errors(viewer: Any, widget: Any) -> Iterator[str]:
    viewer.add_image(np.random.default_rng(0).poisson(9, (64, 64)), name="photo")
    yield "error-no-time-axis"
    viewer.layers.clear()
    viewer.add_image(np.random.default_rng(0).poisson(9, (5, 64, 64)), name="noise")
    settle(widget, quiet_s=0.05)
    widget.parts.detect.threshold.setValue(1e6)
    widget.running.run_all()
    yield "error-nothing-found"
    widget.parts.detect.threshold.setValue(0)
    viewer.layers.clear()


def _steps(viewer: Any, widget: Any) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as place:
        movie, _ = render(simulate(MOVIE), Path(place) / "movie.ome.tif", MICROSCOPE)
        read = movie_reader(str(movie))
        assert read is not None  # a single path is always read
        data, given, _ = read(str(movie))[0]
        viewer.add_image(data.compute(), **given)
    yield "image-opened"
    widget.parts.detect.preview.setChecked(True)
    widget.suggesting.suggest_detection()
    yield "preview"
    widget.parts.detect.preview.setChecked(False)
    widget.running.run_detect()
    yield "detected"
    widget.parts.steps.setCurrentWidget(widget.parts.link)
    widget.suggesting.suggest_linking()
    yield "link-suggested"
    yield from _jaqaman(widget)
    widget.running.run_all()
    settle(widget, quiet_s=0.05)
    viewer.dims.set_current_step(0, 8)
    yield "linked"


def _jaqaman(widget: Any) -> Iterator[str]:
    """Show the fields that Jaqaman's linking has beside, scrolled to the last of them."""
    link = widget.parts.link
    link.linking.setCurrentIndex(link.linking.findData("jaqaman"))
    link.fields.texts["link_penalties"].setText("intensity=1")
    settle(widget, quiet_s=0.05)
    (page,) = widget.findChildren(PanelScroll, options=Qt.FindChildOption.FindDirectChildrenOnly)
    page.ensureWidgetVisible(link.fields.texts["merge_penalties"])
    yield "link-jaqaman"
    link.fields.texts["link_penalties"].clear()
    link.linking.setCurrentIndex(0)


def _results(viewer: Any, widget: Any) -> Iterator[str]:
    results = widget.parts.results
    results.filters.filters["length"].set_range((4, np.inf))
    yield "filtered"
    results.tabs.setCurrentWidget(results.tracks)
    yield "table"
    results.tracks.table.selectAll()
    yield "table-many-rows"
    widget.looking.choose_track(int(results.kept["track_id"].iloc[0]))
    results.tabs.setCurrentWidget(results.one_track)
    yield "one-track"
    results.colour.choose("mean_speed")
    viewer.dims.ndisplay = 3
    yield "coloured-in-3d"
    viewer.dims.ndisplay = 2
    with tempfile.TemporaryDirectory() as place:
        widget.taking_away.export(str(Path(place) / "tracks.csv"))
        settle(widget, quiet_s=0.05)
    yield "exported"


def _corrections(viewer: Any, widget: Any) -> Iterator[str]:
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    results.suspicious.step(1)
    settle(widget, quiet_s=0.05)
    viewer.scene.camera.zoom *= 2
    yield "doubtful-link"
    widget.correcting.break_link()
    yield "corrected"
    results.help_button.click()
    yield "help"
    results.help_button.click()
    widget.parts.session.discard()  # else it would be offered again in the pictures that follow
    yield from _saved_tracks(viewer, widget)
    viewer.layers.clear()


def _saved_tracks(viewer: Any, widget: Any) -> Iterator[str]:
    tracks = widget.parts.session.linked.linking.tracks
    data, given, _ = tracks_layer(tracks, "saved tracks")
    viewer.layers.clear()
    viewer.add_tracks(data, **given)
    widget.parts.input.choose_layer("saved tracks")  # whose place the deleted one held, for its corrections
    settle(widget, quiet_s=0.05)
    yield "saved-tracks-opened"
    widget.parts.input.take_up_button.click()
    settle(widget, quiet_s=0.05)
    widget.parts.results.tabs.setCurrentWidget(widget.parts.results.doubtful)
    widget.parts.results.suspicious.step(1)
    yield "taken-up"


def _lineages(viewer: Any, widget: Any) -> Iterator[str]:
    viewer.add_points(dividing_cells(), name="cells", size=2)
    viewer.reset_view()
    settle(widget, quiet_s=0.05)
    yield "points-opened"
    widget.parts.link.fields.ticks["divisions"].setChecked(True)
    widget.running.run_all()
    settle(widget, quiet_s=0.05)
    results = widget.parts.results
    results.tabs.setCurrentWidget(results.lineage_page)
    widget.looking.choose_track(int(results.kept["track_id"].iloc[0]))
    viewer.dims.set_current_step(0, 17)
    yield "lineage"
    widget.taking_away.copy_command()
    yield "error-no-file"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
