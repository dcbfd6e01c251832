"""Closing the viewer and ending Python at once, in many moments of a run: the process ends well and says nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CLOSE = """
import gc, sys, weakref, napari
from auctrack.plugins.napari.layers.main_window import main_window
from tests.plugins.napari.conftest import PHYSICAL, process_events, spots

moment, in_event_loop = sys.argv[1], sys.argv[2] == "in the event loop"
viewer = napari.Viewer(show=True)
viewer.add_image(spots(frames=12), name="movie", **PHYSICAL)
_, widget = viewer.window.add_plugin_dock_widget("auctrack", "Track particles")
seen = []

def note(stage):
    seen.append(stage)
    if in_event_loop and stage == moment:
        viewer.close()

widget.work.reported.connect(lambda advance: note(advance.stage))
widget.work.returned.connect(lambda result: note("returned"))
window = weakref.ref(main_window(viewer))
widget.running.run_all()
if in_event_loop:
    napari.run()
else:
    while moment not in ("start", *seen):
        process_events()
    viewer.close()
gc.collect()
print("closed" if window() is None else "kept until Python ends, where PyQt may crash as it deletes it")
"""


@pytest.mark.usefixtures("display")
@pytest.mark.parametrize("moment", ["start", "detect", "link", "returned", "link in the event loop"])
def test_closing_in_a_run_ends_the_process_well(moment):
    stage, _, where = moment.partition(" ")
    ran = subprocess.run(
        [sys.executable, "-c", CLOSE, stage, where], env=os.environ, capture_output=True, text=True, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "closed"
    assert "Traceback" not in ran.stderr
