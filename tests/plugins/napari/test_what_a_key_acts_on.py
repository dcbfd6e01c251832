"""The next key acts on what was chosen last; what was done is said by track and frame, and what is drawn is true."""

from __future__ import annotations

import re

import numpy as np
import pytest

from .conftest import finish, process_events
from .in_one_widget import InOneWidget, tracked_once  # noqa: F401 - a fixture
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_clicked_particles import CHOSEN, click_all, pairs, rows_at, shown  # noqa: F401 - a fixture among them
from .test_correcting import links, press, ticks
from .test_on_the_canvas import click, lines, point_at, show  # noqa: F401 - a fixture among them

NEIGHBOUR = (2, 4, 12, 20)


def status(widget) -> str:
    return widget.parts.bar.status.text()


def listed(widget) -> tuple[int, int]:
    """The link at the top of the list, which N chooses first."""
    link = widget.parts.session.suspicious.iloc[0]
    return int(link["source"]), int(link["target"])


def track_of(widget, place) -> int:
    (row,) = rows_at(widget, place)
    return int(widget.parts.session.linked.linking.tracks.table["track_id"].iloc[row])


def marked(viewer) -> np.ndarray | None:
    """Frame, z, y, x of both ends of what is marked as a link; None where nothing is."""
    layers = [layer for layer in viewer.layers if layer.name in ("link looked at", "links changed") and layer.visible]
    return layers[0].data[:, 2:].reshape(-1, 2, 3) if layers else None


@pytest.mark.parametrize("key", ["b", "c"])
def test_a_click_on_a_particle_makes_its_link_the_one_that_is_acted_on(viewer, shown, mouse, key):  # noqa: F811
    """Whatever was chosen in the list before."""
    press(viewer, "n")
    finish(shown)
    before, (own,) = links(shown), pairs(shown, ((1, 4, 12, 10), NEIGHBOUR))
    assert listed(shown) != own
    click_all(viewer, shown, mouse, NEIGHBOUR)
    np.testing.assert_array_equal(marked(viewer), [[(4, 12, 10), (4, 12, 20)]])
    assert not shown.parts.results.suspicious.selectionModel().hasSelection()
    press(viewer, key)
    finish(shown)
    assert ": link of frames 1–2 " in status(shown)
    pinned = shown.parts.session.linked.linking.settings.pinned or ()
    assert (before - links(shown), pinned) == (({own}, ()) if key == "b" else (set(), (own,)))


def test_a_link_chosen_by_its_particle_is_ticked_off_in_the_list(viewer, lines, mouse):  # noqa: F811
    place = (1, 4, 12, 10)
    (own,) = pairs(lines, ((0, 4, 12, 0), place))
    click_all(viewer, lines, mouse, place)
    listed = lines.parts.session.suspicious
    is_own = ((listed["source"] == own[0]) & (listed["target"] == own[1])).to_numpy()
    assert is_own.any()
    np.testing.assert_array_equal(lines.parts.session.corrections.ticks(), is_own)
    assert ticks(lines.parts.results).count("•") == 1


@pytest.mark.parametrize("way", ["n", "link", "particle"])
def test_a_link_is_marked_by_the_time_that_it_is_spoken_of(viewer, lines, mouse, way):  # noqa: F811
    place = {"link": (3, 4, 24, 15), "particle": NEIGHBOUR}.get(way, (3, 4, 0, 0))
    show(viewer, place)
    seen = []
    lines.parts.bar.say = lambda text, **_: seen.append(("C confirms" in text, marked(viewer) is not None))
    press(viewer, "n") if way == "n" else click(viewer, mouse, place)
    finish(lines)
    assert (True, True) in seen
    assert (True, False) not in seen


def test_a_particle_that_no_link_leads_to_leaves_no_link_chosen(viewer, lines, mouse):  # noqa: F811
    press(viewer, "n")
    finish(lines)
    click_all(viewer, lines, mouse, (0, 4, 12, 0))
    assert marked(viewer) is None
    press(viewer, "b")
    finish(lines)
    assert lines.parts.session.n_corrections == 0


ACTS = {
    "b": ((NEIGHBOUR,), "link of frames 1–2 broken"),
    "c": ((NEIGHBOUR,), "link of frames 1–2 confirmed"),
    "j": (((1, 4, 12, 10), CHOSEN[0]), "particles of frames 1–2 linked"),
    "s": (CHOSEN, "swapped from frame 2 onwards"),
    "d": (((1, 4, 24, 10), *CHOSEN), "division after frame 1 marked"),
    "e": ((NEIGHBOUR,), "ended in frame 2"),
    "m": (CHOSEN, "particles in frame 2 merged"),
    "x": ((NEIGHBOUR,), "particle in frame 2 deleted"),
    "p": ((NEIGHBOUR,), "particle in frame 2 moved"),
}


