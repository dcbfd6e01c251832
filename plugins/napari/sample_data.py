"""What napari's File > Open Sample gives: the simulations of `sample_data/`, made on this machine, with truth."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from ...tracker.formats.tables import read_tracks
from ...tracker.simulating.render import RenderSettings, render
from ...tracker.simulating.simulate import SimulationSettings, simulate
from .layers.file_layer import point_size
from .layers.layer_tables import LayerData, points_layer, tracks_layer
from .layers.readers import movie_reader

MOVIE = SimulationSettings(
    particles=60,
    frames=20,
    box_um=(15, 63.5, 63.5),
    frame_interval_s=10,
    persistence=0.8,
    step_um=1,
    walls="leave",
    keep_density=True,
    seed=1,
)
POINTS = SimulationSettings(particles=300, frames=20, missed=0.05, false=0.05, seed=2)


def sample_movie() -> list[LayerData]:
    """Return a simulated 3D movie and its true tracks (hidden at first).

    The movie is a file in the system's folder for temporary files, so that the command line can track it too.
    """
    folder = Path(tempfile.mkdtemp(prefix="auctrack-sample-"))
    path, truth = render(
        simulate(MOVIE), folder / "movie.ome.tif", RenderSettings(voxel_um=(1, 0.5, 0.5), seed=1), overwrite=True
    )
    read = movie_reader(str(path))
    assert read is not None  # a single path is always read
    return [*read(str(path)), tracks_layer(read_tracks(truth), "true tracks", visible=False)]


def sample_points() -> list[LayerData]:
    """Return simulated detections, some missed and some false, and the true tracks (hidden at first)."""
    simulation = simulate(POINTS)
    detected = simulation.detections
    return [
        points_layer(detected, "simulated points", size=point_size(detected), opacity=0.7),
        tracks_layer(simulation.truth, "true tracks", visible=False),
    ]


def dividing_cells() -> np.ndarray:
    """Return places (t, y, x) of cells that wander, and of which some divide now and then, float64 (n, 3)."""
    rng = np.random.default_rng(0)
    cells, rows = rng.uniform(0, 160, (24, 2)), list[np.ndarray]()
    for frame in range(30):
        cells = cells + rng.normal(0, 0.4, cells.shape)
        if frame in (8, 15, 22):
            apart = np.zeros_like(cells)
            apart[rng.choice(len(cells), 6, replace=False)] = 2, 0
            cells = np.vstack([cells + apart, (cells - apart)[apart.any(axis=1)]])
        rows.append(np.column_stack([np.full(len(cells), frame), cells]))
    return np.vstack(rows)
