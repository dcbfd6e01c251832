"""Links to tracks with a lineage, and how sure each link is as columns of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from ..points import Points, Tracks
from .chains import track_ids
from .result import MARGIN, PROBABILITY


def tracks_of(points: Points, links: pd.DataFrame) -> Tracks:
    """Return the chains of the links that are the only one of both their ends; all other links make a lineage."""
    source, target = links["source"].to_numpy(), links["target"].to_numpy()
    ways_out, ways_in = (np.bincount(ends, minlength=len(points)) for ends in (source, target))
    follows = (ways_out[source] == 1) & (ways_in[target] == 1)
    ids = track_ids(points.frames, source[follows], target[follows])
    parents: dict[int, Sequence[int]] = {}
    for parent, child in zip(ids[source[~follows]].tolist(), ids[target[~follows]].tolist(), strict=True):
        parents[child] = [*parents.get(child, ()), parent]
    return replace(points.with_track_ids(ids), parents=parents)


def with_sureness(tracks: Tracks, links: pd.DataFrame) -> Tracks:
    """Return tracks with `link_probability` and `link_margin` of the link that leads to each detection."""
    target = links["target"].to_numpy()
    sure = {name: np.full(len(tracks), np.nan) for name in (PROBABILITY, MARGIN)}
    order = np.argsort(-links["margin"].to_numpy(), kind="stable")  # of two links into one, the less probable stands
    for name, column in ((PROBABILITY, "probability"), (MARGIN, "margin")):
        sure[name][target[order]] = links[column].to_numpy()[order]
    return replace(tracks, table=tracks.table.assign(**sure))
