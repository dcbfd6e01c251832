"""TrackMate's XML: spots with features, edges and tracks. What we write opens in TrackMate."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any
from xml.etree import ElementTree
from xml.sax.saxutils import escape, quoteattr

import numpy as np
import pandas as pd

from ...calibrating.stated import AXES, Stated, usable
from ...calibrating.units import MICROMETRE, SECOND, in_its_unit, unit_name
from ...errors import InvalidInput, NothingInside
from ...points import Points, Tracks
from ..content import Written
from ..graph import edges_of, lineages, tracks_of
from ..loaded import Loaded
from ..sidecar import plain_json
from .particle_size import radius_of
from .xml_file import Rows, column, parsed

_OURS = "auctrack"
_TRACK_KEY = "AUCTRACK_TRACK_ID"
_PLACED = ("POSITION_X", "POSITION_Y", "POSITION_Z", "POSITION_T", "FRAME")
_GIVEN = {
    "QUALITY": ("Quality", "QUALITY", "0"),
    "RADIUS": ("Radius", "LENGTH", None),
    "VISIBILITY": ("Visibility", "NONE", "1"),
}
"""Spot features that TrackMate needs of every spot: name, dimension, and value where the table has none."""
_EDGE_FEATURES = {
    "SPOT_SOURCE_ID": ("Source spot ID", "NONE", True),
    "SPOT_TARGET_ID": ("Target spot ID", "NONE", True),
    "LINK_COST": ("Edge cost", "COST", False),
    "EDGE_TIME": ("Edge time", "TIME", False),
    "DISPLACEMENT": ("Displacement", "LENGTH", False),
}
_TRACK_FEATURES = {
    "TRACK_INDEX": ("Track index", "NONE", True),
    "TRACK_ID": ("Track ID", "NONE", True),
    "NUMBER_SPOTS": ("Number of spots in track", "NONE", True),
    "TRACK_START": ("Track start", "TIME", False),
    "TRACK_STOP": ("Track stop", "TIME", False),
    "TRACK_DURATION": ("Track duration", "TIME", False),
}
_OUTLINE = "ROI_N_POINTS"
"""How many corners the outline of a spot has, which TrackMate then reads from the text of its element."""
_SIZES = ("voxeldepth", "pixelheight", "pixelwidth", "timeinterval")
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write(points: Points, settings: Mapping[str, object]) -> Written:
    """Return points as a TrackMate file; positions in the physical unit, every column of numbers a spot feature."""
    physical = points.positions
    edges = edges_of(points)
    features = _features(points)
    radius = radius_of(points, settings)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<TrackMate version="7.11.1">',
        f"  <Log>{escape(f'{_OURS}: {plain_json(settings)}')}</Log>",
        *_model(points, physical, edges, features, radius),
        *_settings(points, settings, radius),
        '  <GUIState state="ConfigureViews">\n    <View key="HYPERSTACKDISPLAYER" />\n  </GUIState>',
        f"  <DisplaySettings>{escape(json.dumps(_DISPLAY))}</DisplaySettings>",
        "</TrackMate>\n",
    ]
    kept = {"frame", *points.axes, *features}
    return Written("\n".join(lines).encode(), points.table[[name for name in points.table.columns if name in kept]])


def _features(points: Points) -> dict[str, str]:
    """Return the spot feature of each column of numbers; columns of text have none."""
    taken = {"ID", _OUTLINE, *_PLACED}
    features: dict[str, str] = {}
    for name in points.table.columns:
        column = points.table[name]
        if name in ("frame", *points.axes) or column.dtype.kind not in "iufb":
            continue
        key = _TRACK_KEY if name == "track_id" else _key(str(name))
        numbered = (f"{key}_{number}" for number in count(2))
        key = next(free for free in chain([key], numbered) if free not in taken)
        taken.add(key)
        features[str(name)] = key
    return features


def _key(name: str) -> str:
    key = re.sub(r"[^A-Z0-9_]", "_", name.upper())
    return key if re.match("[A-Z_]", key) else f"_{key}"


# --- the model ---------------------------------------------------------------------------------------------------


def _model(
    points: Points, physical: np.ndarray, edges: np.ndarray, features: Mapping[str, str], radius: float
) -> Iterator[str]:
    of = points.calibration
    length = "micron" if of.unit == MICROMETRE else of.unit
    time = "frame" if of.frame_interval is None else "sec" if of.time_unit == SECOND else of.time_unit
    yield f"  <Model spatialunits={_quoted(length)} timeunits={_quoted(time)}>"
    yield from _declarations(points, features)
    times = points.frames * (of.frame_interval or 1.0)
    yield from _spots(points, physical, times, features, radius)
    yield from _tracks(points, physical, times, edges)
    yield "  </Model>"


def _declarations(points: Points, features: Mapping[str, str]) -> Iterator[str]:
    """Yield the declarations of all features of spots, edges and tracks."""
    spots = {key: (key.replace("_", " ").capitalize(), "POSITION", False) for key in _PLACED[:3]}
    spots |= {"POSITION_T": ("T", "TIME", False), "FRAME": ("Frame", "NONE", True)}
    spots |= {key: (name, dimension, False) for key, (name, dimension, _) in _GIVEN.items()}
    for name, key in features.items():
        dimension = _GIVEN[key][1] if key in _GIVEN else "NONE"
        spots[key] = (name, dimension, points.table[name].dtype.kind in "iub")
    yield "    <FeatureDeclarations>"
    for tag, declared in (("Spot", spots), ("Edge", _EDGE_FEATURES), ("Track", _TRACK_FEATURES)):
        yield f"      <{tag}Features>"
        for key, (name, dimension, is_whole) in declared.items():
            isint = "true" if is_whole else "false"
            yield (
                f'        <Feature feature="{key}" name={_quoted(name)} shortname={_quoted(name)} '
                f'dimension="{dimension}" isint="{isint}" />'
            )
        yield f"      </{tag}Features>"
    yield "    </FeatureDeclarations>"


def _spots(
    points: Points, physical: np.ndarray, times: np.ndarray, features: Mapping[str, str], radius: float
) -> Iterator[str]:
    """Yield all spots, frame by frame; the id of each is its row."""
    n = len(points)
    depth = physical[:, 0] if points.ndim == 3 else np.zeros(n)
    columns = {"POSITION_X": physical[:, -1], "POSITION_Y": physical[:, -2], "POSITION_Z": depth, "POSITION_T": times}
    texts = [_attributes(key, values) for key, values in columns.items()]
    texts += [_attributes(key, points.table[name].to_numpy(na_value=np.nan)) for name, key in features.items()]
    known = set(features.values())
    given = {key: radius if value is None else value for key, (_, _, value) in _GIVEN.items() if key not in known}
    same = "".join(f' {key}="{value}"' for key, value in given.items())
    rows = ["".join(parts) for parts in zip(*texts, strict=True)]
    yield f'    <AllSpots nspots="{n}">'
    order = np.argsort(points.frames, kind="stable")
    cuts = np.flatnonzero(np.diff(points.frames[order])) + 1
    for group in np.split(order, cuts):
        if not len(group):
            continue
        frame = points.frames[group[0]]
        yield f'      <SpotsInFrame frame="{frame}">'
        for row in group.tolist():
            yield f'        <Spot ID="{row}" name="ID{row}" FRAME="{frame}"{rows[row]}{same} />'
        yield "      </SpotsInFrame>"
    yield "    </AllSpots>"


def _attributes(key: str, values: np.ndarray) -> list[str]:
    """Return an attribute of each spot; none where the value is missing, as Java's numbers are written."""
    if values.dtype.kind == "b":
        values = values.astype(np.int64)
    java = {math.inf: "Infinity", -math.inf: "-Infinity"}
    return [f' {key}="{java.get(value, value)}"' if value == value else "" for value in values.tolist()]


