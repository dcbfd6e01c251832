"""What the panels say and offer: time left, solvers, a preview that waits, an overlay of which only a part is drawn."""

from __future__ import annotations

import threading
import time

import numpy as np
from numba import njit

from auctrack.matching.solvers import SOLVERS
from auctrack.plugins.napari.layers.preferences import Preferences

from .conftest import PHYSICAL, finish, spots, wait


def test_progress_comes_with_the_time_left(widget, monkeypatch):
    from auctrack.plugins.napari.panels import run_bar

    seconds = iter([90.0, 100.0, 106.0, 400.0, 500.0, 501.0])
    monkeypatch.setattr(run_bar.time, "monotonic", lambda: next(seconds))
    bar = widget.parts.bar
    bar.advance("detect", 0, 50)
    assert bar.progress.format() == "Detecting…"
    bar.advance("link", 0, 50)
    assert bar.progress.format() == "Linking…"
    bar.advance("link", 10, 50)
    assert bar.progress.format() == "Linking: frame 10 of 50, 24 s left"
    assert bar.progress.value() == 10
    bar.advance("link", 20, 50)
    assert bar.progress.format() == "Linking: frame 20 of 50, 8 min left"


def test_what_is_compiled_for_the_first_time_is_said_while_it_is(widget, monkeypatch):
    from auctrack.plugins.napari.session import steps

    go_on, linking_stage = threading.Event(), steps.linking_stage

    def never_compiled_before(*args, **more):
        stage = linking_stage(*args, **more)
        yield next(stage)
        end = time.monotonic() + 30
        while not go_on.is_set():  # again, where a busy window has missed it
            assert time.monotonic() < end
            njit(lambda number: number + 1)(1)
        return (yield from stage)

    monkeypatch.setattr(steps, "linking_stage", never_compiled_before)
    widget.running.run_all()
    wait(lambda: widget.parts.bar.progress.format() == "Linking: compiling for this machine, once…")
    go_on.set()
    finish(widget)
    assert "compiling" not in widget.parts.bar.progress.format()
    assert widget.parts.session.is_complete


def test_every_solver_is_offered(widget):
    box = widget.parts.link.solver
    assert [box.itemData(row) for row in range(box.count())] == ["auto", *SOLVERS]
    names = {box.itemText(row) for row in range(box.count())}
    assert {"auto", "Auction", "Hungarian, classical", "Hungarian, tree", "Jonker-Volgenant"} <= names


def test_a_preview_waits_until_the_setting_is_not_changing(widget, monkeypatch):
    from auctrack.plugins.napari.draw import preview

    detected, detect = [], preview.detect_frame

    def note(grey, settings, scale):
        detected.append(settings.threshold)
        return detect(grey, settings, scale)

    monkeypatch.setattr(preview, "detect_frame", note)
    widget.parts.detect.diameter.setValue(2.5)
    widget.parts.detect.preview.setChecked(True)
    for threshold in range(10, 30):
        widget.parts.detect.threshold.setValue(threshold)
    finish(widget)
    assert detected == [29]


def test_of_an_overlay_too_large_the_frames_around_the_one_shown_are_drawn(viewer, open_widget, monkeypatch):
    monkeypatch.setattr(
        "auctrack.plugins.napari.widget.read_preferences", lambda: Preferences(drawn_vertices=80, tail_frames=3)
    )
    viewer.add_image(spots(frames=12), name="movie", **PHYSICAL)
    widget = open_widget()
    widget.running.run_detect()
    finish(widget)
    assert viewer.layers[1].name == "particles of movie (one of 2)"
    widget.running.run_link()
    finish(widget)
    n = len(widget.parts.session.data.tracks)
    for frame in (0, 11):
        viewer.dims.set_current_step(0, frame)
        finish(widget)
        drawn = viewer.layers["tracks of movie"].data
        assert len(drawn) <= 80 < n
        assert frame in drawn[:, 1]
        assert widget.parts.results.drawn.text().startswith(f"Drawn: {len(drawn)} of {n} points (frames ")
    wait(lambda: not widget.is_busy)
    assert widget.parts.results.tracks.table.count == len(np.unique(widget.parts.session.data.tracks.table["track_id"]))


def test_the_preview_goes_once_particles_are_found(viewer, widget):
    """Its rings would lie over those of what was found."""
    widget.parts.detect.preview.setChecked(True)
    finish(widget)
    assert "preview" in viewer.layers
    widget.parts.detect.run_button.click()
    finish(widget)
    assert "preview" not in viewer.layers
    assert not widget.parts.detect.preview.isChecked()


def test_a_suggestion_for_linking_is_said_where_it_is_seen(viewer, widget):
    """On a small screen too, where the reasons of 2 Link stand below the fold."""
    viewer.window.resize(1280, 720)
    widget.running.run_detect()
    finish(widget)
    widget.parts.steps.setCurrentWidget(widget.parts.link)
    widget.parts.link.suggest_button.click()
    finish(widget)
    assert widget.parts.link.reason.text()
    assert widget.parts.bar.status.text() == widget.parts.link.reason.text()


def test_n_says_why_there_is_no_link_to_check(viewer, widget):
    from .test_correcting import press

    press(viewer, "n")
    assert "no link to check" in widget.parts.bar.status.text()
    widget.running.run_all()
    finish(widget)
    measures, listed = widget.parts.session.data.measures, widget.parts.session.suspicious["track_id"]
    speed = measures.loc[~measures["track_id"].isin(listed), "mean_speed"].iloc[0]
    widget.parts.results.filters.charts["mean_speed"].moved.emit([speed, speed])
    finish(widget)
    press(viewer, "n")
    finish(widget)
    assert widget.parts.results.left_out.text() in widget.parts.bar.status.text()
    assert widget.parts.results.left_out.text()