def test_the_link_that_is_next_in_the_list_is_said_and_then_what_was_done_with_it(viewer, lines):  # noqa: F811
    press(viewer, "n")
    finish(lines)
    frames = [int(lines.parts.session.place_of(row)[0]) for row in listed(lines)]
    assert "frames {}–{}: C confirms the link, B breaks it".format(*frames) in status(lines)
    press(viewer, "c")
    finish(lines)
    assert "link of frames {}–{} confirmed".format(*frames) in status(lines)  # though the next one is chosen
    assert lines.parts.session.link is not None


@pytest.mark.parametrize("key", ["b", "c"])
def test_the_next_link_is_one_that_nobody_has_looked_at_after_a_clicked_one_was_corrected(viewer, lines, mouse, key):  # noqa: F811
    for _ in range(2):
        press(viewer, "n")
        finish(lines)
    click_all(viewer, lines, mouse, NEIGHBOUR)
    press(viewer, key)
    finish(lines)
    ticked = lines.parts.session.corrections.ticks()
    assert ticked[0]
    press(viewer, "n")
    finish(lines)
    assert lines.parts.results.suspicious.position == np.flatnonzero(~ticked)[0]


def test_an_error_stays_while_something_goes_on_that_nobody_asked_for(lines):  # noqa: F811
    from auctrack.plugins.napari.session.corrections import Preparing
    from auctrack.plugins.napari.threads.job import Failure

    lines.parts.bar.fail(Failure("It could not be done.", ""))
    lines.parts.bar.tell_preparing(Preparing(1, 2))
    assert lines.parts.bar.error.text()


def test_linking_by_clicks_goes_on_with_the_next_pair_after_one_that_was_refused(viewer, lines, mouse):  # noqa: F811
    """The second clicked is the first of a pair where both are of one frame; a pair that is refused is forgotten."""
    press(viewer, "l")
    click_all(viewer, lines, mouse, CHOSEN[0], CHOSEN[1], (3, 4, 24, 30))
    (made,) = pairs(lines, (CHOSEN[1], (3, 4, 24, 30)))
    assert made in links(lines)
    click_all(viewer, lines, mouse, CHOSEN[1], (3, 4, 12, 30))  # it has a confirmed link
    assert lines.parts.bar.error.text()
    click_all(viewer, lines, mouse, (0, 4, 0, 0), (1, 4, 12, 10))
    assert pairs(lines, ((0, 4, 0, 0), (1, 4, 12, 10))) <= links(lines)
    assert lines.parts.session.n_corrections == 2
    press(viewer, "l")


def test_in_3d_the_particle_whose_middle_is_seen_nearest_is_picked(viewer, lines, mouse):  # noqa: F811
    """Seen along y, four particles are one behind another, and a fifth is beside them: all their rings are under it."""
    beside, foremost = (2, 4, 6, 22), (2, 4, 0, 20)
    viewer.layers["particles of beads"].add(beside)
    finish(lines)
    viewer.dims.ndisplay = 3
    viewer.scene.camera.angles = (0, 0, 90)
    for place, meant in ((beside, beside), (CHOSEN[0], foremost)):
        click_all(viewer, lines, mouse, place)
        assert lines.parts.session.place_of([*lines.correcting._clicked][-1][1]) == (2, [*meant[1:]])


def picture(viewer) -> np.ndarray:
    """What is seen on the canvas, but for what marks the last change and the track chosen."""
    names = ("link looked at", "links changed", "chosen track", "clicked particles")
    marks = [layer for layer in viewer.layers if layer.name in names and layer.visible]
    for layer in marks:
        layer.visible = False
    process_events()
    seen = viewer.screenshot(canvas_only=True, flash=False)
    for layer in marks:
        layer.visible = True
    return seen