def _tracks(points: Points, physical: np.ndarray, times: np.ndarray, edges: np.ndarray) -> Iterator[str]:
    """Yield TrackMate's tracks, each all that is joined by links, and their list of what is shown."""
    groups = _joined(points, edges)
    yield "    <AllTracks>"
    for number, members in enumerate(groups):
        rows = np.unique(members)
        start, stop = times[rows].min(), times[rows].max()
        yield (
            f'      <Track name="Track_{number}" TRACK_ID="{number}" TRACK_INDEX="{number}" '
            f'NUMBER_SPOTS="{len(rows)}" TRACK_START="{start}" TRACK_STOP="{stop}" TRACK_DURATION="{stop - start}">'
        )
        moved = np.sqrt(((physical[members[:, 1]] - physical[members[:, 0]]) ** 2).sum(axis=1)).tolist()
        middle = times[members].mean(axis=1).tolist()
        for (source, target), length, time in zip(members.tolist(), moved, middle, strict=True):
            yield (
                f'        <Edge SPOT_SOURCE_ID="{source}" SPOT_TARGET_ID="{target}" LINK_COST="{length * length}" '
                f'EDGE_TIME="{time}" DISPLACEMENT="{length}" />'
            )
        yield "      </Track>"
    yield "    </AllTracks>\n    <FilteredTracks>"
    yield from (f'      <TrackID TRACK_ID="{number}" />' for number in range(len(groups)))
    yield "    </FilteredTracks>"


