"""Links to look at: the longest steps, and those that another assignment would replace most cheaply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....tracker.editing.looked_at import are_among
from ....tracker.linking.result import Linking

ENOUGH = 100
_FEWEST, _ONE_IN = 5, 20  # of few links, one in twenty but five at least


def suspicious_links(
    linking: Linking, margins: np.ndarray, count: int = ENOUGH, held: Sequence[Sequence[float]] = ()
) -> pd.DataFrame:
    """Return links worth a look: those that linking would not make, then the least sure first.

    Parameters
    ----------
    linking : Linking
    margins : float64 (links,)
        In the order of `linking.links`.
    count : int
        Links of each kind at most.
    held : sequence of (source, target)
        Links that tracks were taken up with although linking would not make them; all of them are listed.

    Returns
    -------
    DataFrame
        `track_id`, `frame` (of the link's end), `distance` (physical), `margin` (in the unit of the cost), `why`
        ("unlikely", "ambiguous", "long" or "both" of these two), `source` and `target` (rows of the
        link's two ends in the table), `looked_at` (False).
    """
    links = linking.links
    count = min(count, max(_FEWEST, len(links) // _ONE_IN))
    unsure = _least(margins, count)
    longest = _least(-links["length"].to_numpy(), count)
    known = {(int(source), int(target)) for source, target in held}
    first = np.flatnonzero(are_among(links, known)).tolist()
    order = list(dict.fromkeys([*first, *np.column_stack([unsure, longest]).ravel().tolist()]))
    chosen = links.iloc[order]
    target = chosen["target"].to_numpy()
    table = linking.tracks.table
    ambiguous, long, odd = (np.isin(order, rows) for rows in (unsure, longest, first))
    return pd.DataFrame(
        {
            "track_id": table["track_id"].to_numpy()[target],
            "frame": table["frame"].to_numpy()[target],
            "distance": chosen["length"].to_numpy(),
            "margin": margins[order],
            "why": np.select(
                [odd, ambiguous & long, ambiguous],
                ["unlikely", "both", "ambiguous"],
                "long",
            ),
            "source": chosen["source"].to_numpy(),
            "target": target,
            "looked_at": False,
        }
    )


def _least(values: np.ndarray, count: int) -> np.ndarray:
    """Return where the least of some values are, ascending, the first of those that are equal; all if they are few."""
    if count >= len(values):
        return np.argsort(values, kind="stable")
    few = np.flatnonzero(values <= np.partition(values, count)[count])
    return few[np.argsort(values[few], kind="stable")][:count]


def margin_unit(linking: Linking) -> str:
    """Return the unit of the margins."""
    if linking.settings.is_learned:
        return "nats"
    unit = linking.tracks.calibration.unit
    return f"{unit}²" if linking.settings.cost == "squared" else unit
