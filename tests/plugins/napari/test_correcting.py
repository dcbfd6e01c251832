"""Correcting links in a real viewer: by key, by mouse and from a file; what is corrected stays, the rest is proven."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from auctrack.tracker.formats.tables import read_tracks

from ...tracker.linking.movies import walks
from .conftest import finish, process_events


@pytest.fixture
def tracked(viewer, widget):
    """The widget after a run, its list of links on the screen."""
    widget.running.run_all()
    finish(widget)
    results = widget.parts.results
    results.tabs.setCurrentIndex(results.tabs.count() - 1)
    viewer.window._qt_window.activateWindow()
    process_events()
    return widget


@pytest.fixture
def dense_movie(viewer, open_widget):
    """The widget after a run over particles that are close to each other."""
    return after_a_run(viewer, open_widget, particles=60)


@pytest.fixture
def apart(viewer, open_widget):
    """The widget after a run in which none of the least sure links gives way to another one once it is broken."""
    widget = after_a_run(viewer, open_widget, particles=30, seed=2)
    results = widget.parts.results
    results.tabs.setCurrentIndex(results.tabs.count() - 1)
    process_events()
    return widget


def after_a_run(viewer, open_widget, *, particles: int, seed: int = 4):
    viewer.add_points(walks(particles, 6, seed=seed)[0].table[["frame", "z", "y", "x"]].to_numpy(), name="beads")
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    viewer.window._qt_window.activateWindow()
    return widget


def press(viewer, key: str) -> None:
    """Press a key as the canvas gets it from the keyboard."""
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    canvas = viewer.window._qt_viewer.canvas.native
    canvas.setFocus()
    shift = key.startswith("Shift-")
    QTest.keyClick(
        canvas, key[-1].lower(), Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    )
    process_events()


def links(widget) -> set[tuple[int, int]]:
    made = widget.parts.session.linked.linking.links
    return set(zip(made["source"].tolist(), made["target"].tolist(), strict=True))


def chosen(widget) -> tuple[int, int]:
    listed = widget.parts.session.suspicious
    row = widget.parts.results.suspicious.position
    return int(listed["source"].iloc[row]), int(listed["target"].iloc[row])


def drawn_link(viewer) -> np.ndarray:
    """Pieces of the link that is marked and of its rivals, float64 (pieces, 2 ends, z y x)."""
    return viewer.layers["link looked at"].data[:, 2:].reshape(-1, 2, 3)


def places(widget, rows) -> np.ndarray:
    return widget.parts.session.linked.linking.tracks.table[["z", "y", "x"]].to_numpy()[list(rows)]


def test_a_doubtful_link_is_marked_with_its_rivals_beside_it(viewer, dense_movie):
    """The rivals are what comes when it is broken; each is drawn as a row of dashes from end to end."""
    found = 0
    for _ in range(6):
        press(viewer, "n")
        finish(dense_movie)
        marked = drawn_link(viewer)
        np.testing.assert_allclose(marked[0], places(dense_movie, chosen(dense_movie)))
        dashed = {tuple(map(tuple, rival)) for rival in marked[1:].reshape(-1, 10, 3)[:, [0, -1]].round(6)}
        before = links(dense_movie)
        press(viewer, "b")
        finish(dense_movie)
        made = links(dense_movie) - before
        assert dashed == {tuple(map(tuple, places(dense_movie, link).round(6))) for link in made}
        found += len(made)
        press(viewer, "u")
        finish(dense_movie)
    assert found


def test_links_looked_at_are_ticked_off(viewer, tracked):
    results = tracked.parts.results
    assert results.progress.text().startswith("0 looked at, ")
    press(viewer, "n")
    finish(tracked)
    assert results.progress.text().startswith("1 looked at, ")
    assert ticks(results) == ["•"] + [""] * (results.suspicious.count - 1)
    for key in ("n", "Shift-n"):
        press(viewer, key)
        finish(tracked)
    assert results.progress.text().startswith("2 looked at, ")


def test_a_link_that_is_confirmed_is_said_to_be_and_confirmed_once(viewer, tracked):
    press(viewer, "n")
    finish(tracked)
    link = chosen(tracked)
    press(viewer, "c")
    finish(tracked)
    press(viewer, "u")  # leads back to the link
    finish(tracked)
    press(viewer, "Shift-u")
    finish(tracked)
    assert tracked.parts.session.link == link
    for _ in range(2):
        press(viewer, "c")
        finish(tracked)
        assert tracked.parts.bar.status.text() == "This link is confirmed already: it stays until you break it (B)."
    assert tracked.parts.session.n_corrections == 1
    press(viewer, "b")
    finish(tracked)
    assert link not in links(tracked)


@pytest.mark.parametrize("key", ["c", "b"])
@pytest.mark.parametrize("back", [0, 1, 2])
def test_after_an_act_the_first_link_that_nobody_has_looked_at_is_chosen(viewer, apart, key, back):
    """Whichever of those before was judged: by the number of its row the next one would be skipped."""
    listed = apart.parts.results.suspicious
    for press_now in ("n", "n", "n", *["Shift-n"] * back):
        press(viewer, press_now)
        finish(apart)
    press(viewer, key)  # one of three that were looked at
    finish(apart)
    open_ = [link for link, tick in zip(in_list(apart), looked_at_before(apart), strict=True) if not tick]
    assert chosen(apart) == open_[0]
    assert listed.selectionModel().hasSelection()


def test_what_is_expected_to_remain_is_said_not_to_count_links_that_are_missing(tracked):
    assert tracked.parts.results.progress.text().endswith(" wrong links expected.")


def test_once_all_of_the_list_was_looked_at_it_is_said(viewer, tracked):
    for _ in range(tracked.parts.results.suspicious.count):
        press(viewer, "n")
        finish(tracked)
    press(viewer, "c")
    finish(tracked)
    assert all(ticks(tracked.parts.results))
    assert tracked.parts.bar.status.text().startswith("Track 9: link of frames")
    assert "every link of the list" in tracked.parts.bar.status.text()
    assert not tracked.parts.results.suspicious.selectionModel().hasSelection()


def test_the_number_of_wrong_links_expected_follows_what_was_judged_alone(viewer, open_widget):
    """To display a link says nothing of it; an act is counted at once, and given back by undo."""
    widget = after_a_run(viewer, open_widget, particles=150)
    begun, known = expected_to_remain(widget), doubts(widget)
    assert begun == pytest.approx(sum(known.values()), abs=0.06)
    press(viewer, "n")
    finish(widget)
    while known[chosen(widget)] < 0.3:
        press(viewer, "n")
        finish(widget)
    assert expected_to_remain(widget) == begun
    doubt = known[chosen(widget)]
    press(viewer, "c")
    finish(widget)
    assert begun - 0.2 > expected_to_remain(widget) == pytest.approx(sum(doubts(widget).values()), abs=0.06)
    assert sum(doubts(widget).values()) < begun - doubt + 0.06
    press(viewer, "u")
    finish(widget)
    assert expected_to_remain(widget) == begun
    press(viewer, "b")
    finish(widget)
    assert expected_to_remain(widget) == pytest.approx(sum(doubts(widget).values()), abs=0.06)


def expected_to_remain(widget) -> float:
    return float(re.search(r"([\d.]+) wrong links expected", widget.parts.results.progress.text())[1])


def doubts(widget) -> dict[tuple[int, int], float]:
    """How likely each link is wrong that nobody has confirmed or made."""
    linking = widget.parts.session.linked.linking
    made = linking.links
    odds = dict(zip(zip(made["source"], made["target"], strict=True), 1 - made["probability"], strict=True))
    return {link: doubt for link, doubt in odds.items() if link not in {*(linking.settings.pinned or ())}}


def in_list(widget) -> list[tuple[int, int]]:
    """The links of the list, from the top down."""
    listed = widget.parts.session.suspicious.iloc[widget.parts.results.suspicious.order]
    return list(zip(listed["source"].tolist(), listed["target"].tolist(), strict=True))


def looked_at_before(widget) -> list[bool]:
    """Which links of the list, from the top down, had been looked at before the one that is chosen."""
    listed = widget.parts.session.suspicious.iloc[widget.parts.results.suspicious.order]
    return listed["looked_at"].tolist()


def test_shift_n_goes_back_by_one_link(viewer, tracked):
    for key in ("n", "n", "n", "Shift-n"):
        press(viewer, key)
        finish(tracked)
    assert tracked.parts.results.suspicious.currentIndex().row() == 1


def test_the_first_look_takes_the_linking_that_is_at_hand(viewer, dense_movie, monkeypatch):
    monkeypatch.delattr("auctrack.tracker.editing.session.link_points")
    press(viewer, "n")
    finish(dense_movie)
    press(viewer, "b")
    finish(dense_movie)
    assert dense_movie.parts.bar.error.text() == ""
    assert dense_movie.parts.session.n_corrections == 1


def test_where_nothing_is_at_hand_linking_once_more_is_told(viewer, dense_movie):
    said = []
    link = dense_movie.parts.link
    link.linking.setCurrentIndex(link.linking.findData("jaqaman"))
    dense_movie.running.run_all()
    finish(dense_movie)
    tell = dense_movie.parts.bar.status.text
    dense_movie.looking._links.reported.connect(lambda at: said.append((at.done, at.total, tell())))
    press(viewer, "n")
    finish(dense_movie)
    assert [done for done, _, _ in said] == [*range(said[0][1] + 1)]
    assert " 33 %" in said[1][2]
    assert tell() == "Ready to correct."


@pytest.mark.parametrize("opened", ["after the run", "before it"])
def test_what_corrections_need_is_made_ready_once_their_page_is_open(viewer, dense_movie, monkeypatch, opened):
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    def open_page() -> None:
        place = bar.tabRect(results.tabs.indexOf(results.doubtful)).center()
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=place)
        assert results.tabs.currentWidget() is results.doubtful

    link, results = dense_movie.parts.link, dense_movie.parts.results
    bar = results.tabs.tabBar()
    link.linking.setCurrentIndex(link.linking.findData("jaqaman"))
    if opened == "before it":
        open_page()
    dense_movie.running.run_all()
    finish(dense_movie)
    if opened == "after the run":
        assert dense_movie.parts.bar.status.text() != "Ready to correct."
        open_page()
    finish(dense_movie)
    assert dense_movie.parts.bar.status.text() == "Ready to correct."
    monkeypatch.setattr("auctrack.plugins.napari.session.corrections.reopened", None)
    for key in ("n", "b"):
        press(viewer, key)
        finish(dense_movie)
    assert dense_movie.parts.session.n_corrections == 1


def ticks(results) -> list[str]:
    table = results.suspicious
    return [table.model().index(row, 0).data() for row in range(table.count)]


def test_what_was_undone_is_not_said_to_be_done(viewer, tracked):
    for key in ("n", "b", "u"):
        press(viewer, key)
        finish(tracked)
    said = tracked.parts.bar.status.text()
    assert said.startswith("Undone")
    assert "K undoes" not in said
    press(viewer, "Shift-u")
    finish(tracked)
    assert not tracked.parts.bar.status.text().startswith("Undone")
    assert tracked.parts.session.n_corrections == 1


def test_a_broken_link_goes_and_comes_back_by_undo(viewer, tracked):
    before = links(tracked)
    press(viewer, "n")
    wrong = chosen(tracked)
    press(viewer, "b")
    finish(tracked)
    assert wrong not in links(tracked)
    assert tracked.parts.session.n_corrections == 1
    press(viewer, "u")
    finish(tracked)
    assert links(tracked) == before
    press(viewer, "Shift-u")
    finish(tracked)
    assert wrong not in links(tracked)


def test_a_confirmed_link_leaves_the_list_and_the_next_one_is_shown(viewer, tracked):
    before = links(tracked)
    press(viewer, "n")
    right = chosen(tracked)
    tracked.parts.results.confirm_button.click()
    finish(tracked)
    assert links(tracked) == before
    listed = tracked.parts.session.suspicious
    assert right not in set(zip(listed["source"], listed["target"], strict=True))
    assert chosen(tracked) != right


def test_keys_work_while_the_list_has_the_focus(tracked):
    from qtpy.QtCore import Qt
    from qtpy.QtTest import QTest

    table = tracked.parts.results.suspicious
    table.setFocus()
    process_events()
    QTest.keyClick(table, Qt.Key.Key_N)
    first = table.position
    QTest.keyClick(table, Qt.Key.Key_N)
    assert table.position == first + 1
    wrong = chosen(tracked)
    QTest.keyClick(table, Qt.Key.Key_B)
    finish(tracked)
    assert wrong not in links(tracked)


def test_two_clicked_particles_are_joined(viewer, tracked):
    """A broken track is put together again by clicking both its ends."""
    press(viewer, "n")
    source, target = chosen(tracked)
    press(viewer, "b")
    finish(tracked)
    table = tracked.parts.session.linked.linking.tracks.table
    for row in (source, target):
        tracked.parts.overlay.picked.emit(int(table["track_id"].iloc[row]), int(table["frame"].iloc[row]))
    press(viewer, "j")
    finish(tracked)
    assert (source, target) in links(tracked)


def test_join_without_two_particles_says_what_to_do(viewer, tracked):
    press(viewer, "j")
    assert "press J" in tracked.parts.bar.status.text()
    assert tracked.parts.session.n_corrections == 0


def test_what_else_a_correction_changed_is_shown_and_refused(viewer, dense_movie):
    refused = 0
    for _ in range(12):
        press(viewer, "n")
        finish(dense_movie)
        wrong, before = chosen(dense_movie), links(dense_movie)
        press(viewer, "b")
        finish(dense_movie)
        others = (before ^ links(dense_movie)) - {wrong}
        gone = [link for link in before - links(dense_movie) if link != wrong]
        if not others:
            press(viewer, "u")
            finish(dense_movie)
            continue
        assert viewer.layers["links changed"].visible
        marked = viewer.layers["links changed"].data[:, 2:].reshape(-1, 2, 3)
        made = len(others) - len(gone)
        assert len(marked) == made + 5 * (len(gone) + 1)  # the one that was broken is dashed too
        press(viewer, "k")
        finish(dense_movie)
        assert wrong not in links(dense_movie)
        assert set(gone) <= links(dense_movie)
        assert not links(dense_movie) & (others - set(gone))
        refused += 1
        break
    assert refused


def test_limits_of_filters_stay_through_a_correction(viewer, tracked):
    chart = tracked.parts.results.filters.charts["mean_speed"]
    middle = float(np.mean(chart.limits))
    chart.moved.emit([chart.limits[0], middle])
    press(viewer, "n")
    press(viewer, "b")
    finish(tracked)
    assert tracked.parts.results.filters.ranges["mean_speed"][1] == middle


def test_corrections_are_exported_and_made_again_from_their_file(viewer, tracked, tmp_path):
    press(viewer, "n")
    wrong = chosen(tracked)
    press(viewer, "b")
    finish(tracked)
    after = links(tracked)
    tracked.taking_away.export(str(tmp_path / "mine.csv"))
    finish(tracked)
    record = tmp_path / "mine.csv.corrections.json"
    assert [act["act"] for act in json.loads(record.read_text())["acts"]] == ["break_link"]
    tracks = read_tracks(tmp_path / "mine.csv").table
    assert tracks["track_id"].nunique() == len(np.unique(tracked.parts.session.data.tracks.table["track_id"]))
    tracked.running.run_link()
    finish(tracked)
    assert wrong in links(tracked)
    assert "Corrections made before (1)" in tracked.parts.bar.warnings.text()
    tracked.correcting.replay(str(record))
    finish(tracked)
    assert links(tracked) == after


def test_corrections_of_tracks_that_are_replaced_go(viewer, tracked, tmp_path):
    press(viewer, "n")
    press(viewer, "b")
    finish(tracked)
    tracked.taking_away.export(str(tmp_path / "mine.csv"))
    finish(tracked)
    press(viewer, "u")
    finish(tracked)
    tracked.taking_away.export(str(tmp_path / "mine.csv"))
    finish(tracked)
    assert not (tmp_path / "mine.csv.corrections.json").exists()


def test_a_file_that_is_none_of_corrections_is_refused(tracked, tmp_path):
    before = links(tracked)
    (tmp_path / "other.json").write_text("{}")
    tracked.correcting.replay(str(tmp_path / "other.json"))
    finish(tracked)
    assert links(tracked) == before
    assert tracked.parts.session.n_corrections == 0


@pytest.mark.parametrize("kind", ["Image", "Points", "Tracks", None])
def test_keys_work_whichever_layer_is_selected(viewer, tracked, kind):
    layers = [layer for layer in viewer.layers if type(layer).__name__ == kind]
    viewer.layers.selection.active = layers[0] if layers else None
    press(viewer, "n")
    press(viewer, "c")
    finish(tracked)
    press(viewer, "b")
    finish(tracked)
    assert tracked.parts.session.n_corrections == 2
    press(viewer, "u")
    finish(tracked)
    assert tracked.parts.session.n_corrections == 1


@pytest.fixture
def held_back(monkeypatch):
    """Tracks, table and list follow a correction only once this event is set."""
    import threading

    from auctrack.plugins.napari.session import corrections

    go_on, measured = threading.Event(), corrections.measured_links

    def held(*given):
        assert go_on.wait(30)
        return measured(*given)

    monkeypatch.setattr(corrections, "measured_links", held)
    yield go_on
    go_on.set()


def act(viewer, widget, key: str) -> None:
    """Press a key, and wait until what it changed is drawn, not until all has followed."""
    from .conftest import wait

    press(viewer, key)
    wait(lambda: not widget.correcting._desk.is_busy)


def test_what_a_correction_did_is_drawn_before_the_tracks_are_made_anew(viewer, apart, held_back):
    press(viewer, "n")
    process_events()
    wrong, ends = chosen(apart), places(apart, chosen(apart))
    act(viewer, apart, "b")
    dashes = viewer.layers["links changed"].data[:, 2:].reshape(-1, 5, 2, 3)[:, [0, -1], [0, -1]]
    assert any(np.allclose(dash, ends) for dash in dashes)
    assert wrong in links(apart)  # the tracks follow
    held_back.set()
    finish(apart)
    assert wrong not in links(apart)


def test_corrections_do_not_wait_until_the_tracks_have_followed(viewer, apart, held_back):
    before, wrong = links(apart), []
    for number in range(4):
        press(viewer, "n")
        wrong.append(chosen(apart))
        act(viewer, apart, "b")
        assert apart.parts.session.n_corrections == number + 1
    assert links(apart) == before
    assert apart.parts.session.is_behind
    press(viewer, "n")
    right = chosen(apart)
    held_back.set()
    finish(apart)
    assert not links(apart) & set(wrong)
    assert len(set(wrong)) == 4
    assert apart.parts.session.link == right == chosen(apart)  # what was chosen meanwhile stays so


def test_tracks_without_the_last_correction_are_not_exported(viewer, tracked, held_back, tmp_path):
    from .conftest import wait

    press(viewer, "n")
    act(viewer, tracked, "b")
    tracked.taking_away.export(str(tmp_path / "early.csv"))
    wait(lambda: tracked.parts.bar.error.text() != "")
    assert not (tmp_path / "early.csv").exists()
    held_back.set()
    finish(tracked)
    tracked.taking_away.export(str(tmp_path / "late.csv"))
    finish(tracked)
    assert (tmp_path / "late.csv").exists()


def test_tracks_that_followed_too_late_are_not_shown_in_place_of_another_run(viewer, tracked, held_back):
    press(viewer, "n")
    act(viewer, tracked, "b")
    process_events()
    tracked.running.run_link()
    held_back.set()
    finish(tracked)
    assert tracked.parts.session.n_corrections == 0
    assert len(links(tracked)) == len(tracked.parts.session.linked.linking.links)
    assert not tracked.parts.session.is_behind


def test_tracks_keep_their_numbers_and_the_one_chosen_stays_chosen(viewer, dense_movie):
    """A broken link makes a track more: whoever has noted the number of another one finds it there."""
    results, session = dense_movie.parts.results, dense_movie.parts.session
    noted = {int(number): of_track(session, number) for number in results.kept["track_id"]}
    results.tracks.table.selectRow(len(results.kept) - 1)  # it begins last
    finish(dense_movie)
    press(viewer, "n")
    finish(dense_movie)
    broken = numbers_of(session, session.link)
    press(viewer, "b")
    finish(dense_movie)
    assert session.n_corrections == 1
    changed = {number for number, before in noted.items() if of_track(session, number) != before}
    assert broken <= changed
    assert len(changed) < 6
    assert {*results.kept["track_id"]} - {*noted} == {max(noted) + 1}
    kept = session.chosen
    assert kept is not None
    assert results.kept["track_id"].iloc[results.tracks.table.positions].tolist() == [kept]
    assert set(map(tuple, viewer.layers["chosen track"].data[:, 1:].tolist())) == of_track(session, kept)


def numbers_of(session, link: tuple[int, int]) -> set[int]:
    return set(session.data.tracks.table["track_id"].iloc[list(link)])


def of_track(session, number: int) -> set[tuple[float, ...]]:
    table = session.data.tracks.table
    rows = table.loc[table["track_id"] == number, ["frame", "z", "y", "x"]].to_numpy(float)
    return set(map(tuple, rows.tolist()))