def _joined(points: Points, edges: np.ndarray) -> list[np.ndarray]:
    """Return the edges of each TrackMate track, in the order of our ids."""
    if not isinstance(points, Tracks) or not len(edges):
        return []
    ids, track = np.unique(points.table["track_id"].to_numpy(), return_inverse=True)
    family = lineages(points.parents, ids)[track][edges[:, 0]]
    order = np.argsort(family, kind="stable")
    return np.split(edges[order], np.flatnonzero(np.diff(family[order])) + 1)


# --- the settings ------------------------------------------------------------------------------------------------


def _settings(points: Points, settings: Mapping[str, object], radius: float) -> list[str]:
    """Return the settings: the image and its size, by `image_shape` or as far as the points tell; all "by hand"."""
    of, axes, shape = points.calibration, points.axes, settings.get("image_shape")
    if isinstance(shape, Sequence) and len(shape) == len(axes):
        extent = {"z": 1} | {axis: int(length) for axis, length in zip(axes, shape, strict=True)}
    else:
        extent = {"z": 1} | {axis: _extent(points.table[axis]) for axis in axes}
    depth = max(extent["z"], 2) if points.ndim == 3 else 1
    frames = int(points.frames.max(initial=0)) + 1
    image = re.sub(r"[*?\[\]]", "", Path(str(settings.get("source", ""))).name) or "unknown.tif"
    z, y, x = of.scale
    ends = f'xend="{extent["x"] - 1}" ystart="0" yend="{extent["y"] - 1}" zstart="0" zend="{depth - 1}"'
    return [
        "  <Settings>",
        f'    <ImageData filename={_quoted(image)} folder="" width="{extent["x"]}" height="{extent["y"]}" '
        f'nslices="{depth}" nframes="{frames}" pixelwidth="{x}" pixelheight="{y}" voxeldepth="{z}" '
        f'timeinterval="{of.frame_interval or 1.0}" />',
        f'    <BasicSettings xstart="0" {ends} tstart="0" tend="{frames - 1}" />',
        f'    <DetectorSettings DETECTOR_NAME="MANUAL_DETECTOR" RADIUS="{radius}" />',
        '    <InitialSpotFilter feature="QUALITY" value="0.0" isabove="true" />',
        "    <SpotFilterCollection />",
        '    <TrackerSettings TRACKER_NAME="MANUAL_TRACKER" />',
        "    <TrackFilterCollection />",
        "    <AnalyzerCollection>\n      <SpotAnalyzers />\n      <EdgeAnalyzers />\n      <TrackAnalyzers />",
        "    </AnalyzerCollection>\n  </Settings>",
    ]


def _extent(positions: pd.Series) -> int:
    return min(max(math.ceil(positions.max()), 0) + 1, 2**31 - 1) if len(positions) else 1


def _quoted(text: str) -> str:
    return quoteattr(_NOT_XML.sub("?", text))


