"""Axes of whole numbers have whole numbers, evenly apart, below the places that they name."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (0, 19, 5, [0, 5, 10, 15]),
        (1, 20, 5, [5, 10, 15, 20]),
        (0, 1, 5, [0, 1]),
        (0.5, 1.5, 5, [1]),
        (0, 99_999, 5, [0, 20_000, 40_000, 60_000, 80_000]),
    ],
)
def test_ticks_are_whole_and_even(low, high, most, ticks):
    from auctrack.plugins.napari.panels.axis_ticks import whole_ticks

    assert whole_ticks(low, high, most).tolist() == ticks


@pytest.mark.parametrize("low", [-0.5, -3.0, -1e-9])
def test_zero_has_no_sign(low):
    from auctrack.plugins.napari.panels.axis_ticks import whole_ticks

    assert [f"{tick:.0f}" for tick in whole_ticks(low, 0.5, 5)][-1] == "0"


@pytest.mark.parametrize("value", [-18.6, 425.0, -0.000429, 0.0000429, -4.29e-9, 1.23e8, -1.23e9])
def test_levels_beside_a_chart_keep_their_sign_and_size(value):
    from auctrack.plugins.napari.panels.chart import level_text

    text = level_text(value)
    assert float(text) == pytest.approx(value, rel=0.03)
    assert len(text) <= 7


@pytest.mark.parametrize("seed", range(20))
def test_ticks_of_any_axis_are_few_and_inside(seed):
    from auctrack.plugins.napari.panels.axis_ticks import whole_ticks

    random = np.random.default_rng(seed)
    low = float(random.integers(-1000, 1000))
    high = low + float(random.integers(1, 10 ** random.integers(1, 7)))
    ticks = whole_ticks(low, high, 5)
    assert 1 <= len(ticks) <= 5
    assert len(np.unique(np.diff(ticks))) <= 1
    np.testing.assert_array_equal(ticks, ticks.round())
    assert low <= ticks[0] <= ticks[-1] <= high


@pytest.mark.parametrize(("values", "whole"), [([1.0, 7.0, 20.0], True), ([1.0, 7.5, 20.0], False)])
def test_a_chart_of_whole_numbers_has_whole_ticks(display, values, whole):  # noqa: ARG001 - Qt wants a display
    from qtpy.QtWidgets import QApplication

    from auctrack.plugins.napari.panels.chart import Chart

    app = QApplication.instance() or QApplication([])
    chart = Chart()
    chart.show_values(np.array(values))
    assert (chart.ticks() == chart.ticks().round()).all() == whole
    app.processEvents()


def test_a_number_is_written_where_it_belongs(display):  # noqa: ARG001 - Qt wants a display
    """The last one too, though there is little room to the right of it."""
    from qtpy.QtGui import QColor, QImage, QPainter
    from qtpy.QtWidgets import QApplication

    from auctrack.plugins.napari.panels.axis_ticks import draw_tick

    app = QApplication.instance() or QApplication([])
    for x in (8.0, 50.0, 92.0):
        image = QImage(100, 20, QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        draw_tick(painter, "8", x, 0, 20, 100)
        painter.end()
        inked = [
            column for column in range(100) if any(image.pixelColor(column, y).lightnessF() < 0.6 for y in range(20))
        ]
        assert np.mean([inked[0], inked[-1]]) == pytest.approx(x, abs=2)
    app.processEvents()
