"""Figures: what stands where on them."""

from __future__ import annotations

from itertools import pairwise

import pandas as pd
import pytest
from matplotlib.figure import Figure

from auctrack.plugins.bench.draw.figures import TIME, draw_bars, draw_tracks


@pytest.fixture
def figures(monkeypatch):
    """Keep the figures that would be saved."""
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, _path: saved.append(figure))
    return saved


def test_no_bar_hides_another(figures, tmp_path):
    bars = {group: dict.fromkeys("abc", 2.0) for group in ("small", "large")}
    draw_bars(tmp_path / "bars.png", "bars", bars, y=TIME)
    extents = sorted((bar.get_x(), bar.get_x() + bar.get_width()) for bar in figures[0].axes[0].patches)
    assert len(extents) == 6
    assert all(right <= left + 1e-9 for (_, right), (left, _) in pairwise(extents))


def test_the_axes_hold_every_track(figures, tmp_path):
    table = pd.DataFrame({"track_id": [0, 0], "frame": [0, 1], "z": [0.0, 4.0], "y": [1.0, 6.0], "x": [2.0, 9.0]})
    draw_tracks(tmp_path / "tracks.png", "tracks", {"here": table})
    axes = figures[0].axes[0]
    limits = axes.get_zlim(), axes.get_ylim(), axes.get_xlim()
    assert all(
        low <= table[axis].min() < table[axis].max() <= high for axis, (low, high) in zip("zyx", limits, strict=True)
    )
