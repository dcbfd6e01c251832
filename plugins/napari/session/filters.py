"""Which tracks are shown: ranges of what they measure, without tracking again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ....tracker.linking.result import Linking
from ....tracker.measuring.measures import measure_tracks, measure_units
from ....tracker.points import Tracks
from .suspicious import margin_unit

MEASURES = ("length", "mean_speed", "net_displacement", "mean_quality")
"""What is filtered by until the user says otherwise, where the tracks have it."""
TITLES = {
    "length": "length (detections)",
    "mean_speed": "mean speed",
    "net_displacement": "displacement",
    "mean_quality": "mean quality",
}
_MARGINS = ("smallest_margin", "link_margin")

Range = tuple[float, float]


@dataclass(frozen=True)
class MeasuredTracks:
    """Tracks and what each of them measures.

    Attributes
    ----------
    tracks : Tracks
    measures : DataFrame
        One row a track (`tracker.measuring.measures.measure_tracks`), with `smallest_margin` where margins are known.
    margin_unit : str
        Of the margins.
    margins_are_near : bool
        Whether only those margins that are near corrections were measured after them.
    """

    tracks: Tracks
    measures: pd.DataFrame
    margin_unit: str = ""
    margins_are_near: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The measures, the tracks' names left out."""
        return tuple(str(name) for name in self.measures.columns if name != "track_id")

    def title(self, column: str) -> str:
        """Return the name of a measure, or of a column of the particles, with its unit."""
        calibration = self.tracks.calibration
        units = measure_units(calibration) | dict.fromkeys(self.tracks.axes, calibration.unit)
        unit = (units | dict.fromkeys(_MARGINS, self.margin_unit)).get(column)
        return TITLES.get(column, column.replace("_", " ")) + (f" ({unit})" if unit else "")

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
        return self.tracks.only(np.isin(self.tracks.table["track_id"].to_numpy(), kept["track_id"].to_numpy()))


def measured(tracks: Tracks) -> MeasuredTracks:
    """Measure every track."""
    return MeasuredTracks(tracks, measure_tracks(tracks))


def measured_links(linking: Linking, before: MeasuredTracks | None = None) -> MeasuredTracks:
    """Measure every track, and how sure the least sure link of each is.

    Of tracks that there were `before`, of the same particles, the measures are taken from there.
    """
    tracks, links = linking.tracks, linking.links
    measures = measure_tracks(tracks) if before is None else _measured_again(tracks, before)
    if len(links):
        of_track = tracks.table["track_id"].to_numpy()[links["source"]]
        smallest = pd.Series(links["margin"].to_numpy()).groupby(of_track).min()
        measures["smallest_margin"] = smallest.reindex(measures["track_id"]).to_numpy()
    return MeasuredTracks(tracks, measures, margin_unit(linking))


def _measured_again(tracks: Tracks, before: MeasuredTracks) -> pd.DataFrame:
    """Measure the tracks that are not what they were; all of them where particles came, went or moved."""
    were = before.tracks
    columns = ["frame", *tracks.axes]
    if len(tracks) != len(were) or not all(
        np.array_equal(tracks.table[name].to_numpy(), were.table[name].to_numpy()) for name in columns
    ):
        return measure_tracks(tracks)
    of_track, of_track_before = (table["track_id"].to_numpy() for table in (tracks.table, were.table))
    differs = of_track != of_track_before
    changed = np.union1d(of_track[differs], of_track_before[differs])
    remeasured = measure_tracks(replace(tracks, table=tracks.table[np.isin(of_track, changed)], parents={}))
    kept = before.measures.loc[~before.measures["track_id"].isin(changed), remeasured.columns]
    return pd.concat([kept, remeasured]).sort_values("track_id", ignore_index=True)
