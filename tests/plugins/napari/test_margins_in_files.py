"""After corrections, margins that are shown are near these only: files have all measured, or say so."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.plugins.napari.session import corrections

from .conftest import finish
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_correcting import dense_movie, press  # noqa: F401 - a fixture among them


@pytest.fixture
def corrected(viewer, dense_movie, monkeypatch):  # noqa: F811
    """The widget after a correction, of which the margins that are shown are all wrong."""
    measured_links = corrections.measured_links

    def wrong(*given):
        data = measured_links(*given)
        return replace(data, measures=data.measures.assign(smallest_margin=-1.0))

    monkeypatch.setattr(corrections, "measured_links", wrong)
    for key in ("n", "b"):
        press(viewer, key)
        finish(dense_movie)
    return dense_movie


def anew(widget) -> np.ndarray:
    """The smallest margin of each track, measured by linking of the corrected tracks."""
    linking = widget.parts.session.corrections.measured()
    margins = linking.links["margin"].groupby(linking.tracks.table["track_id"].to_numpy()[linking.links["source"]])
    return margins.min().reindex(widget.parts.results.data.measures["track_id"]).to_numpy()


def test_a_saved_table_has_every_margin_measured(corrected, mouse, monkeypatch, tmp_path):  # noqa: F811
    from qtpy.QtWidgets import QFileDialog

    path = tmp_path / "measures.csv"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_, **__: (str(path), ""))
    results = corrected.parts.results
    results.tabs.setCurrentWidget(results.tracks)
    results.tracks.table.sortByColumn(1, results.tracks.table.horizontalHeader().sortIndicatorOrder())
    order = results.tracks.shown()
    mouse.click(results.tracks.save_button)
    finish(corrected)
    written = pd.read_csv(path)
    assert [*written.columns] == [*order.columns]
    assert written["track_id"].tolist() == order["track_id"].tolist()
    expected = pd.Series(anew(corrected), results.data.measures["track_id"])[written["track_id"]]
    np.testing.assert_array_equal(written["smallest_margin"], expected)


@pytest.mark.usefixtures("corrected")
@pytest.mark.parametrize("name", ["tracks of beads", "particles of beads"])
def test_what_napari_saves_says_which_margins_were_measured(viewer, tmp_path, name):
    from napari.utils.notifications import notification_manager

    path = tmp_path / "saved.csv"
    notification_manager.records.clear()
    viewer.layers.selection = {viewer.layers[name]}
    viewer.layers.save(str(path), selected=True, plugin="auctrack")
    note = json.loads((tmp_path / "saved.csv.settings.json").read_text())["settings"]["note"]
    assert "link_margin" in note
    assert [record.message for record in notification_manager.records] == [note]


@pytest.mark.usefixtures("dense_movie")
def test_before_corrections_nothing_is_said(viewer, tmp_path):
    from napari.utils.notifications import notification_manager

    notification_manager.records.clear()
    viewer.layers.selection = {viewer.layers["tracks of beads"]}
    viewer.layers.save(str(tmp_path / "saved.csv"), selected=True, plugin="auctrack")
    assert "note" not in json.loads((tmp_path / "saved.csv.settings.json").read_text())["settings"]
    assert not notification_manager.records
