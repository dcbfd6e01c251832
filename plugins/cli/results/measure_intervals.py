"""`auctrack measure --intervals`: the detections linked again as they may be, and what that leaves of the measures."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from ....tracker.linking.settings import LinkSettings
    from ....tracker.points import Tracks

TRACKINGS = 30
_FAMILIES = "tracks (families, where particles divide)"
_NEEDED = {
    "mean_speed": ("a track has detections in two consecutive frames", _FAMILIES),
    "diffusion": ("a track has detections in three consecutive frames", _FAMILIES),
    "msd_exponent": (
        "the mean squared displacement grows from one frame to two and on to four, which takes tracks of five frames",
        _FAMILIES,
    ),
    "division_rate": ("a track has detections in two frames", _FAMILIES),
    "generation_time": (
        "a particle is seen from one division to the next, for which the movie may be too short",
        "generations",
    ),
}
"""What each measure needs to be there in a tracking, and what its interval comes from."""


def sampled_tracks(
    tracks: Tracks, path: Path, stated: LinkSettings | None, min_length: int, title: str
) -> list[Tracks]:
    """Sample trackings of the detections of a table, linked by the settings that stand beside it.

    Where none are stated, they are linked by the defaults, and divide and merge where the tracks do. How far that is
    is shown under a title.

    Raises
    ------
    InvalidSetting
        If these are settings of which no trackings are sampled, or all tracks are shorter than `min_length`.
    """
    from ....tracker.errors import InvalidSetting
    from ....tracker.linking.link import link_steps
    from ....tracker.measuring.measures import filter_by_length
    from ....tracker.stepwise import finished
    from ...words.notes import on_chance
    from ..terminal import console

    steps = link_steps(tracks, stated or _as_tracks_are(tracks), samples=TRACKINGS)
    try:
        with console.progress(title, "step", {"sample": "tracking"}, ("link", "the detections again")) as show:
            linking = finished(steps, lambda at: show(at.stage or "link", at.done, at.total))
    except InvalidSetting as error:
        if error.setting != "samples":
            raise
        raise InvalidSetting(
            f"{error.problem} Link the detections with it, for instance by "
            f"auctrack link {shlex.quote(str(path))} -o NEW.tracks.csv, and measure those tracks.",
            setting="intervals",
        ) from None
    console.note(*(f"{note} The intervals do not cover that." for note in on_chance(linking)))
    sampled = [filter_by_length(each, min_length) for each in linking.sampled_tracks()]
    if not all(len(each) for each in sampled):
        raise InvalidSetting(f"--intervals: linked again, no tracks are as long as --min-length {min_length}.")
    return sampled


def with_intervals(table: pd.DataFrame, bounds: pd.DataFrame, value: str) -> pd.DataFrame:
    """Return a table with the columns `VALUE_low` and `VALUE_high`, by what rows share with bounds of `value`."""
    of_rows = [name for name in ("lag", "axis") if name in bounds]
    named = bounds[[*of_rows, "low", "high"]].rename(columns={name: f"{value}_{name}" for name in ("low", "high")})
    return table.merge(named, on=of_rows, how="left")


def said(intervals: pd.DataFrame) -> list[tuple[str, str]]:
    """Return the measures with their intervals in words."""
    from ....tracker.calibrating.digits import in_digits, in_unit

    rows: list[tuple[str, str]] = []
    for name, unit, value, low, high in intervals[["measure", "unit", "value", "low", "high"]].to_numpy().tolist():
        bounds = "no interval is known" if math.isnan(low) else f"95 %: {in_digits(low, 4)} to {in_digits(high, 4)}"
        said = "not known" if math.isnan(value) else f"{in_unit(unit, value, 4)}; {bounds}"
        rows.append((name.replace("_", " "), said))
    return rows


def on_unknown(intervals: pd.DataFrame) -> list[str]:
    """Return why measures or their intervals are not known."""
    notes: list[str] = []
    for measure, value, low in intervals[["measure", "value", "low"]].to_numpy().tolist():
        name, needed, differing = measure.replace("_", " "), *_NEEDED[measure]
        if math.isnan(value):
            notes.append(f"{name} is not known: not in every likely tracking {needed}.")
        elif math.isnan(low):
            notes.append(f"{name} has no interval: it comes from how much {differing} differ, and there is only one.")
    return notes


def on_linked_anew(stated: LinkSettings | None) -> list[str]:
    """Return that likely trackings are those of auctrack, where nothing says how the tracks of a table were linked."""
    if stated is not None:
        return []
    return [
        "nothing beside the table says how its tracks were linked, so the intervals are of its detections linked again "
        "by auctrack, which may make other tracks of them."
    ]


def stated_settings(path: Path) -> LinkSettings | None:
    """Return how the tracks of a table were linked, as it stands beside it; None where it does not."""
    from ....tracker.formats.sidecar import read_sidecar
    from ....tracker.settings import Settings

    beside = read_sidecar(path)
    effective = {} if beside is None else beside.settings.get("effective", {})
    return Settings.from_mapping(effective).link if effective else None


def _as_tracks_are(tracks: Tracks) -> LinkSettings:
    """Return the defaults, with divisions and merges where the tracks have any."""
    from ....tracker.linking.settings import LinkSettings

    children = Counter(mother for of in tracks.parents.values() for mother in of)
    return LinkSettings(
        divisions=any(count > 1 for count in children.values()),
        merges=any(len(of) > 1 for of in tracks.parents.values()),
    )