class TestInOneWidget(InOneWidget):
    """What acts on the same links and particles, one test after the other."""

    @pytest.mark.parametrize("key", ["x", "e", "u"])
    def test_what_was_chosen_before_another_act_is_chosen_no_longer(self, viewer, lines, mouse, key):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        press(viewer, key)
        finish(lines)
        n = lines.parts.session.n_corrections
        press(viewer, "b")
        finish(lines)
        assert (lines.parts.session.n_corrections, lines.parts.bar.error.text()) == (n, "")

    @pytest.mark.parametrize("key", ["k", "m"])
    def test_a_link_stays_chosen_where_another_correction_cannot_be_made(self, viewer, lines, mouse, key):  # noqa: F811
        """There is nothing to put back, which is no error; and the two clicked are too far apart to be one."""
        click_all(viewer, lines, mouse, (2, 4, 36, 20), NEIGHBOUR)
        press(viewer, key)
        finish(lines)
        assert bool(lines.parts.bar.error.text()) == (key == "m")
        assert ("K could put back" in status(lines)) == (key == "k")
        press(viewer, "b")
        finish(lines)
        assert lines.parts.session.n_corrections == 1

    @pytest.mark.parametrize("key", ACTS)
    def test_each_act_and_its_undoing_name_tracks_and_frames_and_leave_no_trace(self, viewer, shown, mouse, key):  # noqa: F811
        clicked, what = ACTS[key]
        click_all(viewer, shown, mouse, *clicked)
        if key == "p":
            point_at(viewer, (2, 4, 15, 22))
        before, pictured = links(shown), picture(viewer)
        press(viewer, key)
        finish(shown)
        subject, _, said = status(shown).lower().rpartition(what)
        assert said
        if key not in "mxp":  # where the particles clicked are where they were
            assert {str(track_of(shown, place)) for place in clicked} <= {*re.findall(r"\d+", subject)}
        after = picture(viewer)
        press(viewer, "u")
        finish(shown)
        assert status(shown).startswith(f"Undone: {what}")
        assert links(shown) == before
        np.testing.assert_array_equal(picture(viewer), pictured)
        press(viewer, "Shift-u")
        finish(shown)
        assert status(shown).startswith(f"Redone: {what}")
        np.testing.assert_array_equal(picture(viewer), after)

    @pytest.mark.parametrize("key", ["b", "c"])
    def test_after_a_link_that_was_clicked_no_other_one_is_chosen(self, viewer, lines, mouse, key):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        press(viewer, key)
        finish(lines)
        assert lines.parts.session.n_corrections == 1
        assert lines.parts.session.link is None
        assert not lines.parts.results.suspicious.selectionModel().hasSelection()

    def test_a_link_that_was_broken_is_made_again_by_the_user_alone(self, viewer, lines, mouse):  # noqa: F811
        ends = (1, 4, 12, 10), NEIGHBOUR
        (link,) = pairs(lines, ends)
        click_all(viewer, lines, mouse, NEIGHBOUR)
        press(viewer, "b")
        finish(lines)
        click_all(viewer, lines, mouse, (3, 4, 36, 30))
        press(viewer, "b")
        finish(lines)
        assert link not in links(lines)
        click_all(viewer, lines, mouse, *ends)
        press(viewer, "j")
        finish(lines)
        assert link in links(lines)

    def test_a_particle_clicked_twice_is_one(self, viewer, shown, mouse):  # noqa: F811
        click_all(viewer, shown, mouse, CHOSEN[0], CHOSEN[0])
        assert shown.parts.results.clicked.text().count("in frame") == 1
        press(viewer, "s")
        finish(shown)
        assert shown.parts.session.n_corrections == 0

    def test_what_was_clicked_stays_so_where_the_act_was_refused(self, viewer, lines, mouse):  # noqa: F811
        click_all(viewer, lines, mouse, (2, 4, 0, 20), CHOSEN[0])
        press(viewer, "m")  # too far apart
        finish(lines)
        assert lines.parts.bar.error.text()
        press(viewer, "s")
        finish(lines)
        assert (lines.parts.session.n_corrections, lines.parts.bar.error.text()) == (1, "")

    @pytest.mark.parametrize("then", ["n", "click", "x"])
    def test_an_error_goes_with_the_next_thing_that_is_said(self, viewer, lines, mouse, then):  # noqa: F811
        click_all(viewer, lines, mouse, (2, 4, 0, 20), CHOSEN[0])
        press(viewer, "m")  # too far apart
        finish(lines)
        assert lines.parts.bar.error.text()
        click_all(viewer, lines, mouse, NEIGHBOUR) if then == "click" else press(viewer, then)
        finish(lines)
        assert (lines.parts.bar.error.text(), bool(status(lines))) == ("", True)

    def test_what_the_last_but_one_correction_changed_is_marked_no_longer(self, viewer, lines, mouse):  # noqa: F811
        for key in ("b", "c"):
            click_all(viewer, lines, mouse, (2, 4, 36, 20) if key == "c" else NEIGHBOUR)
            press(viewer, key)
            finish(lines)
            assert (marked(viewer) is None) == (key == "c")

    def test_dashes_begin_where_a_particle_was_before_it_was_moved(self, viewer, lines, mouse):  # noqa: F811
        click_all(viewer, lines, mouse, NEIGHBOUR)
        far = (2, 4, 18, 20)  # out of the reach of its links
        point_at(viewer, far)
        press(viewer, "p")
        finish(lines)
        dashes = marked(viewer).reshape(-1, 5, 2, 3)[:, [0, -1], [0, -1]]
        np.testing.assert_array_equal(dashes, [[(4, 12, 10), (4, 12, 20)], [(4, 12, 20), (4, 12, 30)]])

    def test_keeping_the_others_is_offered_where_there_are_any(self, viewer, lines, mouse):  # noqa: F811
        """Links that go with a deleted particle cannot be kept."""
        click_all(viewer, lines, mouse, NEIGHBOUR)
        press(viewer, "x")
        finish(lines)
        assert "K undoes" not in status(lines)
        press(viewer, "k")
        finish(lines)
        assert lines.parts.session.n_corrections == 1
        press(viewer, "u")
        finish(lines)
        click_all(viewer, lines, mouse, (1, 4, 12, 10), CHOSEN[0])
        press(viewer, "j")
        finish(lines)
        said, n = status(lines), lines.parts.session.n_corrections
        press(viewer, "k")
        finish(lines)
        assert ("K undoes" in said) == (lines.parts.session.n_corrections > n)
