"""Of a file with several series the one that is tracked is seen, and no results over the picture of another."""

from __future__ import annotations

import pandas as pd
import pytest
import tifffile

from auctrack.plugins.napari.layers import readers
from auctrack.plugins.napari.layers.image_under import image_under
from auctrack.plugins.napari.layers.layer_input import LayerInput, read_layer
from auctrack.plugins.napari.layers.series_shown import series_of, show_series
from auctrack.plugins.napari.session.placing import adding
from auctrack.plugins.napari.session.session import WidgetSession
from auctrack.plugins.napari.session.steps import find_and_chain
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.editing.session import Session as EditSession
from auctrack.tracker.editing.session_file import read_session
from auctrack.tracker.errors import InvalidEdit
from auctrack.tracker.formats.tables import read_tracks
from auctrack.tracker.linking.settings import LinkSettings

from .conftest import finish, open_dock, process_events, spots
from .test_by_mouse import later, mouse  # noqa: F401 - a fixture
from .test_correcting import press

SIZES = {f"PhysicalSize{axis}": 0.5 for axis in "YX"} | {f"PhysicalSize{axis}Unit": "µm" for axis in "YX"}


@pytest.fixture
def plate(tmp_path) -> str:
    """A file of three positions."""
    path = tmp_path / "plate.ome.tif"
    with tifffile.TiffWriter(path, ome=True) as tif:
        for number in range(3):
            movie = spots(frames=3, shape=(48, 48), seed=number)
            tif.write(movie, metadata={"axes": "TYX", **SIZES, "Name": f"Pos{number}"})
    return str(path)


@pytest.fixture
def images(plate) -> list:
    """The layers of its positions, in no viewer."""
    from napari.layers import Layer

    return [Layer.create(*layer) for layer in readers.movie_reader(plate)(plate)]


@pytest.fixture
def opened(viewer, plate):
    """A viewer with it, opened before the dock as most users do."""
    viewer.open(plate, plugin="auctrack")
    widget = open_dock(viewer)
    finish(widget)
    return widget


def shown(viewer) -> set[str]:
    return {layer.name for layer in viewer.layers if layer.visible}


def choose(widget, name: str) -> None:
    box = widget.parts.input.layer_box
    box.setCurrentIndex(box.findText(name))
    finish(widget)


def test_the_series_that_is_shown_is_the_input_to_begin_with(viewer, opened):
    assert viewer.layers.selection.active.name == "plate Pos2"  # opened last, and hidden
    assert opened.parts.input.layer.name == "plate Pos0"
    assert shown(viewer) == {"plate Pos0"}


def test_a_series_that_is_chosen_is_shown_without_the_others(viewer, opened):
    choose(opened, "plate Pos1")
    assert shown(viewer) == {"plate Pos1"}


def test_results_of_a_run_are_seen_over_the_picture_of_their_own_series_alone(viewer, opened, mouse):  # noqa: F811
    for name in ("plate Pos0", "plate Pos2", "plate Pos0"):
        choose(opened, name)
        mouse.click(opened.parts.bar.run_button)
        finish(opened)
        assert shown(viewer) == {name, f"particles of {name}", f"tracks of {name}"}
        opened.looking.choose_track(0)
        finish(opened)


def test_series_that_the_user_shows_together_stay_so(viewer, opened):
    for layer in viewer.layers:
        layer.visible = True
    choose(opened, "plate Pos1")
    assert shown(viewer) == {f"plate Pos{number}" for number in range(3)}


# --- particles of a series whose image is not the input ----------------------------------------------------------


def test_the_image_of_a_series_goes_before_the_one_on_top(images):
    from napari.components import ViewerModel
    from napari.layers import Tracks

    model = ViewerModel()
    model.layers.extend([*images, tracks := Tracks([[0, 0, 1.0, 1.0], [0, 1, 1.0, 1.0]], scale=images[0].scale)])
    assert series_of(images[2]) == (2, "Pos2")
    wanted = {None: 0, 2: 2, "Pos1": 1, "Pos7": 0}
    assert {series: images.index(image_under(model, tracks, series)) for series in wanted} == wanted
    show_series(model, images[2])
    assert [image.visible for image in images] == [False, False, True]
    images[1].visible = True
    assert images.index(image_under(model, tracks)) == 2
    assert images.index(image_under(model, tracks, 1)) == 1
    assert images.index(image_under(model, images[0], 1)) == 0


