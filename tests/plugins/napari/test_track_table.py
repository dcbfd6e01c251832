"""The table of tracks by real clicks and keys: columns of choice, filters on any of them, many rows, copy and save."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from ...tracker.linking.movies import walks
from .conftest import clipboard, finish, process_events
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_lineage import chosen_on_canvas, is_marked, open_tab


@pytest.fixture
def tracked(viewer, open_widget):
    """The widget over 60 wandering particles, its table on the screen."""
    viewer.add_points(walks(60, 12, seed=4)[0].table[["frame", "z", "y", "x"]].to_numpy(), name="beads")
    viewer.window.resize(1300, 1000)
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    open_tab(widget.parts.results, "Tracks")
    viewer.window._qt_window.activateWindow()
    return widget


def click_row(table, row: int, modifier: str = "NoModifier") -> None:
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    table.scrollTo(table.model().index(row, 0))
    at = table.visualRect(table.model().index(row, 0)).center()
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, getattr(Qt.KeyboardModifier, modifier), at)
    process_events()


def tick(button, column: str) -> None:
    """Tick or untick a column in the menu of a button, by keys."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    menu = button.menu()
    menu.popup(button.mapToGlobal(button.rect().bottomLeft()))
    (action,) = (action for action in menu.actions() if action.text().startswith(column))
    QTest.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    process_events()


def type_into(field, text: str) -> None:
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)
    process_events()


def headers(table) -> list[str]:
    from qtpy.QtCore import Qt

    shown = [column for column in range(table.model().columnCount()) if not table.isColumnHidden(column)]
    return [table.model().headerData(column, Qt.Orientation.Horizontal) for column in shown]


def copied() -> pd.DataFrame:
    return pd.read_csv(io.StringIO(clipboard()), sep="\t")


def test_several_rows_are_selected_and_drawn_bright_together(viewer, tracked):
    results = tracked.parts.results
    table = results.tracks.table
    click_row(table, 2)
    click_row(table, 4, "ShiftModifier")
    click_row(table, 7, "ControlModifier")
    finish(tracked)
    ids = results.kept["track_id"].to_numpy()[[2, 3, 4, 7]]
    assert table.positions == [2, 3, 4, 7]
    points = tracked.parts.session.data.tracks.table
    assert len(chosen_on_canvas(viewer)) == points["track_id"].isin(ids).sum()
    open_tab(results, "Lineage")
    first = results.lineage.line_of(int(ids[0]))
    assert is_marked(results.lineage, first)


