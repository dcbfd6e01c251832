"""The wheel over the docked widget changes only a field that was clicked."""

from __future__ import annotations

from .conftest import process_events


def notch(field) -> None:
    """Turn the wheel by one notch over the middle of a field, as a mouse does."""
    from qtpy.QtCore import QPoint, QPointF, Qt
    from qtpy.QtGui import QWheelEvent
    from qtpy.QtWidgets import QApplication

    middle = QPointF(field.rect().center())
    event = QWheelEvent(
        middle,
        QPointF(field.mapToGlobal(field.rect().center())),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field, event)
    process_events()


def fields_of(widget):
    from qtpy.QtWidgets import QAbstractSpinBox, QComboBox

    return [*widget.findChildren(QAbstractSpinBox), *widget.findChildren(QComboBox)]


def value_of(field) -> int | str:
    return field.currentIndex() if hasattr(field, "currentIndex") else field.text()


def test_no_field_of_any_tab_is_changed_or_focused_by_the_wheel(widget, viewer):
    geometry = viewer.layers["movie"].scale.tolist(), viewer.layers["movie"].units
    steps = widget.parts.steps
    viewer.window._qt_viewer.setFocus()
    for page in range(steps.count()):
        steps.setCurrentIndex(page)
        process_events()
        for field in fields_of(widget):
            before = value_of(field)
            for _ in range(5):
                notch(field)
            assert (value_of(field), field.hasFocus()) == (before, False), field.toolTip()
    assert (viewer.layers["movie"].scale.tolist(), viewer.layers["movie"].units) == geometry


def test_a_field_that_was_clicked_takes_the_wheel(widget, viewer):
    viewer.window._qt_window.activateWindow()
    widget.parts.steps.setCurrentWidget(widget.parts.link)
    field = widget.parts.link.search_range
    field.setFocus()
    process_events()
    assert field.hasFocus()
    before = field.value()
    notch(field)
    assert field.value() > before