_DISPLAY: dict[str, Any] = {
    "name": "CurrentDisplaySettings",
    "spotUniformColor": "204, 51, 204, 255",
    "spotColorByType": "DEFAULT",
    "spotColorByFeature": "UNIFORM_COLOR",
    "spotDisplayRadius": 1.0,
    "spotDisplayedAsRoi": True,
    "spotMin": 0.0,
    "spotMax": 10.0,
    "spotShowName": False,
    "trackMin": 0.0,
    "trackMax": 10.0,
    "trackColorByType": "TRACKS",
    "trackColorByFeature": "TRACK_INDEX",
    "trackUniformColor": "204, 204, 51, 255",
    "undefinedValueColor": "0, 0, 0, 255",
    "missingValueColor": "89, 89, 89, 255",
    "highlightColor": "51, 230, 51, 255",
    "trackDisplayMode": "FULL",
    "colormap": "Jet",
    "limitZDrawingDepth": False,
    "drawingZDepth": 10.0,
    "fadeTracks": True,
    "fadeTrackRange": 30,
    "useAntialiasing": True,
    "spotVisible": True,
    "trackVisible": True,
    "font": {"name": "Arial", "style": 1, "size": 12, "pointSize": 12.0, "fontSerializedDataVersion": 1},
    "lineThickness": 1.0,
    "selectionLineThickness": 4.0,
    "trackschemeBackgroundColor1": "128, 128, 128, 255",
    "trackschemeBackgroundColor2": "192, 192, 192, 255",
    "trackschemeForegroundColor": "0, 0, 0, 255",
    "trackschemeDecorationColor": "0, 0, 0, 255",
    "trackschemeFillBox": False,
    "spotFilled": False,
    "spotTransparencyAlpha": 1.0,
}
"""TrackMate's own first settings; it reads them whole."""


# --- reading -----------------------------------------------------------------------------------------------------


def read(path: Path) -> Loaded:
    """Return the spots that TrackMate shows, with their features, and its tracks with splits and merges.

    Positions come back in voxels of the image, where its size is stated. Spots that a filter hides are left out, and so
    are links of tracks that one hides.
    """
    root, rows = parsed(path, apart=("Spot", "Edge"))
    model = root.find("Model")
    if model is None:
        raise InvalidInput(f"{path}: has no <Model>, which holds TrackMate's spots; save it in TrackMate again.")
    spots = [spot for spot in rows["Spot"].attributes if spot.get("VISIBILITY") != "0"]
    names = _our_columns(root, model)
    table = _table(spots, path)
    numbers = _spot_numbers(table, path)
    edges = _edges(model, rows["Edge"], numbers, path)
    if names is not None:
        order = np.argsort(numbers, kind="stable")
        rank = np.argsort(order)
        table, edges = table.iloc[order].reset_index(drop=True), rank[edges]
        table = table.drop(columns=[key for key in _GIVEN if key in table and key not in names])
        table = table.rename(columns=dict(names)).drop(columns=["ID"])
    stated, sizes = _stated(root, model, path)
    is_flat = bool((table["POSITION_Z"] == 0).all()) and _slices(root) == 1
    table = _placed(table, sizes, is_flat=is_flat)
    return _with_tracks(table, edges, stated, path, had_ids=names is not None and "track_id" in names.values())


def _our_columns(root: ElementTree.Element, model: ElementTree.Element) -> dict[str, str] | None:
    """Return the column of each feature in a file that we wrote; None in others."""
    if not root.findtext("Log", "").startswith(_OURS):
        return None
    declared = {
        feature.get("feature", ""): feature.get("name", "")
        for feature in model.iterfind("FeatureDeclarations/SpotFeatures/Feature")
    }
    given = {key: name for key, (name, _, _) in _GIVEN.items()}
    return {key: name for key, name in declared.items() if key not in _PLACED and given.get(key) != name}


def _table(spots: Sequence[Mapping[str, str]], path: Path) -> pd.DataFrame:
    """Return the attributes of all spots, numbers where all are."""
    if not spots:
        raise NothingInside(f"{path}: has no spots.")
    names = dict.fromkeys(name for spot in spots for name in spot if name != "name")
    missing = [key for key in ("POSITION_X", "POSITION_Y", "FRAME", "ID") if key not in names]
    if missing:
        raise InvalidInput(f"{path}: its spots have no {', '.join(missing)}.")
    table = pd.DataFrame({name: column(spots, name) for name in names})
    return table if "POSITION_Z" in table else table.assign(POSITION_Z=0.0)


