"""A widget that a class of tests shares: each takes back what it corrected, and the next finds it as it was."""

from __future__ import annotations

import pytest

from .conftest import emptied_afterwards, finish
from .test_correcting import links, press
from .test_on_the_canvas import press_escape, show, track_lines


@pytest.fixture(scope="class")
def tracked_once(window, module_kept_folder):  # noqa: ARG001 - and not where the user's are
    with emptied_afterwards(window):
        yield track_lines(window)


class InOneWidget:
    """Tests for which `lines` are tracked once; of the list of links only what was looked at stays ticked off."""

    @pytest.fixture
    def viewer(self, window):
        return window

    @pytest.fixture
    def lines(self, viewer, tracked_once):
        widget, made, tab = tracked_once, links(tracked_once), tracked_once.parts.results.tabs.currentIndex()
        yield widget
        while widget.parts.session.n_corrections:
            press(viewer, "u")
            finish(widget)
        press_escape(viewer)
        finish(widget)
        widget.parts.results.tabs.setCurrentIndex(tab)
        viewer.dims.ndisplay = 2
        viewer.scene.camera.angles = (0, 0, 90)
        viewer.reset_view()
        show(viewer, (0, 4, 0, 0))
        assert links(widget) == made
        assert widget.parts.session.link is None
        assert widget.parts.results.clicked.text() == ""
