"""What a user does with the mouse: menus, a dropped file, buttons, a dragged limit, a click on a particle, a dialog."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from .conftest import PHYSICAL, finish, process_events, spots, wait


@pytest.fixture
def mouse(display):  # noqa: ARG001 - Qt wants a display
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    class Mouse:
        def click(self, widget, place=None) -> None:
            assert widget.isVisibleTo(widget.window())
            assert widget.isEnabled()
            QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place or widget.rect().center())
            process_events()

        def drag(self, widget, start, end) -> None:
            QTest.mousePress(widget, Qt.MouseButton.LeftButton, pos=start)
            QTest.mouseMove(widget, (start + end) / 2)
            QTest.mouseMove(widget, end)
            QTest.mouseRelease(widget, Qt.MouseButton.LeftButton, pos=end)
            process_events()

        def choose(self, menu_bar, *names: str) -> None:
            """Click through a menu as far as its last entry."""
            host = menu_bar
            for name in names:
                (entry,) = (action for action in host.actions() if action.text().replace("&", "") == name)
                self.click(host, host.actionGeometry(entry).center())
                if entry.menu() is not None:
                    host = entry.menu()
                    wait(host.isVisible)

    return Mouse()


def later(act: Callable[[], bool]) -> None:
    """Try again and again, from inside the event loop of whatever dialog opens, until something could be done."""
    from qtpy.QtCore import QTimer
    from qtpy.QtWidgets import QApplication

    timer = QTimer(QApplication.instance())
    timer.setInterval(50)

    def attempt() -> None:
        timer.stop()  # deleted it is only once the outermost dialog has closed: the next one would be acted on too
        if act():
            timer.deleteLater()
        else:
            timer.start()

    timer.timeout.connect(attempt)
    timer.start()


def tracking_widget(viewer):
    from auctrack.plugins.napari.widget import TrackWidget

    return viewer.window._qt_window.findChild(TrackWidget)


def track_the_sample_movie(viewer, mouse):
    """Return the widget once the sample movie is tracked, all by the mouse."""
    menu_bar = viewer.window._qt_window.menuBar()
    mouse.choose(menu_bar, "File", "Open Sample", "auctrack", "Simulated 3D movie with truth")
    wait(lambda: "movie" in viewer.layers)
    mouse.choose(menu_bar, "Layers", "Track", "Track particles (auctrack)")
    wait(lambda: tracking_widget(viewer) is not None)
    widget = tracking_widget(viewer)
    mouse.click(widget.parts.bar.run_button)
    finish(widget)
    return widget


def test_four_clicks_from_the_menus_to_tracks_over_the_sample_movie(viewer, mouse):
    widget = track_the_sample_movie(viewer, mouse)
    assert "proven optimal" in widget.parts.bar.status.text()
    assert len(viewer.layers["tracks of movie"].data) > 1000
    truth = viewer.layers["true tracks"]
    assert not truth.visible
    np.testing.assert_array_equal(truth.scale, viewer.layers["tracks of movie"].scale)


def test_a_dropped_table_opens_as_points_and_is_tracked(viewer, open_widget, mouse, tmp_path):
    path = tmp_path / "beads.csv"
    rows = [f"{frame},{y},{x + frame}" for frame in range(4) for y, x in ((5, 5), (20, 30))]
    path.write_text("\n".join(["frame,y,x", *rows]))
    choose_reader("auctrack")
    drop(viewer, path)
    wait(lambda: "beads.csv" in viewer.layers)
    widget = open_widget()
    finish(widget)
    assert widget.parts.input.summary.text() == "8 points in 4 frames, 2D"
    mouse.click(widget.parts.bar.run_button)
    finish(widget)
    assert len(widget.parts.session.data.measures) == 2


def drop(viewer, path) -> None:
    """Drag a file over the viewer and drop it."""
    from qtpy.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
    from qtpy.QtGui import QDragEnterEvent, QDropEvent
    from qtpy.QtWidgets import QApplication

    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    held = Qt.DropAction.CopyAction, mime, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    target = viewer.window._qt_viewer
    over = QDragEnterEvent(QPoint(200, 200), *held)
    QApplication.sendEvent(target, over)
    assert over.isAccepted()
    QApplication.sendEvent(target, QDropEvent(QPointF(200, 200), *held))


def choose_reader(name: str) -> None:
    """Answer napari's question which plugin is to read a file."""
    from qtpy.QtWidgets import QApplication, QDialogButtonBox, QRadioButton

    def answer() -> bool:
        dialog = QApplication.activeModalWidget()
        if dialog is None or dialog.objectName() != "Choose reader":
            return False
        (reader,) = (button for button in dialog.findChildren(QRadioButton) if button.text() == name)
        reader.click()
        dialog.findChild(QDialogButtonBox).button(QDialogButtonBox.StandardButton.Ok).click()
        return True

    later(answer)


