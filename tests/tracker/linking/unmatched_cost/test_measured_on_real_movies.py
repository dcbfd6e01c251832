"""Links at the measured unmatched cost on real movies, with nothing given; figures are in BENCHMARKS.md, Accuracy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

DATA = Path(__file__).parents[4] / "../shared/data"
MOVIES = [
    ("mosquito_swarm/tracks_m.csv.gz", 5, 0.972),
    ("stretch_3d/truth.csv.gz", 1, 0.997),
    ("stretch_3d/truth.csv.gz", 4, 0.942),
    ("ptv_tracers/tracks_mm.csv.gz", 1, 0.906),
    ("ptv_tracers/tracks_mm.csv.gz", 3, 0.680),
    ("tcells_3d/tracks_um.csv", 1, 0.991),
    ("tcells_3d/tracks_um.csv", 2, 0.967),
    ("phallusia_pm03/truth.csv.gz", 5, 0.932),
    ("hl60_3d/truth.csv", 1, 0.999),
]


@pytest.mark.skipif(not DATA.exists(), reason=f"{DATA} is not there (real data are not part of the project)")
@pytest.mark.parametrize(("name", "every", "least"), MOVIES, ids=[f"{name.split('/')[0]}/{k}" for name, k, _ in MOVIES])
def test_f1_of_links_between_frames(name, every, least):
    table = pd.read_csv(DATA / name)
    table = table[(table["frame"] - table["frame"].min()) % every == 0].reset_index(drop=True)
    table["frame"] = (table["frame"] - table["frame"].min()) // every
    ids = table["true_id"].where(~table.get("is_detection_only", pd.Series(data=False, index=table.index)), -1)
    linking = link_points(Points(table[["frame", "z", "y", "x"]]), LinkSettings(device="cpu", motion="none"))
    assert f1(linking.links, table["frame"].to_numpy(), ids.to_numpy()) >= least


def f1(links: pd.DataFrame, frames: np.ndarray, ids: np.ndarray) -> float:
    """Return F1 of links; right are those between consecutive detections of one identity, in frames next to each other.

    A point without an identity (-1) is in no true link.
    """
    known = pd.DataFrame({"row": np.arange(len(ids)), "frame": frames, "id": ids}).query("id >= 0")
    true = known.merge(known.assign(frame=known["frame"] - 1), on=["frame", "id"], suffixes=("", "_next"))
    right = len(true.merge(links, left_on=["row", "row_next"], right_on=["source", "target"]))
    return 2 * right / (len(true) + len(links))
