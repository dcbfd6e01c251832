"""Which tracks are shown: ranges of what they measure, without tracking again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ....tracker.measuring.measures import measure_tracks, measure_units
from ....tracker.points import Tracks

MEASURES = ("length", "mean_speed", "net_displacement", "mean_quality")
"""What can be filtered by, where the tracks have it."""
TITLES = {
    "length": "length (detections)",
    "mean_speed": "mean speed",
    "net_displacement": "displacement",
    "mean_quality": "mean quality",
}

Range = tuple[float, float]


@dataclass(frozen=True)
class MeasuredTracks:
    """Tracks and what each of them measures.

    Attributes
    ----------
    tracks : Tracks
    measures : DataFrame
        One row a track (`tracker.measuring.measures.measure_tracks`), with `smallest_margin` where margins are known.
    """

    tracks: Tracks
    measures: pd.DataFrame

    @property
    def filters(self) -> tuple[str, ...]:
        """The measures that can be filtered by."""
        return tuple(name for name in MEASURES if name in self.measures.columns)

    def title(self, measure: str) -> str:
        """Return the name of a measure with its unit."""
        unit = measure_units(self.tracks.calibration).get(measure)
        return TITLES.get(measure, measure.replace("_", " ")) + (f" ({unit})" if unit else "")

    def kept(self, ranges: Mapping[str, Range]) -> pd.DataFrame:
        """Return the measures of the tracks that lie in all ranges, ends included.

        A track without a value (the speed of a single detection) is kept only by a range that keeps all others too.
        """
        keep = np.ones(len(self.measures), dtype=bool)
        for name, (low, high) in ranges.items():
            values = self.measures[name].to_numpy(dtype=np.float64)
            inside = (values >= low) & (values <= high)
            known = ~np.isnan(values)
            keep &= inside | (~known & inside[known].all())
        return self.measures[keep]

    def only(self, kept: pd.DataFrame) -> Tracks:
        """Return the tracks of some rows of `measures`, lineage among them kept."""
        if len(kept) == len(self.measures):
            return self.tracks
        ids = kept["track_id"].to_numpy()
        table = self.tracks.table[np.isin(self.tracks.table["track_id"].to_numpy(), ids)]
        known = set(ids.tolist())
        lineage = {
            child: [parent for parent in parents if parent in known]
            for child, parents in self.tracks.parents.items()
            if child in known
        }
        return replace(self.tracks, table=table, parents={child: of for child, of in lineage.items() if of})


def measured(tracks: Tracks, links: pd.DataFrame | None = None, margins: np.ndarray | None = None) -> MeasuredTracks:
    """Measure every track; with the links and their margins also how sure the least sure link of each is."""
    measures = measure_tracks(tracks)
    if links is not None and margins is not None and len(links):
        of_link = tracks.table["track_id"].to_numpy()[links["source"].to_numpy()]
        smallest = pd.Series(margins).groupby(of_link).min()
        measures["smallest_margin"] = measures["track_id"].map(smallest)
    return MeasuredTracks(tracks, measures)
