"""How far a look through the doubtful links has come."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from .change import Link


def expected_wrong(links: pd.DataFrame, judged: Collection[Link]) -> float | None:
    """Return how many wrong links are expected among those that nobody has judged.

    Parameters
    ----------
    links : DataFrame
        Of a `Linking`: `source`, `target`, `probability`.
    judged : collection of (source, target)
        Links that somebody has confirmed or made: to have seen one says nothing of it. Those that are no longer there
        count nothing.

    Returns
    -------
    float or None
        None where links have no probability (motion "none").
    """
    doubt = 1 - links["probability"].to_numpy()
    if np.isnan(doubt).any():
        return None
    return float(doubt[~are_among(links, judged)].sum())


def are_among(links: pd.DataFrame, some: Collection[Link]) -> np.ndarray:
    """Return which of the links (`source`, `target`) are among some, bool (links,)."""
    among = np.zeros(len(links), dtype=bool)
    if some:  # of a million links few begin where one of them does
        near = np.flatnonzero(np.isin(links["source"].to_numpy(), [source for source, _ in some]))
        among[near] = pd.MultiIndex.from_frame(links[["source", "target"]].iloc[near]).isin([*some])
    return among