def test_copied_are_the_rows_selected_in_the_columns_shown(tracked, mouse):  # noqa: F811
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    tracks = tracked.parts.results.tracks
    tick(tracks.columns, "mean speed")
    tick(tracks.columns, "straightness")
    assert not {"mean speed", "straightness"} & set(headers(tracks.table))
    tracks.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    for row, modifier in ((1, "NoModifier"), (3, "ControlModifier")):
        click_row(tracks.table, row, modifier)
    finish(tracked)
    assert tracks.copy_button.text() == "Copy 2 rows"
    tracks.table.setFocus()
    QTest.keyClick(tracks.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    ids = np.sort(tracked.parts.results.kept["track_id"])[::-1]
    assert copied()["track id"].tolist() == ids[[1, 3]].tolist()
    assert not any(name.startswith(("mean speed", "straightness")) for name in copied().columns)
    click_row(tracks.table, 0)
    mouse.click(tracks.copy_button)
    assert copied()["track id"].tolist() == ids.tolist()


def test_what_is_saved_is_what_is_selected(tracked, tmp_path):
    tracks = tracked.parts.results.tracks
    for row, modifier in ((1, "NoModifier"), (3, "ControlModifier")):
        click_row(tracks.table, row, modifier)
    tick(tracks.columns, "length")
    tracked.taking_away.export_table(str(tmp_path / "some.csv"))
    finish(tracked)
    saved = pd.read_csv(tmp_path / "some.csv")
    assert saved["track_id"].tolist() == tracked.parts.results.kept["track_id"].iloc[[1, 3]].tolist()
    assert "length" not in saved
    assert "duration" in saved


def test_the_filter_of_a_column_just_chosen_is_scrolled_into_sight(viewer, tracked):
    results = tracked.parts.results
    viewer.window.resize(1280, 720)
    open_tab(results, "Filter")
    tick(results.filters.columns, "straightness")
    process_events()
    one = results.filters.filters["straightness"]
    assert one.visibleRegion().boundingRect() == one.rect()


def test_columns_and_filters_stay_through_run_all(tracked):
    results = tracked.parts.results
    tick(results.tracks.columns, "straightness")
    open_tab(results, "Filter")
    tick(results.filters.columns, "path length")
    one = results.filters.filters["path_length"]
    middle = round(float(results.data.measures["path_length"].median()), 4)
    type_into(one.least, f"{middle}")
    kept = set(results.kept["track_id"])
    assert len(kept) < len(results.data.measures)
    tracked.running.run_all()
    finish(tracked)
    assert set(results.kept["track_id"]) == kept
    assert (results.kept["path_length"] >= one.range[0]).all()
    assert one.least.text() == f"{middle}"
    assert "straightness" not in headers(results.tracks.table)


def test_tracks_of_a_part_of_the_movie_do_not_move_the_limits(tracked):
    """While a run goes on, tracks are short: what is asked for is still what was typed."""
    from auctrack.plugins.napari.session.filters import measured

    results = tracked.parts.results
    open_tab(results, "Filter")
    type_into(results.filters.filters["length"].least, "9")
    whole = results.data
    table = whole.tracks.table
    results.show_tracks(measured(whole.tracks.cut(slice(0, 4))))
    assert len(results.kept) == 0
    results.show_tracks(whole)
    lengths = table.groupby("track_id").size()
    assert set(results.kept["track_id"]) == set(lengths.index[lengths >= 9])


def test_a_typed_limit_acts_on_list_and_canvas_and_is_taken_back_by_an_empty_field(viewer, tracked):
    results = tracked.parts.results
    links = tracked.parts.session.suspicious
    open_tab(results, "Filter")
    one = results.filters.filters["net_displacement"]
    type_into(one.greatest, f"{results.data.measures['net_displacement'].median():.4f}")
    finish(tracked)
    kept = set(results.kept["track_id"])
    listed = links[links["track_id"].isin(kept)]
    assert 0 < results.suspicious.count == len(listed) < len(links)
    assert results.left_out.text().startswith(f"{len(links) - len(listed)} more")
    assert len(viewer.layers["tracks of beads"].data) == results.data.tracks.table["track_id"].isin(kept).sum()
    results.suspicious.step(1)
    finish(tracked)
    assert tracked.parts.session.link == (listed["source"].iloc[0], listed["target"].iloc[0])
    type_into(one.greatest, "")
    assert len(results.kept) == len(results.data.measures)
    assert results.suspicious.count == len(links)


def test_limits_typed_the_wrong_way_round_are_exchanged(tracked):
    one = tracked.parts.results.filters.filters["length"]
    open_tab(tracked.parts.results, "Filter")
    type_into(one.greatest, "3")
    type_into(one.least, "5")
    assert (one.least.text(), one.greatest.text()) == ("3", "5")
    assert one.range == (3, 5)


def test_a_filter_that_is_unticked_keeps_nothing_back(tracked):
    results = tracked.parts.results
    open_tab(results, "Filter")
    type_into(results.filters.filters["length"].least, "9")
    assert len(results.kept) < len(results.data.measures)
    tick(results.filters.columns, "length")
    assert "length" not in results.filters.charts
    assert len(results.kept) == len(results.data.measures)


def test_sorting_keeps_the_tracks_selected(tracked):
    from qtpy.QtCore import Qt

    table = tracked.parts.results.tracks.table
    click_row(table, 1)
    click_row(table, 5, "ControlModifier")
    table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
    assert sorted(table.positions) == [1, 5]
