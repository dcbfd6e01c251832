"""A layer of labels or shapes has keys of its own: with a link or a particle chosen, they are those of corrections."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from .conftest import finish, process_events
from .test_correcting import links, press, tracked  # noqa: F401 - a fixture


@pytest.fixture(params=["labels", "shapes"])
def selected(request, viewer, tracked):  # noqa: F811
    """The widget after a run, a layer that is painted in being selected."""
    tracked.parts.results.tabs.setCurrentIndex(0)
    if request.param == "labels":
        layer = viewer.add_labels(np.ones((6, 8, 64, 64), int), scale=(10, 1, 0.5, 0.5))
    else:
        layer = viewer.add_shapes(ndim=4, scale=(10, 1, 0.5, 0.5))
    viewer.layers.selection.active = layer
    process_events()
    return layer


def test_keys_correct_once_a_link_is_chosen(viewer, tracked, selected):  # noqa: F811
    press(viewer, "n")
    finish(tracked)
    link = tracked.parts.session.link
    press(viewer, "b")
    finish(tracked)
    assert link not in links(tracked)
    assert selected.mode == "pan_zoom"


def test_keys_correct_once_the_list_is_opened(viewer, tracked, selected):  # noqa: F811
    tracked.parts.results.tabs.setCurrentWidget(tracked.parts.results.doubtful)
    process_events()
    assert viewer.layers.selection.active.name == "tracks of movie"
    press(viewer, "x")
    assert "Click the particle" in tracked.parts.bar.status.text()
    assert selected.mode == "pan_zoom"


@pytest.mark.usefixtures("display")
def test_a_layer_that_is_painted_in_keeps_its_keys():
    """M is a new label and E an ellipse then, though they merge particles and end tracks; nothing is corrected."""
    command = [sys.executable, "-m", "auctrack.tests.plugins.napari.painted_in"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen == {"paint": ["Labels", "paint", True], "add_polygon": ["Shapes", "add_ellipse", True], "label": 2}