def _spot_numbers(table: pd.DataFrame, path: Path) -> np.ndarray:
    numbers = table["ID"].to_numpy()
    if numbers.dtype != np.int64:
        raise InvalidInput(f"{path}: a spot has an ID that is not a whole number, or has none.")
    if len(np.unique(numbers)) < len(numbers):
        raise InvalidInput(f"{path}: two spots have the same ID; links cannot tell them apart.")
    return numbers


def _edges(model: ElementTree.Element, all_edges: Rows, numbers: np.ndarray, path: Path) -> np.ndarray:
    """Return the links of the tracks that are shown, as rows."""
    shown = model.find("FilteredTracks")
    kept = None if shown is None else {track.get("TRACK_ID") for track in shown.iterfind("TrackID")}
    pairs = zip(all_edges.attributes, all_edges.parents, strict=True)
    edges, tracks = [], []
    for edge, track in pairs:
        if kept is None or track.get("TRACK_ID") in kept:
            edges.append(edge)
            tracks.append(track)
    ends = [_rows_of(column(edges, key), numbers) for key in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID")]
    lost = np.flatnonzero((ends[0] < 0) | (ends[1] < 0))
    if len(lost):
        named = " → ".join(edges[lost[0]].get(key, "(none)") for key in ("SPOT_SOURCE_ID", "SPOT_TARGET_ID"))
        raise InvalidInput(
            f"{path}: track {tracks[lost[0]].get('TRACK_ID')} has a link {named}, and there is no such spot."
        )
    return np.column_stack(ends)


def _rows_of(wanted: np.ndarray | list[str | None], numbers: np.ndarray) -> np.ndarray:
    """Return the row of each spot number, -1 where there is none."""
    whole = isinstance(wanted, np.ndarray) and (wanted.dtype == np.int64 or not len(wanted))
    return pd.Index(numbers).get_indexer(pd.Index(wanted)) if whole else np.full(len(wanted), -1)


def _stated(root: ElementTree.Element, model: ElementTree.Element, path: Path) -> tuple[Stated, dict[str, float]]:
    """Return the units of the model, and the size of a voxel along each axis, 1 where the image does not say it."""
    image = root.find("Settings/ImageData")
    known = {} if image is None else image.attrib
    try:
        found = {key: float(known.get(key, "nan")) for key in _SIZES}
    except ValueError as error:
        raise InvalidInput(f"{path}: <ImageData> has a size that is not a number ({error}).") from error
    z, y, x, interval = (found[key] if usable(found[key]) else None for key in found)
    sizes = {"z": z or 1.0, "y": y or 1.0, "x": x or 1.0}
    unit = unit_name(model.get("spatialunits", "pixel"))
    return Stated(sizes, unit, *in_its_unit(interval, model.get("timeunits", "")), "TrackMate file"), sizes


def _slices(root: ElementTree.Element) -> int:
    """Return how many planes the image has; 1 where that is not said."""
    image = root.find("Settings/ImageData")
    text = "1" if image is None else image.get("nslices", "1")
    return int(text) if text.isdecimal() else 1


def _placed(table: pd.DataFrame, sizes: Mapping[str, float], *, is_flat: bool) -> pd.DataFrame:
    """Return the table with frames and positions in voxels in front, under our names."""
    axes = AXES[is_flat:]
    try:
        ours = {"frame": table["FRAME"]} | {axis: table[f"POSITION_{axis.upper()}"] / sizes[axis] for axis in axes}
    except TypeError as error:
        raise InvalidInput("spots need numbers as positions.") from error
    return pd.concat([pd.DataFrame(ours), table.drop(columns=list(_PLACED), errors="ignore")], axis=1)


def _with_tracks(table: pd.DataFrame, edges: np.ndarray, stated: Stated, path: Path, *, had_ids: bool) -> Loaded:
    """Return spots with the tracks that their links make; plain points where there is no link and was none."""
    if not len(edges) and not had_ids:
        return Loaded(table, stated, str(path))
    ids = table["track_id"].to_numpy() if had_ids and table["track_id"].dtype == np.int64 else None
    found, parents = tracks_of(Points(table).frames, edges, ids)
    return Loaded(table.assign(track_id=found), stated, str(path), parents)
