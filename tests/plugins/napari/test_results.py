"""What the results say of themselves: which filters are copied."""

from __future__ import annotations

import numpy as np

from .conftest import clipboard, finish


def test_a_filter_that_is_not_set_is_not_copied(viewer, open_widget):
    viewer.add_points(np.column_stack([np.repeat(np.arange(4), 2), np.tile([[5.0, 5], [40, 40]], (4, 1))]))
    widget = open_widget()
    widget.running.run_all()
    finish(widget)
    assert widget.parts.session.data.measures["length"].min() == 4
    widget.taking_away.copy_toml()
    assert "min_length = 1\n" in clipboard()
    assert widget.parts.bar.status.text().endswith("gives the same tracks.")


def test_a_filter_that_no_option_has_is_said_not_to_be_copied(widget):
    widget.running.run_all()
    finish(widget)
    charts = widget.parts.results.filters.charts
    charts["length"].limits[1] = charts["length"].limits[0]
    widget.taking_away.copy_toml()
    assert widget.parts.bar.status.text().endswith("The filters greatest length are not part of it.")
