"""The mouse wheel scrolls the panels; it changes a field only once the user has clicked into it."""

from __future__ import annotations

from qtpy.QtCore import QEvent, QObject, Qt
from qtpy.QtWidgets import QAbstractSpinBox, QComboBox, QWidget


class WheelGuard(QObject):
    """Hands the wheel on to the scroll area when it turns over a field of `page` that has no focus."""

    def __init__(self, page: QWidget) -> None:
        super().__init__(page)
        for field in (*page.findChildren(QAbstractSpinBox), *page.findChildren(QComboBox)):
            field.setFocusPolicy(Qt.FocusPolicy.StrongFocus)  # Qt's default lets the wheel take the focus
            field.installEventFilter(self)

    def eventFilter(self, watched: QObject | None, event: QEvent | None) -> bool:  # noqa: N802 - Qt's name
        """Ignore the wheel over a field without focus (called by Qt)."""
        if event is None or event.type() != QEvent.Type.Wheel:
            return False
        if isinstance(watched, QWidget) and watched.hasFocus():
            return False
        event.ignore()
        return True