@pytest.fixture
def tracked(viewer, open_widget):
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    return widget


def test_a_limit_is_dragged_in_its_histogram(tracked, mouse):
    from qtpy.QtCore import QPoint

    chart = tracked.parts.results.filters.charts["length"]
    area = chart._area()
    left, middle = QPoint(int(area.left()) + 1, 40), QPoint(int(area.center().x()), 40)
    before = tracked.parts.results.tracks.table.count
    mouse.drag(chart, left, middle)
    low, high = chart.limits
    assert 1 < low < high == 6
    kept = tracked.parts.session.data.kept({"length": (low, high)})
    assert tracked.parts.results.tracks.table.count == len(kept) < before
    finish(tracked)


def test_steps_are_run_by_their_buttons(viewer, open_widget, mouse):
    viewer.add_image(spots(), name="movie", **PHYSICAL)
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    finish(widget)
    parts = widget.parts
    mouse.click(parts.detect.suggest_button)
    finish(widget)
    assert parts.detect.reason.text() != ""
    mouse.click(parts.detect.run_button)
    finish(widget)
    parts.steps.setCurrentWidget(parts.link)
    mouse.click(parts.link.suggest_button)
    finish(widget)
    assert "nearest neighbour" in parts.link.reason.text()
    mouse.click(parts.link.run_button)
    finish(widget)
    mouse.click(parts.results.command_button)
    assert "save it" in parts.bar.error.text()  # the movie is in no file


@pytest.mark.parametrize("ndisplay", [2, 3])
def test_a_particle_is_clicked_on_the_canvas(viewer, tracked, mouse, ndisplay):
    viewer.dims.ndisplay = ndisplay
    layer = viewer.layers["particles of movie"]
    place = layer.data[3]
    viewer.dims.set_point(range(4), np.asarray(layer.data_to_world(place)).tolist())
    process_events()
    tracked.parts.session.chosen = None
    mouse.click(viewer.window._qt_viewer.canvas.native, on_canvas(viewer, layer, place))
    finish(tracked)
    assert tracked.parts.session.chosen == tracked.parts.overlay.shown.tracks.table["track_id"].iloc[3]


def test_after_a_deletion_a_click_picks_the_track_of_the_particle_under_it(viewer, tracked, mouse):
    layer = viewer.layers["particles of movie"]
    layer.selected_data = {0, 1, 2}
    layer.remove_selected()
    finish(tracked)  # rows have other numbers then
    place, track_id = layer.data[3], layer.features["track_id"].iloc[3]
    viewer.dims.set_point(range(4), np.asarray(layer.data_to_world(place)).tolist())
    process_events()
    mouse.click(viewer.window._qt_viewer.canvas.native, on_canvas(viewer, layer, place))
    finish(tracked)
    assert tracked.parts.session.chosen == track_id


def on_canvas(viewer, layer, place):
    """Return the point of the canvas at which a place of a layer's data is seen."""
    from qtpy.QtCore import QPoint

    canvas = viewer.window._qt_viewer.canvas
    node = canvas.layer_to_visual[layer].node
    shown = [place[axis] for axis in viewer.dims.displayed]
    x, y, *_, w = node.get_transform("visual", "canvas").map(shown[::-1])
    return QPoint(round(x / w), round(y / w))
