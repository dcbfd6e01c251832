"""What the results say of themselves: which filters are copied, what the columns of the suspicious links mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.measuring.measures import measure_tracks
from auctrack.tracker.points import Tracks

from .conftest import clipboard, finish, process_events


def test_a_filter_that_is_not_set_is_not_copied(viewer, open_widget):
    viewer.add_points(np.column_stack([np.repeat(np.arange(4), 2), np.tile([[5.0, 5], [40, 40]], (4, 1))]))
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.data.measures["length"].min() == 4
    widget.taking_away.copy_toml()
    assert "min_length = 1\n" in clipboard()
    assert widget.parts.bar.status.text().endswith("gives the same tracks.")


def test_one_track_and_one_link_are_not_several(viewer, open_widget, tmp_path):
    viewer.add_points([[0, 5, 5], [1, 5, 5]])
    widget = open_widget()
    assert widget.parts.input.summary.text().startswith("2 points in 2 frames")
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.status.text().startswith("1 track, 1 link, proven optimal")
    assert widget.parts.results.count.text() == "1 track"
    widget.taking_away.export(str(tmp_path / "one.csv"))
    finish(widget)
    assert widget.parts.bar.status.text().startswith("Wrote 1 track to")


def test_without_a_link_no_proof_is_claimed(viewer, open_widget):
    viewer.add_points([[0, 5, 5], [5, 5, 5], [10, 5, 5]])
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert widget.parts.bar.status.text() == "3 tracks, 0 links."
    assert "multiples of 5" in widget.parts.bar.warnings.text()


def test_a_filter_that_no_option_has_is_said_not_to_be_copied(widget):
    widget.running.run_all()
    finish(widget)
    charts = widget.parts.results.filters.charts
    charts["length"].moved.emit([charts["length"].limits[0]] * 2)
    widget.taking_away.copy_toml()
    assert widget.parts.bar.status.text().endswith("The filters greatest length are not part of it.")


def test_filters_that_leave_no_track_take_both_layers_away_and_bring_them_back(viewer, widget):
    """Mesa's software GL crashed at the next painting: they went without one between them."""
    widget.running.run_all()
    finish(widget)
    of_length, drawn = widget.parts.results.filters.filters["length"], [layer.name for layer in viewer.layers]
    for least, shown in ((1e9, ["movie"]), (-np.inf, drawn)):
        of_length.set_range((least, np.inf))
        finish(widget)
        assert [layer.name for layer in viewer.layers] == shown
        viewer.dims.set_current_step(0, 3)
        process_events()


def test_every_column_of_the_suspicious_links_can_be_read_and_is_explained(widget):
    from qtpy.QtCore import Qt

    widget.running.run_all()
    finish(widget)
    table = widget.parts.results.suspicious
    across, model = Qt.Orientation.Horizontal, table.model()
    titles = [model.headerData(column, across) for column in range(model.columnCount())]
    assert titles == ["•", "frame", "track", "margin\n(nats)", "distance\n(µm)", "why"]
    assert all(model.headerData(column, across, Qt.ItemDataRole.ToolTipRole) for column in range(len(titles)))
    for word in widget.parts.session.suspicious["why"].unique():
        assert table.columnWidth(titles.index("why")) > table.fontMetrics().horizontalAdvance(word)
        assert word in {"ambiguous", "long", "both"}
    tip = model.headerData(titles.index("why"), across, Qt.ItemDataRole.ToolTipRole)
    assert "ambiguous: " in tip
    assert "long: " in tip


CHANGES = {"tracks split": 2, "numbers only": 60, "a particle moved": 60, "a particle gone": 60}


@pytest.mark.parametrize(("change", "n_measured"), CHANGES.items(), ids=CHANGES)
def test_tracks_that_stayed_as_they_were_are_not_measured_again(change, n_measured, monkeypatch):
    from auctrack.plugins.napari.session import filters

    rows = [(frame, 5.0 * track, frame * 0.5 + track % 7, track) for frame in range(6) for track in range(60)]
    before = filters.measured(Tracks(pd.DataFrame(rows, columns=["frame", "y", "x", "track_id"])))
    table = before.tracks.table.copy()
    if change == "tracks split":
        table.loc[(table["track_id"] == 3) & (table["frame"] > 2), "track_id"] = 60
    elif change == "numbers only":
        table["track_id"] = 59 - table["track_id"]
    elif change == "a particle moved":
        table.loc[7, "x"] += 1
    else:
        table = table.drop(index=7).reset_index(drop=True)
    tracks, seen = replace(before.tracks, table=table), []
    expected = measure_tracks(tracks)
    monkeypatch.setattr(filters, "measure_tracks", lambda some: [seen.append(some), measure_tracks(some)][1])
    pd.testing.assert_frame_equal(filters._measured_again(tracks, before), expected)
    assert sum(some.table["track_id"].nunique() for some in seen) == n_measured
