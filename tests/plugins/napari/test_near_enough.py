"""A link of the list is shown large enough to be judged, and what was done with links is counted by what it was."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import finish, process_events
from .test_correcting import dense_movie, press  # noqa: F401 - a fixture among them
from .test_on_the_canvas import lines  # noqa: F401 - a fixture
from .test_placing import movie, table  # noqa: F401 - a fixture
from .test_small_screen import lines_of
from .test_undo_leads_back import do  # noqa: F401 - a fixture


def ring_pixels(viewer) -> float:
    layer = viewer.layers["particles of beads"]
    return float(np.max(layer.size)) * layer.scale[-1] * viewer.scene.camera.zoom


@pytest.mark.parametrize("key", ["n", "Shift-n"])
@pytest.mark.parametrize("ndisplay", [2, 3])
def test_the_view_comes_nearer_where_particles_are_too_small_to_be_judged(viewer, do, key, ndisplay):  # noqa: F811
    viewer.dims.ndisplay = ndisplay
    viewer.scene.camera.zoom = 0.1
    do(key)
    assert ring_pixels(viewer) == pytest.approx(16)


def test_a_view_that_is_near_enough_stays_as_near(viewer, do):  # noqa: F811
    viewer.scene.camera.zoom = 50.0
    do("n", "n")
    assert viewer.scene.camera.zoom == 50.0


def test_of_a_link_that_is_long_for_its_particles_both_ends_are_seen(viewer, lines, do):  # noqa: F811
    layer = viewer.layers["particles of beads"]
    lines.parts.overlay.shown.layers["particles"][1]["size"] = 0.01
    viewer.scene.camera.zoom = 0.1
    do("n")
    ends = viewer.layers["link looked at"].data[:2, 2:] * np.asarray(layer.scale)[1:]
    canvas = viewer.window._qt_viewer.canvas.native
    long = np.linalg.norm(ends[1] - ends[0]) * viewer.scene.camera.zoom
    assert 0.2 < long / min(canvas.width(), canvas.height()) < 0.5  # from its middle to its edge


def test_to_confirm_a_link_is_not_counted_as_a_correction(lines, do):  # noqa: F811
    progress = lines.parts.results.progress
    do("n", "c")
    assert ", 0 corrected." in progress.text()
    do("b")
    assert ", 1 corrected." in progress.text()
    do("u", "u")
    assert ", 0 corrected." in progress.text()


def test_what_was_done_and_is_expected_to_be_wrong_is_one_line_on_a_small_screen(viewer, dense_movie):  # noqa: F811
    viewer.window.resize(1280, 720)
    results = dense_movie.parts.results
    results.tabs.setCurrentWidget(results.doubtful)
    for key in "ncnb":
        press(viewer, key)
        finish(dense_movie)
    process_events()
    assert "wrong links expected" in results.progress.text()
    assert lines_of(results.progress) == 1
