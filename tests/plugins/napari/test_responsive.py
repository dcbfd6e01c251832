"""The window stays responsive while a run goes on: what is done so that no tick takes long."""

from __future__ import annotations

import gc
import re
import sys
import threading
import time

import pytest

from auctrack.plugins.napari.layers.main_window import main_window
from auctrack.plugins.napari.session.steps import chain
from auctrack.plugins.napari.threads import responsive as pace
from auctrack.plugins.napari.threads.responsive import responsive
from auctrack.tracker.linking.link import LinkSettings
from auctrack.tracker.simulating.simulate import SimulationSettings, simulate

from .conftest import finish, wait

USUAL = sys.getswitchinterval(), gc.get_threshold()


def back_to_usual() -> bool:
    return (sys.getswitchinterval(), gc.get_threshold()) == USUAL


@pytest.fixture(autouse=True)
def soon_back(monkeypatch):
    """Let the usual pace be back at once after work, as it is before each of these tests."""
    monkeypatch.setattr(pace, "_AFTERWARDS", 0.0)
    yield
    until(back_to_usual)


def until(holds) -> None:
    """Wait for another thread."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


def make_garbage() -> list:
    """Make many lasting objects, which set off full collections at the usual pace; return them."""
    return [[[] for _ in range(10)] for _ in range(300_000)]


def test_threads_take_turns_quickly_while_any_of_them_works():
    with responsive():
        with responsive():
            assert sys.getswitchinterval() < USUAL[0]
        assert sys.getswitchinterval() < USUAL[0]
    until(back_to_usual)


def test_the_usual_pace_is_back_after_an_error():
    with pytest.raises(ValueError, match="odd"), responsive():
        raise ValueError("odd")
    until(back_to_usual)


def test_the_pace_lasts_until_what_the_work_gave_is_drawn(monkeypatch):
    monkeypatch.setattr(pace, "_AFTERWARDS", 0.3)
    with responsive():
        pass
    assert sys.getswitchinterval() < USUAL[0]
    until(back_to_usual)


def test_no_full_collection_of_garbage_holds_up_the_window():
    before = full_collections()
    lasting = make_garbage()
    assert full_collections() > before
    with responsive():
        before = full_collections()
        lasting += make_garbage()
        assert full_collections() == before
    del lasting


def test_young_garbage_is_collected_all_the_same():
    class Cycle:
        alive = 0

        def __init__(self) -> None:
            Cycle.alive += 1
            self.own = self

        def __del__(self) -> None:
            Cycle.alive -= 1

    with responsive():
        for _ in range(100_000):
            Cycle()
        assert Cycle.alive < 50_000


def test_work_leaves_no_cycles_that_would_pile_up_meanwhile():
    points = simulate(SimulationSettings(particles=50, frames=10)).detections
    chain(points, LinkSettings(), lambda _: None)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            chain(points, LinkSettings(), lambda _: None)
        assert gc.collect() < 100
    finally:
        gc.enable()


@pytest.fixture
def busy_widget(viewer, open_widget, monkeypatch):
    """Open a widget over 6,000 points in 12 frames that are linked in several solves, and shown after each."""
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._EDGES", 5_000)
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._SHOW_SECONDS", 0)
    monkeypatch.setattr("auctrack.plugins.napari.session.steps._SHOW_SHARE", 1e9)
    monkeypatch.setattr("auctrack.plugins.napari.actions.showing._WHILE_WORKING", 1_000)
    points = simulate(SimulationSettings(particles=500, frames=12)).detections
    viewer.add_points(points.table[["frame", "z", "y", "x"]].to_numpy(), name="beads")
    return open_widget()


def test_little_is_handed_to_napari_while_it_works_and_all_in_the_end(viewer, busy_widget, monkeypatch):
    from auctrack.plugins.napari.layers import own_layers

    handed = []
    fill, make = own_layers.fill_layer, own_layers.make_layer
    paces = []

    def note(layer_data):
        handed.append((busy_widget.work.is_busy, len(layer_data[0])))
        if busy_widget.work.is_busy:
            paces.append(sys.getswitchinterval())

    monkeypatch.setattr(own_layers, "fill_layer", lambda layer, data: (note(data), fill(layer, data)))
    monkeypatch.setattr(own_layers, "make_layer", lambda data: (note(data), make(data))[1])
    hold_the_end(monkeypatch, handed)
    motion = busy_widget.parts.link.motion
    motion.setCurrentIndex(motion.findData("none"))
    busy_widget.running.run_all()
    finish(busy_widget)
    while_working = [size for working, size in handed if working]
    assert while_working
    assert max(while_working) <= 1.5 * 1_000  # whole tracks are left out, not exact numbers of points
    assert max(paces) < USUAL[0]
    assert len(viewer.layers["tracks of beads"].data) == 6_000
    until(back_to_usual)


def hold_the_end(monkeypatch, handed: list) -> None:
    """Let the last report wait until something was handed to napari, however fast the machine is."""
    from auctrack.plugins.napari.session import steps

    suspicious, released = steps.suspicious_links, threading.Event()

    def late(*given):
        for _ in range(1000):
            if handed or released.wait(0.01):
                break
        return suspicious(*given)

    monkeypatch.setattr(steps, "suspicious_links", late)


def test_points_that_the_user_sees_already_are_not_drawn_again_before_they_are_linked(viewer, busy_widget, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    from auctrack.plugins.napari.session import steps

    link = steps.linking_stage

    def slow(*given, **named):
        begun.set()
        assert go_on.wait(30)
        return link(*given, **named)

    monkeypatch.setattr(steps, "linking_stage", slow)
    busy_widget.running.run_all()
    wait(begun.is_set)
    wait(lambda: not busy_widget.parts.overlay.is_busy)
    assert [layer.name for layer in viewer.layers] == ["beads"]
    go_on.set()
    finish(busy_widget)


def test_what_napari_draws_is_announced_before(busy_widget):
    said = []
    overlay = busy_widget.parts.overlay
    overlay.announced.connect(lambda text: said.append((text, overlay.layer("tracks") is None)))
    busy_widget.running.run_all()
    finish(busy_widget)
    first, before_the_layer = said[0]
    assert before_the_layer
    assert re.fullmatch(r"napari draws [\d,]+ points…", first)


def test_a_second_run_fills_the_layers_that_are_there(viewer, busy_widget):
    busy_widget.running.run_all()
    finish(busy_widget)
    layers = set(viewer.layers)
    busy_widget.looking.choose_track(0)
    finish(busy_widget)
    busy_widget.running.run_all()
    finish(busy_widget)
    assert layers == set(viewer.layers)  # the track chosen before is void
    assert viewer.layers["tracks of beads"].visible


def test_the_canvas_is_painted_once_napari_has_all_layers_and_panels_all_the_time(viewer, busy_widget, monkeypatch):
    from auctrack.plugins.napari.layers import own_layers

    canvas, held = main_window(viewer).centralWidget(), []
    fill, make = own_layers.fill_layer, own_layers.make_layer

    def note() -> None:
        held.append((canvas.updatesEnabled(), busy_widget.updatesEnabled()))

    monkeypatch.setattr(own_layers, "fill_layer", lambda layer, data: (note(), fill(layer, data)))
    monkeypatch.setattr(own_layers, "make_layer", lambda data: (note(), make(data))[1])
    busy_widget.running.run_all()
    finish(busy_widget)
    assert set(held) == {(False, True)}
    assert canvas.updatesEnabled()


def test_the_canvas_is_painted_again_when_the_widget_is_closed(viewer, busy_widget):
    canvas = main_window(viewer).centralWidget()
    busy_widget.running.run_all()
    wait(lambda: not canvas.updatesEnabled())
    viewer.window.remove_dock_widget(busy_widget)
    assert canvas.updatesEnabled()


def test_the_canvas_is_painted_again_when_napari_refuses_a_layer(viewer, busy_widget, monkeypatch):
    def refuse(data):
        del data
        raise ValueError("no such layer")

    refused = []
    monkeypatch.setattr(sys, "excepthook", lambda _, error, __: refused.append(str(error)))
    monkeypatch.setattr("auctrack.plugins.napari.layers.own_layers.make_layer", refuse)
    busy_widget.running.run_all()
    finish(busy_widget)
    assert set(refused) == {"no such layer"}
    assert main_window(viewer).centralWidget().updatesEnabled()
