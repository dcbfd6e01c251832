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


def test_t_cells_where_their_reference_makes_no_jump(real_data):
    """The laboratory's steps are ever fewer up to 15 µm and then more again: chance partners within a range of 20 µm.

    Links at the ends of its steps of over 11 µm, 172 of 4,893, are not judged.
    """
    table = pd.read_csv(real_data("tcells_3d/tracks_um.csv")).sort_values(["true_id", "frame"], ignore_index=True)
    step = table[["frame", "z", "y", "x", "true_id"]].diff().to_numpy()
    real = (step[:, 0] == 1) & (step[:, 4] == 0)
    length = np.where(real, np.linalg.norm(step[:, 1:4], axis=1), 0.0)
    assert ((length > 15) & (length < 20)).sum() > 1.5 * ((length > 11) & (length < 15)).sum()
    heads = np.flatnonzero(length > 11)
    assert len(heads) < 0.04 * real.sum()
    links = link_points(Points(table[["frame", "z", "y", "x"]])).links.query("frames == 1")
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    judged = ~np.isin(target, heads) & ~np.isin(source, heads - 1)
    right = (target - source == 1) & real[target]
    reached = 2 * right[judged].sum() / (judged.sum() + real.sum() - len(heads))
    assert reached >= 0.996
    expected = (1 - links["probability"].to_numpy())[judged].sum()
    assert expected == pytest.approx((~right[judged]).sum(), rel=0.25)


def test_t_cells_but_where_their_reference_has_cells_take_each_others_places(real_data):
    """A cell that goes far draws no other to where it was, nor away from where it comes to.

    Within 6 µm of the places of steps of up to 8 µm another is there in 4 of 1,000. By that chance .6 of the 172 steps
    of over 11 µm would have one: 35 do. Links at the ends of these 35 are not judged.
    """
    table = pd.read_csv(real_data("tcells_3d/tracks_um.csv")).sort_values(["true_id", "frame"], ignore_index=True)
    frame, place = table["frame"].to_numpy(), table[["z", "y", "x"]].to_numpy()
    step = table[["frame", "true_id"]].diff().to_numpy()
    head = np.flatnonzero((step[:, 0] == 1) & (step[:, 1] == 0))
    length = np.linalg.norm(place[head] - place[head - 1], axis=1)

    def another(beside: np.ndarray, then: np.ndarray) -> np.ndarray:
        """Mark places of the frame of `then` near which a detection other than that one is."""
        at = {f: np.flatnonzero(frame == f) for f in np.unique(frame)}
        pairs = ((j, k, at[frame[k]]) for j, k in zip(beside, then, strict=True))
        return np.array([(np.linalg.norm(place[who[who != k]] - place[j], axis=1) < 6).any() for j, k, who in pairs])

    is_taken = another(head - 1, head) | another(head, head - 1)
    assert is_taken[length < 8].mean() < 0.005
    assert is_taken[length > 11].mean() > 0.15
    doubted = head[is_taken & (length > 11)]
    assert len(doubted) < 0.01 * len(head)
    links = link_points(Points(table[["frame", "z", "y", "x"]])).links.query("frames == 1")
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    judged = ~np.isin(target, doubted) & ~np.isin(source, doubted - 1)
    right = (target - source == 1) & np.isin(target, head)
    assert 2 * right[judged].sum() / (judged.sum() + len(head) - len(doubted)) >= 0.99
    expected = (1 - links["probability"].to_numpy())[judged].sum()
    assert expected == pytest.approx((~right[judged]).sum(), rel=0.25)


def test_mosquitoes_fly_straight_on_where_their_reference_exchanges_two(real_data):
    """Neither is seen in frame 1759; by the authors' ids each goes on as the other, and two links count as wrong."""
    table = pd.read_csv(real_data("mosquito_swarm/tracks_m.csv.gz"))
    at = table.set_index(["true_id", "frame"])[["z", "y", "x"]]
    before, left, found = (at.loc[[(2, frame), (40, frame)]].to_numpy() for frame in (1757, 1758, 1760))
    straight_on = left + 2 * (left - before)
    assert (np.linalg.norm(straight_on - found, axis=1) > 0.1).all()
    assert (np.linalg.norm(straight_on - found[::-1], axis=1) < 0.02).all()
    table = table[table["frame"] % 5 == 0].assign(frame=table["frame"] // 5).reset_index(drop=True)
    links = link_points(Points(table[["frame", "z", "y", "x"]])).links
    ends = [table[["true_id", "frame"]].iloc[links[end]].to_numpy() for end in ("source", "target")]
    crossing = (ends[0][:, 1] == 351) & (ends[1][:, 1] == 352) & (ends[0][:, 0] != ends[1][:, 0])
    assert sorted(ends[1][crossing, 0].tolist()) == [2, 40]
    assert (links["probability"].to_numpy()[crossing] > 0.999).all()
