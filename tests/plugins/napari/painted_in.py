"""What keys do to layers that are painted in, in a process of its own: as one goes, Mesa's software GL ends it.

Run by test_keys_over_labels; prints a JSON object.
"""

from __future__ import annotations

import json
import os
import sys

import napari
import numpy as np

from auctrack.tests.plugins.napari.conftest import finish, process_events
from auctrack.tests.plugins.napari.test_correcting import after_a_run, links, press


def main() -> None:
    """Press N, which takes the selection from other layers, then a key that such a layer and corrections both have."""
    viewer = napari.Viewer(show=True)
    widget = after_a_run(
        viewer, lambda: viewer.window.add_plugin_dock_widget("auctrack", "Track particles")[1], particles=30
    )
    before = links(widget)
    labels = viewer.add_labels(np.ones((6, 4, 32, 32), int))
    shapes = viewer.add_shapes(ndim=4)
    seen = {}
    for layer, mode, key in ((labels, "paint", "m"), (shapes, "add_polygon", "e")):
        viewer.layers.selection.active = layer
        layer.mode = mode
        process_events()
        for each in ("n", key):
            press(viewer, each)
            finish(widget)
        seen[mode] = [viewer.layers.selection.active.name, str(layer.mode), links(widget) == before]
    sys.stdout.write(json.dumps({**seen, "label": int(labels.selected_label)}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
