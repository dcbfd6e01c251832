"""A layer of five axes says that its axes are to be chosen, and the usual choice splits it into channels."""

from __future__ import annotations

import numpy as np

from .conftest import finish, spots


def test_time_channel_z_y_x_is_chosen_by_its_entry(viewer, open_widget):
    movie = spots()
    viewer.add_image(np.stack([movie, movie], axis=1), name="both")
    widget = open_widget()
    finish(widget)
    order = widget.parts.input.axes.order
    assert order.currentText() == "choose…"
    order.setCurrentIndex(order.findData("TCZYX"))
    finish(widget)
    assert viewer.layers["both 0"].data.shape == viewer.layers["both 1"].data.shape == movie.shape
