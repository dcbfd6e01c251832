"""Learned motion on real movies, nothing given but the points: links between consecutive frames against their truth."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.points import Points

MOVIES = [
    ("mosquito_swarm/tracks_m.csv.gz", 5, 0.997),
    ("stretch_3d/truth.csv.gz", 4, 0.998),
    ("ptv_tracers/tracks_mm.csv.gz", 3, 0.76),
    ("ptv_tracers/tracks_mm.csv.gz", 1, 0.908),
    ("tcells_3d/tracks_um.csv", 1, 0.985),
    ("tcells_3d/tracks_um.csv", 2, 0.97),
    ("hl60_3d/truth.csv", 1, 0.999),
]


@pytest.mark.parametrize(("name", "every", "least"), MOVIES, ids=[f"{name.split('/')[0]}/{k}" for name, k, _ in MOVIES])
def test_f1_of_links_between_frames(real_data, name: str, every: int, least: float):
    table = pd.read_csv(real_data(name))
    frame = table["frame"] - table["frame"].min()
    table = table[frame % every == 0].assign(frame=frame // every).reset_index(drop=True)
    if "is_detection_only" in table:
        table.loc[table["is_detection_only"].astype(bool), "true_id"] = -1
    if name.startswith("hl60"):
        table["z"] *= 2  # voxels are twice as deep as wide
    linking = link_points(Points(table[["frame", "z", "y", "x"]]))
    assert linking.report["is_optimal"]
    assert f1(linking.links, table["frame"].to_numpy(), table["true_id"].to_numpy()) >= least


def f1(links: pd.DataFrame, frames: np.ndarray, ids: np.ndarray) -> float:
    """F1 of the links between consecutive frames; those of points without an identity (-1) are left out."""
    made = links[links["frames"] == 1]
    source, target = made["source"].to_numpy(), made["target"].to_numpy()
    judged = (ids[source] >= 0) & (ids[target] >= 0)
    right = int((ids[source[judged]] == ids[target[judged]]).sum())
    known = set(zip(frames[ids >= 0].tolist(), ids[ids >= 0].tolist(), strict=True))
    real = sum((frame + 1, name) in known for frame, name in known)
    return 2 * right / (int(judged.sum()) + real)
