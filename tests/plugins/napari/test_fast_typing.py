"""What is typed, or clicked, faster than corrections are shown is done all the same, in its order."""

from __future__ import annotations

import pytest

from auctrack.plugins.napari.threads.turns import Turns

from .conftest import finish, wait
from .test_by_mouse import mouse  # noqa: F401 - a fixture
from .test_clicked_particles import CHOSEN, click_all
from .test_correcting import after_a_run, links, press
from .test_on_the_canvas import lines  # noqa: F401 - a fixture

NEIGHBOUR = (2, 4, 12, 20)


def test_acts_are_done_in_their_order_and_none_while_another_is():
    turns, done = Turns(), []
    turns.hold()
    for name in "abc":
        turns.take(lambda name=name: (done.append(name), turns.hold()))
    assert not done
    turns.release()
    assert done == ["a"]
    turns.forget()
    turns.release()
    assert done == ["a"]


def test_what_is_not_ready_holds_up_what_comes_after_it():
    turns, done, ready = Turns(), [], []
    turns.take(lambda: done.append("a"), lambda: bool(ready))
    turns.take(lambda: done.append("b"))
    assert not done
    ready.append(True)
    turns.go_on()
    assert done == ["a", "b"]


@pytest.fixture
def listed(viewer, open_widget):
    """The widget after a run over so many particles that the list holds thirty links and more, the first chosen."""
    widget = after_a_run(viewer, open_widget, particles=150)
    press(viewer, "n")
    finish(widget)
    assert widget.parts.results.suspicious.count > 25
    return widget


@pytest.mark.parametrize("pause_s", [0.0, 0.2])
def test_twenty_links_are_confirmed_by_twenty_keys_however_fast(viewer, listed, pause_s):
    import time

    before = links(listed)
    for _ in range(20):
        press(viewer, "c")
        end = time.monotonic() + pause_s
        wait(lambda end=end: time.monotonic() >= end)
    finish(listed)
    assert listed.parts.session.n_corrections == 20
    assert links(listed) == before
    assert len(listed.parts.session.linked.linking.settings.pinned) == 20


def test_fast_keys_do_what_slow_ones_do(viewer, listed):
    keys = ["c", "b", "u", "n", "c", "Shift-n", "c"]
    ended = []
    for pause in (lambda: finish(listed), lambda: None):
        for key in keys:
            press(viewer, key)
            pause()
        finish(listed)
        settings = listed.parts.session.linked.linking.settings
        ended.append((links(listed), settings.pinned, settings.forbidden))
        listed.running.run_link()
        finish(listed)
        press(viewer, "n")
        finish(listed)
    assert ended[0] == ended[1]


def test_what_is_clicked_and_typed_during_an_act_is_done_after_it(viewer, lines, mouse):  # noqa: F811
    click_all(viewer, lines, mouse, CHOSEN[0])
    press(viewer, "x")
    mouse_clicks(viewer, mouse, NEIGHBOUR)
    press(viewer, "x")
    finish(lines)
    assert lines.parts.session.n_corrections == 2
    assert lines.parts.bar.error.text() == ""


def mouse_clicks(viewer, mouse, place) -> None:  # noqa: F811
    """Click a particle and wait for nothing."""
    from .test_by_mouse import on_canvas

    mouse.click(viewer.window._qt_viewer.canvas.native, on_canvas(viewer, viewer.layers["particles of beads"], place))


def test_keys_typed_before_another_run_do_nothing_to_its_tracks(viewer, listed):
    for _ in range(5):
        press(viewer, "c")
    listed.running.run_link()
    finish(listed)
    assert listed.parts.session.n_corrections == 0
