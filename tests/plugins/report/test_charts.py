"""The charts of a report: what they draw is what the table says, frames without a row too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes

from auctrack.plugins.report.charts import counts_chart


@pytest.fixture
def lines(monkeypatch):
    """What is drawn as lines, by their labels."""
    found: dict[str, tuple[list[int], list[int]]] = {}
    plot = Axes.plot

    def noted(panel, x, y, **given):
        found[given["label"]] = np.asarray(x).tolist(), np.asarray(y).tolist()
        return plot(panel, x, y, **given)

    monkeypatch.setattr(Axes, "plot", noted)
    return found


def counts(*frames):
    n = len(frames)
    return pd.DataFrame({"frame": np.array(frames, np.int64), "detections": [9] * n, "begin": [1] * n, "end": [1] * n})


@pytest.mark.parametrize(
    ("frames", "step", "drawn"),
    [
        ((0, 1, 2), 1, {}),
        ((0, 1, 3, 4), 1, {2: 0}),
        ((0, 1, 30, 31), 1, {2: 0, 29: 0}),
        ((0, 5, 10, 20), 5, {15: 0}),
        ((0, 1, 10**12), 1, {2: 0, 10**12 - 1: 0}),
        ((0, 1, 3), None, {}),  # of a movie that has no file for frame 2
        ((), 1, {}),
    ],
)
def test_frames_that_a_table_has_no_row_of_hold_nothing(lines, frames, step, drawn):
    counts_chart(counts(*frames), step)
    x, y = lines["detections"]
    assert dict(zip(x, y, strict=True)) == dict.fromkeys(frames, 9) | drawn
    assert x == sorted(x)
    assert all(of[0] == x for of in lines.values())
