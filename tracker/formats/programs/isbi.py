"""The XML of the ISBI 2012 particle tracking challenge, and of Icy: particles of detections `t x y z`, in pixels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.etree.ElementTree import Element
from xml.sax.saxutils import quoteattr

import numpy as np
import pandas as pd

from ...errors import InvalidInput, InvalidSetting, NothingInside
from ...points import Points, Tracks
from ..content import Written
from ..loaded import Loaded, steps_of_one
from .xml_file import attribute, parsed

_KINDS = {"snr": "4", "density": "low", "scenario": "VESICLE"}
"""What the challenge says of its own movies, and its readers look for."""


def write(points: Points, settings: Mapping[str, object]) -> Written:
    """Return tracks as particles, in the order of their ids; the z of a 2D movie is 0."""
    del settings  # they stand beside it
    if not isinstance(points, Tracks):
        raise InvalidSetting("the challenge's XML holds tracks, not points; link them first (auctrack link).")
    return Written("\n".join(_lines(points)).encode(), points.table, _lineage(points))


def _lineage(tracks: Tracks) -> dict[int, list[int]]:
    """Return the lineage by the places of the particles, which are what they are known by when they are read."""
    place = {track: number for number, track in enumerate(np.unique(tracks.table["track_id"].to_numpy()).tolist())}
    found = {child: [place[parent] for parent in of if parent in place] for child, of in tracks.parents.items()}
    return {place[child]: of for child, of in found.items() if child in place and of}


def _lines(tracks: Tracks) -> Iterator[str]:
    table = tracks.table if tracks.ndim == 3 else tracks.table.assign(z=0.0)
    kinds = " ".join(f"{name}={quoteattr(value)}" for name, value in _KINDS.items())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<root>'
    yield f"<TrackContestISBI2012 {kinds}>"
    for _, particle in table.sort_values(["track_id", "frame"], kind="stable").groupby("track_id", sort=True):
        yield "<particle>"
        for t, x, y, z in particle[["frame", "x", "y", "z"]].itertuples(index=False):
            yield f'<detection t="{t}" x="{x}" y="{y}" z="{z}"/>'
        yield "</particle>"
    yield "</TrackContestISBI2012>\n</root>\n"


def read(path: Path) -> Loaded:
    """Return the challenge's particles, or the tracks that Icy's own files have, as tracks, numbered from 0."""
    root, _ = parsed(path)
    contest = root if root.tag == "TrackContestISBI2012" else root.find("TrackContestISBI2012")
    found = list(root.iterfind(".//trackgroup/track") if contest is None else contest.iterfind("particle"))
    if contest is None and not found:
        raise InvalidInput(
            f"{path}: has neither <TrackContestISBI2012>, which holds the challenge's tracks, nor <trackgroup>, which "
            "holds Icy's."
        )
    source = "Icy XML" if contest is None else "ISBI 2012 XML"
    return Loaded(tracks_of(found, path), steps_of_one(source=source), str(path))


def tracks_of(particles: Sequence[Element], path: Path) -> pd.DataFrame:
    """Return the detections of particles, which are tracks; 2D where every z is 0, or every one -1."""
    rows = [
        (number, *(attribute(detection, name, path) for name in ("t", "z", "y", "x")))
        for number, particle in enumerate(particles)
        for detection in particle.iterfind("detection")
    ]
    if not rows:
        raise NothingInside(f"{path}: has no detections.")
    texts = pd.DataFrame(rows, columns=["track_id", "frame", "z", "y", "x"])
    table = texts.apply(pd.to_numeric, errors="coerce")
    bad = np.flatnonzero(table.isna().any(axis=1))
    if len(bad):
        values = ", ".join(map(repr, texts.iloc[bad[0], 1:]))
        raise InvalidInput(f"{path}: a detection has t, z, y, x = {values}, which are not all numbers.")
    is_flat = bool((table["z"] == 0).all() or (table["z"] == -1).all())
    return table[["frame", *(() if is_flat else ("z",)), "y", "x", "track_id"]]
