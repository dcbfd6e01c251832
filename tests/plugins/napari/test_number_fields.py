"""Numbers typed by keys: a decimal comma, a power of ten, an emptied field, and what no field takes."""

from __future__ import annotations

import pytest

from .conftest import PHYSICAL, finish, process_events, spots
from .test_track_table import tracked, type_into  # noqa: F401 - a fixture

FIELDS = (
    "detect.diameter",
    "detect.threshold",
    "link.search_range",
    "link.unmatched",
    "input.interval",
    "input.voxel z",
)


@pytest.fixture
def field_of(viewer, widget):
    """Return what shows a field and gives it, by panel and name."""
    viewer.window._qt_window.activateWindow()
    parts = widget.parts

    def field(path: str):
        panel, name = path.split(".")
        parts.steps.setCurrentWidget(parts.link if panel == "link" else parts.detect)
        process_events()
        return parts.input.sizes[0] if name == "voxel z" else _of(getattr(parts, panel), name)

    return field


def _of(panel, name: str):
    """A field that a panel has by its name, or among those of its settings."""
    return getattr(panel, name) if hasattr(panel, name) else panel.fields.in_order()[name]


def type_and_look(widget, field, text: str) -> float | None:
    type_into(field, text)
    finish(widget)
    return field.number


@pytest.mark.parametrize("name", FIELDS)
def test_a_decimal_comma_and_a_power_of_ten_are_read(widget, field_of, name):
    field = field_of(name)
    for text, number in (("2,5", 2.5), ("0,325", 0.325), ("1e-3", 0.001), ("2.5E+1", 25), (" .5 ", 0.5), ("7", 7)):
        assert type_and_look(widget, field, text) == number, text


def test_what_is_typed_comes_into_the_layer_to_the_last_digit(viewer, widget, field_of):
    layer = viewer.layers["movie"]
    layer.scale = (10, 1, 0.162500001, 0.162500001)
    widget.parts.input.choose_layer("movie")
    widget.parts.input.refresh()
    type_and_look(widget, field_of("input.voxel z"), "0,65e-1")
    assert layer.scale.tolist() == [10, 0.065, 0.162500001, 0.162500001]


@pytest.mark.parametrize("name", FIELDS)
def test_what_is_no_number_of_the_field_is_refused_in_words(widget, field_of, name):
    from qtpy.QtWidgets import QToolTip

    field = field_of(name)
    type_and_look(widget, field, "3")
    for text in ("-1", "0", "1,000.5", "2 5", "inf", "nan", "abc", "1e99"):
        assert type_and_look(widget, field, text) == 3, text
        assert field.text().startswith("3")
        assert text in QToolTip.text()
    QToolTip.hideText()


@pytest.mark.parametrize("name", [*FIELDS[:-1], "link.max_missed_frames"])
def test_an_emptied_field_is_auto_again(widget, field_of, name):
    field = field_of(name)
    said = "not known" if name == "input.interval" else "auto"
    for text in ("", said):
        assert type_and_look(widget, field, "3") == 3
        assert type_and_look(widget, field, text) is None
        assert field.text() == said
    assert said in field.toolTip()


def test_an_emptied_voxel_size_stays_what_it_was(widget, field_of):
    field = field_of("input.voxel z")
    assert type_and_look(widget, field, "") == 1
    assert field.text() == "1"


def test_whole_numbers_are_whole(widget, field_of):
    missed, last = field_of("link.max_missed_frames"), widget.parts.input.part.last
    assert type_and_look(widget, missed, "2") == 2
    for text in ("1,5", "1.5", "-1", "100"):
        assert type_and_look(widget, missed, text) == 2, text
        assert type_and_look(widget, last, text) == 5, text


def test_a_suggestion_stays_beside_auto_and_the_keys_step_from_it(widget, field_of, viewer):
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    del viewer
    field = field_of("detect.diameter")
    field.show_found(3.6)
    type_and_look(widget, field, "5")
    assert type_and_look(widget, field, "") is None
    field.show_found(3.6)
    assert field.text() == "auto: 3.6 µm"
    QTest.keyClick(field, Qt.Key.Key_Up)
    assert field.number == pytest.approx(3.7)
    type_and_look(widget, field, "")
    for key in (Qt.Key.Key_End, Qt.Key.Key_4, Qt.Key.Key_Return):  # behind auto
        QTest.keyClick(field, key)
    assert field.number == 4


def test_beside_auto_stands_what_auto_was_found_to_be_and_no_number_that_was_typed(widget, field_of):
    """Nor what it was found to be with other motion: of Jaqaman's linking the range is measured, else it is learned."""
    diameter, threshold, search_range = map(field_of, ("detect.diameter", "detect.threshold", "link.search_range"))
    link = widget.parts.link
    link.linking.setCurrentIndex(link.linking.findData("jaqaman"))
    type_and_look(widget, diameter, "4")
    widget.running.run_all()
    finish(widget)
    assert threshold.text().startswith("auto: ")
    assert search_range.text().startswith("auto: ")
    assert link.reason.text()
    assert "learned" not in link.reason.text()
    type_and_look(widget, diameter, "")
    assert diameter.text() == "auto"
    link.linking.setCurrentIndex(link.linking.findData("auctrack"))
    assert search_range.text() == "auto"
    assert "learned in a run" in link.reason.text()


def test_filters_read_numbers_the_same_way(tracked):  # noqa: F811
    one = tracked.parts.results.filters.filters["length"]
    type_into(one.least, "2,5")
    assert one.range[0] == 2.5
    type_into(one.least, "abc")
    assert one.range[0] == 2.5
    assert one.least.text() == "2.5"
    type_into(one.least, "")
    assert one.range[0] == -float("inf")


def test_layers_in_metres_keep_their_voxel_size(viewer, open_widget):
    units = ("s", "m", "m", "m")
    viewer.add_image(spots(), name="movie", **{**PHYSICAL, "scale": (10, 1e-6, 5e-7, 5e-7), "units": units})
    widget = open_widget()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    type_and_look(widget, widget.parts.input.sizes[0], "2e-6")
    assert viewer.layers["movie"].scale.tolist() == [10, 2e-6, 5e-7, 5e-7]
