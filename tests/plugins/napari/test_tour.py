"""Every state of the plugin on two sizes of screen and in both themes: a picture of each, nothing cut or hidden."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

PARTS = {
    "image-opened": ["detect.run_button", "bar.run_button"],
    "preview": ["detect.found"],
    "detected": ["bar.status"],
    "link-suggested": ["link.run_button", "link.steps"],
    "link-jaqaman": ["link.fields.texts.link_penalties", "link.fields.texts.merge_penalties"],
    "linked": ["results.export_button", "results.colour", "bar.status"],
    "filtered": ["results.count", "results.filters.columns"],
    "table": ["results.tracks.copy_button", "results.tracks.save_button", "results.toml_button"],
    "table-many-rows": ["results.tracks.copy_button"],
    "one-track": ["results.follow_box"],
    "coloured-in-3d": ["results.colour.bar"],
    "exported": ["bar.status"],
    "doubtful-link": ["results.confirm_button", "results.undo_button", "results.help_button", "results.progress"],
    "corrected": ["results.keep_button", "bar.status"],
    "help": ["results.help"],
    "saved-tracks-opened": ["input.take_up_button"],
    "taken-up": ["results.confirm_button", "results.progress", "bar.status"],
    "lineage": ["results.lineage"],
    "empty-viewer": ["input.problem"],
    "error-no-time-axis": ["input.problem"],
    "error-nothing-found": ["bar.error", "bar.details_button"],
    "error-no-file": ["bar.error"],
}


@pytest.fixture
def pictures(tmp_path) -> Path:
    """Where the pictures go: a folder that AUCTRACK_TOUR names, to look at them, or one that is thrown away."""
    folder = Path(os.environ.get("AUCTRACK_TOUR", tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.mark.parametrize("theme", ["dark", "light"])
@pytest.mark.parametrize("size", [(1600, 1100), (1280, 720)], ids=lambda size: f"{size[0]}x{size[1]}")
def test_every_state_is_seen_whole(viewer, pictures, theme, size):
    from auctrack.plugins.napari.scripted.tour import picture_name, states

    seen: dict[str, np.ndarray] = {}
    try:
        for name, widget in states(viewer, theme, size):
            path = pictures / f"{picture_name(theme, size, name)}.png"
            seen[name] = viewer.screenshot(str(path), canvas_only=False, flash=False)
            assert path.stat().st_size > 0
            assert cut_texts(widget) == [], name
            assert overlapping(widget.parts.results.doubtful) == [], name
            assert overlapping(viewer.window._qt_viewer.dims) == [], name  # sliders of layers before and of now
            assert hidden(widget, PARTS.get(name.partition("-")[2], [])) == [], name
    finally:
        from napari.settings import get_settings

        get_settings().appearance.theme = "dark"
    assert len(seen) == 23
    assert set(PARTS) <= {name.partition("-")[2] for name in seen}
    assert {picture.shape for picture in seen.values()} == {(size[1], size[0], 4)}
    pairs = zip(seen.values(), [*seen.values()][1:], strict=False)
    assert all((one != other).any() for one, other in pairs)


def cut_texts(widget) -> list[str]:
    """Texts of buttons, ticks, boxes and numbers in sight for which there is no room."""
    from qtpy.QtWidgets import QAbstractSpinBox, QCheckBox, QComboBox, QLabel, QPushButton

    cut = [
        field.text()
        for field in widget.findChildren(QAbstractSpinBox)
        if field.isVisible() and field.lineEdit().width() < field.fontMetrics().horizontalAdvance(field.text())
    ]
    for kind in (QPushButton, QCheckBox, QLabel, QComboBox):
        for one in widget.findChildren(kind):
            text = one.currentText() if kind is QComboBox else one.text()
            if not one.isVisible() or (kind is QLabel and one.wordWrap()):
                continue
            if one.fontMetrics().horizontalAdvance(text) > one.width():
                cut.append(text)
    return cut


def overlapping(page) -> list[str]:
    """Which parts of a page lie over each other."""
    from qtpy.QtCore import Qt
    from qtpy.QtWidgets import QWidget

    parts = page.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
    seen = [part for part in parts if part.isVisible()]
    return [
        f"{type(one).__name__} and {type(other).__name__}"
        for k, one in enumerate(seen)
        for other in seen[:k]
        if one.geometry().intersects(other.geometry())
    ]


def part_of(whole, name: str):
    return whole[name] if isinstance(whole, dict) else getattr(whole, name)


def hidden(widget, names: list[str]) -> list[str]:
    """Which parts are not seen whole without scrolling."""
    from functools import reduce

    missing = []
    for name in names:
        part = reduce(part_of, name.split("."), widget.parts)
        if not part.isVisible() or part.visibleRegion().boundingRect().size() != part.size():
            missing.append(name)
    return missing


@pytest.mark.usefixtures("display")
def test_the_other_binding_has_the_same_states():
    """In a process of its own, for one takes one binding only."""
    other = {"pyqt6": "pyside6", "pyside6": "pyqt6"}[os.environ["QT_API"]]
    test = f"{Path(__file__)}::{test_every_state_is_seen_whole.__name__}[1280x720-light]"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test]
    result = subprocess.run(
        command, env=os.environ | {"QT_API": other}, capture_output=True, text=True, timeout=600, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "1 passed" in result.stdout
