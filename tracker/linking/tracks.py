"""Links to tracks with a lineage, and how sure each link is as columns of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from ..points import Points, Tracks
from .chains import lineages
from .result import MARGIN, PROBABILITY


def tracks_of(points: Points, links: pd.DataFrame) -> Tracks:
    """Return the chains of the links that are the only one of both their ends; all other links make a lineage."""
    return lineages(points, links["source"].to_numpy(), links["target"].to_numpy())


def with_sureness(tracks: Tracks, links: pd.DataFrame) -> Tracks:
    """Return tracks with `link_probability` and `link_margin` of the link that leads to each detection."""
    target = links["target"].to_numpy()
    sure = {name: np.full(len(tracks), np.nan) for name in (PROBABILITY, MARGIN)}
    shared = np.flatnonzero(np.bincount(target, minlength=len(tracks))[target] > 1)
    shared = shared[np.argsort(-links["margin"].to_numpy()[shared], kind="stable")]  # the less probable of two stands
    for name, column in ((PROBABILITY, "probability"), (MARGIN, "margin")):
        values = links[column].to_numpy()
        sure[name][target] = values
        sure[name][target[shared]] = values[shared]
    return replace(tracks, table=tracks.table.assign(**sure))
