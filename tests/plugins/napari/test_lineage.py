"""The track scheme by real clicks and keys: in step with canvas, table and time; only what is seen is drawn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.points import Tracks

from .conftest import finish, process_events
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_on_the_canvas import click, show


@pytest.fixture
def divided(viewer, open_widget):
    """The widget over six cells, of which two divide in the middle of ten frames."""
    at = np.column_stack([np.full(6, 4.0), np.arange(6) * 12.0, np.full(6, 20.0)])
    apart = np.where(np.arange(6)[:, None] < 2, (0, 0, 1.5), (0.0, 0, 0))
    rows = [
        np.column_stack([np.full(len(cells), frame), cells])
        for frame in range(10)
        for cells in ([at] if frame < 5 else [at + apart, at[:2] - apart[:2]])
    ]
    viewer.add_points(np.vstack(rows), name="cells")
    widget = open_widget()
    finish(widget)
    widget.parts.link.fields.ticks["divisions"].click()
    widget.running.run_all()
    finish(widget)
    assert len(widget.parts.session.data.tracks.parents) == 4
    results = widget.parts.results
    widget.parts.steps.setCurrentWidget(results)
    viewer.window.resize(1300, 1000)
    open_tab(results, "Lineage")
    return widget


def open_tab(results, name: str) -> None:
    results.tabs.setCurrentIndex([results.tabs.tabText(k) for k in range(results.tabs.count())].index(name))
    process_events()


def lines(widget) -> list[int]:
    """The tracks from the top down."""
    view, measures = widget.parts.results.lineage, widget.parts.results.kept
    return sorted(measures["track_id"].tolist(), key=view.line_of)


def is_marked(view, line: int) -> bool:
    """Whether the line stands out from the one above or below it."""
    picture = view.viewport().grab().toImage()
    at = view.place_of(line, 0).toPoint()
    other = view.place_of(line + (1 if line == 0 else -1), 0).toPoint()
    return picture.pixelColor(2, at.y()) != picture.pixelColor(2, other.y())


def chosen_on_canvas(viewer) -> np.ndarray:
    return viewer.layers["chosen track"].data[:, 1:]


def positions(widget, track: int) -> np.ndarray:
    table = widget.parts.session.data.tracks.table
    return table.loc[table["track_id"] == track, ["frame", "z", "y", "x"]].to_numpy(float)


def test_mothers_stand_between_their_daughters(divided):
    order, parents = lines(divided), divided.parts.session.data.tracks.parents
    for mother in {mother for (mother,) in parents.values()}:
        above, below = (child for child, (of,) in parents.items() if of == mother)
        places = sorted([order.index(above), order.index(below)])
        assert order.index(mother) == places[0] + 1 == places[1] - 1
    assert {*order[:6]} == {*parents, *(mother for (mother,) in parents.values())}  # all lineages last ten frames


def test_a_clicked_line_is_chosen_on_the_canvas_and_in_the_table(viewer, divided, mouse):  # noqa: F811
    results = divided.parts.results
    track = lines(divided)[2]
    measured = results.kept.set_index("track_id").loc[track]
    frame = int(measured["first_frame"]) + 1
    mouse.click(results.lineage.viewport(), results.lineage.place_of(2, frame).toPoint())
    finish(divided)
    np.testing.assert_allclose(chosen_on_canvas(viewer), positions(divided, track))
    assert viewer.dims.current_step[0] == frame
    assert results.kept["track_id"].iloc[results.tracks.table.position] == track
    assert is_marked(results.lineage, 2)
    assert results.lineage.isVisible()  # the view stays where it was clicked


def test_a_click_on_a_line_before_its_track_begins_goes_to_its_beginning(viewer, divided, mouse):  # noqa: F811
    results = divided.parts.results
    late = int(results.kept.loc[results.kept["first_frame"] == 5, "track_id"].iloc[0])
    view = results.lineage
    mouse.click(view.viewport(), view.place_of(view.line_of(late), 1).toPoint())
    finish(divided)
    assert divided.parts.session.chosen == late
    assert viewer.dims.current_step[0] == 5


def test_a_particle_clicked_on_the_canvas_is_marked_in_lineage_and_table(viewer, divided, mouse):  # noqa: F811
    results = divided.parts.results
    place = (3, 4, 36, 20)
    show(viewer, place)
    click(viewer, mouse, place)
    finish(divided)
    track = divided.parts.session.chosen
    assert (positions(divided, track) == place).all(axis=1).any()
    assert is_marked(results.lineage, results.lineage.line_of(track))
    assert results.kept["track_id"].iloc[results.tracks.table.position] == track
    assert results.lineage.isVisible()


def test_a_row_clicked_in_the_table_is_marked_in_the_lineage_whatever_it_is_sorted_by(viewer, divided, mouse):  # noqa: F811
    from qtpy.QtCore import Qt

    results = divided.parts.results
    open_tab(results, "Tracks")
    results.tracks.table.sortByColumn(0, Qt.SortOrder.DescendingOrder)
    process_events()
    at = results.tracks.table.visualRect(results.tracks.table.model().index(1, 0)).center()
    mouse.click(results.tracks.table.viewport(), at)
    finish(divided)
    track = sorted(lines(divided))[-2]
    assert divided.parts.session.chosen == track
    np.testing.assert_allclose(chosen_on_canvas(viewer), positions(divided, track))
    open_tab(results, "Lineage")
    assert is_marked(results.lineage, results.lineage.line_of(track))
    mouse.click(results.lineage.viewport(), results.lineage.place_of(0, 0).toPoint())
    finish(divided)
    assert results.kept["track_id"].iloc[results.tracks.table.position] == lines(divided)[0]


def test_the_axis_shows_the_frame_and_moves_it(viewer, divided, mouse):  # noqa: F811
    from qtpy.QtCore import QPoint
    from qtpy.QtGui import QColor

    view = divided.parts.results.lineage
    viewer.dims.set_current_step(0, 7)
    process_events()
    picture, foot = view.viewport().grab().toImage(), view.viewport().height() - 2
    amber = [x for x in range(picture.width()) if picture.pixelColor(x, foot) == QColor("#ffb03b")]
    assert abs(np.mean(amber) - view.place_of(0, 7).x()) <= 1
    axis = [QPoint(int(view.place_of(0, frame).x()), 6) for frame in (2, 6, 8)]
    mouse.click(view.viewport(), axis[0])
    assert viewer.dims.current_step[0] == 2
    mouse.drag(view.viewport(), axis[1], axis[2])
    assert viewer.dims.current_step[0] == 8
    assert divided.parts.session.chosen is None


def test_arrow_keys_go_from_line_to_line(divided):
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    view, order = divided.parts.results.lineage, lines(divided)
    view.setFocus()
    for key, expected in ((Qt.Key.Key_Down, 0), (Qt.Key.Key_Down, 1), (Qt.Key.Key_Up, 0), (Qt.Key.Key_Up, 0)):
        QTest.keyClick(view, key)
        finish(divided)
        assert divided.parts.session.chosen == order[expected]


def test_tracks_that_a_filter_leaves_out_have_no_line(divided):
    chart = divided.parts.results.filters.charts["length"]
    chart.moved.emit([8, chart.limits[1]])
    finish(divided)
    measures = divided.parts.session.data.measures.set_index("track_id")["length"]
    view = divided.parts.results.lineage
    assert {track for track in measures.index if view.line_of(track) is not None} == {*measures.index[measures >= 8]}


def test_of_a_hundred_thousand_tracks_those_in_sight_are_drawn(divided):
    from auctrack.plugins.napari.session.filters import measured

    n, view = 100_000, divided.parts.results.lineage
    frame = np.repeat(np.arange(2), n)
    places = np.random.default_rng(0).uniform(0, 99, (3, 2 * n))
    table = pd.DataFrame(
        {"frame": frame, "track_id": np.tile(np.arange(n), 2), **dict(zip("zyx", places, strict=True))}
    )
    data = measured(Tracks(table))
    drawn: list[int] = []

    def colours(ids: np.ndarray) -> np.ndarray:
        drawn.extend(ids.tolist())
        return np.ones((len(ids), 4))

    view.show_tracks(data, data.measures)
    view.show_colours(colours)
    view.grab()
    assert set(range(5)) <= {*drawn} <= set(range(100))
    drawn.clear()
    view.mark([77_777])
    view.grab()
    assert 77_777 in drawn
    assert len({*drawn}) < 100
    assert is_marked(view, view.line_of(77_777))


def test_in_a_lower_window_the_track_chosen_stays_in_sight(viewer, divided):
    results = divided.parts.results
    view, last = results.lineage, lines(divided)[-1]
    divided.looking.choose_track(last)
    finish(divided)
    assert view.verticalScrollBar().maximum() == 0
    viewer.window.resize(1300, 560)
    process_events()
    assert view.verticalScrollBar().maximum() > 0
    assert view.place_of(view.line_of(last), 0).y() < view.viewport().height()