def test_a_session_says_its_series_each_time_it_is_saved_and_measures_in_no_other(images, tmp_path):
    def say_nothing(advance: object) -> None:
        del advance

    def saved(session: WidgetSession, name: str) -> str:
        session.write(session.data, session.data.measures, path := str(tmp_path / name), 1, None, say_nothing)
        return path

    session = WidgetSession()
    session.begin(read_layer(images[2]))
    session.keep(find_and_chain(session.source, DetectSettings(), LinkSettings(), say_nothing))
    first = saved(session, "first.auctrack")
    again = WidgetSession()
    again.begin(LayerInput("points", read_tracks(first), "", first, None))
    assert again.series is None
    again.keep(again.taking_up(DetectSettings(), LinkSettings())(say_nothing))
    assert again.series == 2
    assert read_session(saved(again, "second.auctrack")).settings.input.series == 2

    edits, place = again.corrections._opened(), (0, [1.0, 1.0])
    adding(edits, again.ground(read_layer(images[2]).source, series_of(images[2])), place)
    adding(edits, again.ground(read_layer(images[1]).source), place)  # of a file that holds it alone
    with pytest.raises(InvalidEdit, match="series 2 "):
        adding(edits, again.ground(read_layer(images[1]).source, series_of(images[1])), place)


def test_a_reopened_session_measures_what_is_added_in_its_own_series_or_refuses_it(viewer, opened, plate, tmp_path):
    choose(opened, "plate Pos1")
    opened.running.run_all()
    finish(opened)
    opened.taking_away.export(str(tmp_path / "left.auctrack"))
    finish(opened)
    viewer.layers.clear()
    viewer.open(plate, plugin="auctrack")
    viewer.open(str(tmp_path / "left.auctrack"), plugin="auctrack")
    choose(opened, "left.auctrack")
    assert "plate Pos0" in shown(viewer)
    opened.parts.input.take_up_button.click()
    finish(opened)
    assert {name for name in shown(viewer) if name.startswith("plate")} == {"plate Pos1"}

    def table() -> pd.DataFrame:
        return opened.parts.session.linked.linking.tracks.table

    n, known = len(table()), table().iloc[3].copy()
    opened.correcting._correct(EditSession.delete_detection, 3)
    finish(opened)
    where = viewer.layers["left.auctrack"].data_to_world(known[["frame", "y", "x"]].to_numpy(float))
    viewer.dims.set_point(range(3), where)
    viewer.cursor.position, viewer.mouse_over_canvas = tuple(where), True
    viewer.layers["plate Pos2"].visible = True  # and lies above
    press(viewer, "i")
    finish(opened)
    assert len(table()) == n
    for name in ("frame", "y", "x", "quality", "intensity", "snr"):
        assert table().iloc[-1][name] == pytest.approx(known[name], rel=1e-6)

    viewer.layers.remove("plate Pos1")
    process_events()
    press(viewer, "u")
    finish(opened)
    press(viewer, "i")
    finish(opened)
    assert "series 1 " in opened.parts.bar.error.text()
    assert len(table()) == n - 1


@pytest.mark.parametrize(
    ("rows", "shown_names"), [([], []), ([0], ["plate Pos0"]), ([2, 1], ["plate Pos1", "plate Pos2"])], ids=str
)
def test_of_very_many_images_those_are_opened_that_are_asked_for(viewer, plate, mouse, monkeypatch, rows, shown_names):  # noqa: F811
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest
    from qtpy.QtWidgets import QApplication, QDialogButtonBox

    from auctrack.plugins.napari.layers.series_dialog import SeriesDialog

    monkeypatch.setattr(readers, "_MOST_SERIES", 2)
    offered = []

    def act() -> bool:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, SeriesDialog):
            return False
        offered.append((dialog.list.count(), dialog.chosen))
        for k, row in enumerate(rows):
            place = dialog.list.visualItemRect(dialog.list.item(row)).center()
            keys = Qt.KeyboardModifier.ControlModifier if k else Qt.KeyboardModifier.NoModifier
            QTest.mouseClick(dialog.list.viewport(), Qt.MouseButton.LeftButton, keys, place)
        button = QDialogButtonBox.StandardButton.Open if rows else QDialogButtonBox.StandardButton.Cancel
        mouse.click(dialog.buttons.button(button))
        return True

    later(act)
    viewer.open(plate, plugin="auctrack")
    assert offered == [(3, [0])]
    assert [layer.name for layer in viewer.layers] == shown_names
    assert shown(viewer) == set(shown_names[:1])


def test_without_a_viewer_nobody_is_asked(plate, monkeypatch):
    monkeypatch.setattr(readers, "_MOST_SERIES", 2)
    monkeypatch.setattr("napari.current_viewer", lambda: None)
    assert len(readers.movie_reader(plate)(plate)) == 3
