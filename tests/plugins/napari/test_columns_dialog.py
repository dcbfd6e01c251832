"""A table whose columns are not recognised: a dialog asks which is which, by real clicks and keys."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.napari.layers import readers
from auctrack.tracker.formats.tables import read_tracks

from .conftest import assert_copies_give_these_tracks, finish, wait
from .test_by_mouse import later, mouse  # noqa: F401 - a fixture

ROWS = [(frame, 5.0 + row, 8.0 * row, 3.0 + 0.3 * frame, row) for frame in range(6) for row in range(6)]
TABLE = pd.DataFrame(ROWS, columns=["Time Point", "depth", "centroid_row", "Pos X", "cell"])
WANTED = {"frame": "Time Point", "z": "depth", "y": "centroid_row", "x": "Pos X"}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "cells.csv"
    TABLE.to_csv(path, index=False)
    return path


@pytest.fixture(params=["small", "large"])
def opened(request, monkeypatch):
    """Whether tables are read in the background."""
    monkeypatch.setattr(readers, "_LARGE_BYTES", 5_000_000 if request.param == "small" else 10)


def answer(mouse, columns: dict[str, str] | None) -> list[tuple[dict[str, str], bool]]:  # noqa: F811
    """Choose columns in the dialog by keys and open the table, or press Cancel; return what was offered at first."""
    from qtpy.QtTest import QTest
    from qtpy.QtWidgets import QApplication, QDialogButtonBox

    from auctrack.plugins.napari.layers.columns_dialog import ColumnsDialog

    seen = []

    def act() -> bool:
        dialog = QApplication.activeModalWidget()
        if not isinstance(dialog, ColumnsDialog):
            return False
        buttons = dialog.buttons
        seen.append((dialog.columns, buttons.button(QDialogButtonBox.StandardButton.Open).isEnabled()))
        if columns is None:
            mouse.click(buttons.button(QDialogButtonBox.StandardButton.Cancel))
            return True
        for role, name in columns.items():
            box = dialog.boxes[role]
            box.setFocus()
            QTest.keyClicks(box, name)  # the entry that begins so
        mouse.click(buttons.button(QDialogButtonBox.StandardButton.Open))
        return True

    later(act)
    return seen


@pytest.mark.usefixtures("opened")
def test_columns_chosen_in_the_dialog_open_the_table(viewer, open_widget, mouse, table, tmp_path):  # noqa: F811
    seen = answer(mouse, WANTED)
    viewer.open(str(table), plugin="auctrack")
    wait(lambda: "cells.csv" in viewer.layers)
    assert seen == [({"frame": "Time Point", "x": "Pos X"}, False)]  # what the names tell; y is needed too
    layer = viewer.layers["cells.csv"]
    np.testing.assert_allclose(layer.data, TABLE[[*WANTED.values()]].to_numpy())
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    words = assert_copies_give_these_tracks(widget, table, tmp_path)  # they name the columns
    assert "--columns" in words


def test_a_track_column_makes_tracks(viewer, mouse, table):  # noqa: F811
    answer(mouse, {**WANTED, "track_id": "cell"})
    viewer.open(str(table), plugin="auctrack")
    layer = viewer.layers["cells.csv"]
    assert type(layer).__name__ == "Tracks"
    expected = read_tracks(table, columns={**WANTED, "track_id": "cell"})
    assert set(map(tuple, layer.data)) == set(
        map(tuple, expected.table[["track_id", "frame", "z", "y", "x"]].to_numpy(float))
    )


@pytest.mark.usefixtures("opened")
def test_cancel_opens_nothing(viewer, mouse, table):  # noqa: F811
    seen = answer(mouse, None)
    viewer.open(str(table), plugin="auctrack")
    wait(lambda: bool(seen))
    assert "cells.csv" not in viewer.layers
