"""GEFF, the graph exchange file format: a zarr folder of detections and links (extra `formats`)."""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...calibrating.stated import Stated, usable
from ...calibrating.units import LENGTHS, TIMES, in_its_unit, in_one_unit, micrometres_of, seconds_of, unit_name
from ...errors import InvalidInput, InvalidSetting
from ...points import AXES, Points, Tracks
from ..content import Folder, Written
from ..graph import edges_of, lineages, tracks_of
from ..loaded import Loaded
from ..sidecar import plain_json
from . import ellipsoids

_TIME = "t"
_LINEAGE, _ELLIPSOID = "lineage_id", "covariance"
# Columns about the link that leads to a detection, and the properties of edges that say the same.
_OF_LINKS = {"link_probability": "probability", "link_margin": "margin"}
_METADATA = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")
_SPACE = {1e-4: "angstrom", 1e-3: "nanometer", 1.0: "micrometer", 1e3: "millimeter", 1e4: "centimeter", 1e6: "meter"}
_SPANS = dict(zip(TIMES, ("nanosecond", "microsecond", "millisecond", "second", "minute", "hour", "day"), strict=True))
_SMALL, _MOST_PACKED = 2**28, 1000
"""Bytes of arrays that fit into any memory, and how many times fewer bytes larger ones may be packed into."""
# What zarr, pydantic and numcodecs raise, depending on where a folder is damaged.
_DAMAGE = (AttributeError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)


def _package(name: str) -> Any:
    """Return a module of the package geff.

    Raises
    ------
    InvalidSetting
        If it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise InvalidSetting(
            f"GEFF needs the package geff ({error}). Install it: pip install 'auctrack[formats]'."
        ) from error


# --- writing -----------------------------------------------------------------------------------------------------


def write(points: Points, settings: Mapping[str, object]) -> Written:
    """Return points as a GEFF: positions in voxels with the size of a voxel, columns of numbers, links, settings."""
    names = [name for name in points.table.columns if points.table[name].dtype.kind in "iufb" and name != "frame"]
    nodes = {str(name): points.table[name].to_numpy() for name in names}
    if _TIME in nodes:
        raise InvalidSetting("the column t has a name that GEFF needs for the frame; rename it.")
    covariances = None if _ELLIPSOID in nodes else ellipsoids.matrices(points.table, points.axes)
    if covariances is not None:
        nodes = {name: values for name, values in nodes.items() if name not in ellipsoids.names(points.axes)}
        nodes[_ELLIPSOID] = covariances
    nodes = {_TIME: points.frames, **nodes, **_lineage(points)}
    metadata = _package("geff_spec").GeffMetadata(
        directed=True,
        axes=_axes(points),
        node_props_metadata={},
        edge_props_metadata={},
        track_node_props=_track_properties(points),
        ellipsoid=None if covariances is None else _ELLIPSOID,
        extra={"auctrack": json.loads(plain_json(settings))},
    )
    edges = edges_of(points)
    core = _package("geff.core_io")

    def make(folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of units that it does not know, and of zarr's own
            core.write_arrays(
                str(folder),
                np.arange(len(points), dtype=np.uint64),
                {name: {"values": values, "missing": None} for name, values in nodes.items()},
                edges.astype(np.uint64),
                _edge_properties(points, edges),
                metadata,
            )

    return Written(Folder(make), points.table[["frame", *names]])


def _edge_properties(points: Points, edges: np.ndarray) -> dict[str, Any]:
    """Return how sure each edge is; missing where that is unknown, or where several edges lead to one detection."""
    target = edges[:, 1]
    is_only = _only_parent(target)
    properties: dict[str, Any] = {}
    for column in (name for name in _OF_LINKS if name in points.table):
        values = points.table[column].to_numpy(dtype=np.float64)[target]
        missing = ~is_only | np.isnan(values)
        properties[_OF_LINKS[column]] = {"values": np.where(missing, 0.0, values), "missing": missing}
    return properties


def _axes(points: Points) -> list[Any]:
    """Return the axes, each with a unit, a scale and the unit that the scale leads to."""
    axis, of = _package("geff_spec").Axis, points.calibration
    interval = 1.0 if of.frame_interval is None else of.frame_interval
    time = "frame" if of.frame_interval is None else _ngff(of.time_unit, seconds_of, _SPANS)
    length = _SPACE.get(micrometres_of(of.unit) or 0.0, of.unit)
    sizes = zip(points.axes, of.scale_for(points.ndim).tolist(), strict=True)
    return [
        axis(name=_TIME, type="time", unit="frame", scale=interval, scaled_unit=time),
        *(axis(name=name, type="space", unit="pixel", scale=size, scaled_unit=length) for name, size in sizes),
    ]


def _ngff(unit: str, size_of: Any, names: Mapping[str, str]) -> str:
    return next((name for known, name in names.items() if size_of(known) == size_of(unit)), unit)


def _lineage(points: Points) -> dict[str, np.ndarray]:
    if not isinstance(points, Tracks):
        return {}
    ids, track = np.unique(points.table["track_id"].to_numpy(), return_inverse=True)
    return {_LINEAGE: lineages(points.parents, ids)[track]}


def _track_properties(points: Points) -> dict[str, str] | None:
    """Return which properties tell tracklets and lineages; ids that stop where the graph goes on tell no tracklet."""
    if not isinstance(points, Tracks):
        return None
    ids = points.table["track_id"].to_numpy()
    longest, _ = tracks_of(points.frames, edges_of(points))
    pairs = len(np.unique(np.column_stack([ids, longest]), axis=0))
    are_tracklets = pairs == len(np.unique(ids)) == len(np.unique(longest))
    return ({"tracklet": "track_id"} if are_tracklets else {}) | {"lineage": _LINEAGE}


# --- reading -----------------------------------------------------------------------------------------------------


def read(path: Path) -> Loaded:
    """Return the nodes of a GEFF as points, and the tracks that its edges make."""
    reader = _package("geff").GeffReader
    _refuse_traps(path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            opened = reader(str(path))
            opened.read_node_props()
            opened.read_edge_props([name for name in _OF_LINKS.values() if name in opened.edge_prop_names])
            graph = opened.build()
        return _loaded(graph, path)
    except InvalidInput:
        raise
    except _DAMAGE as error:
        raise InvalidInput(f"{path}: is not GEFF, or is damaged ({str(error).partition(chr(10))[0]}).") from error


def _refuse_traps(path: Path) -> None:
    """Refuse arrays whose codec would run code of the file, and those that would fill the memory out of nothing."""
    declared = 0
    for file in (file for file in path.rglob("*") if file.name in _METADATA):
        try:
            content = json.loads(file.read_text(encoding="utf-8"))
            declared += _declared_bytes(content)
        except (AttributeError, TypeError, ValueError, RecursionError) as error:
            raise InvalidInput(f"{path}: is not GEFF, or is damaged ({file.name}: {error}).") from error
        if any("pickle" in text for text in _texts(content)):
            raise InvalidInput(f"{path}: has an array packed by pickle, which can run programs; it is not read.")
    stored = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    if declared > max(_SMALL, _MOST_PACKED * stored):
        raise InvalidInput(
            f"{path}: says that its arrays are of {declared} bytes, and holds {stored}; no tracks are packed that "
            "tightly, so it is not read."
        )


def _declared_bytes(content: Any) -> int:
    """Return the size that the metadata of an array give it, or the larger one of its chunks; 0 of a group."""
    if not isinstance(content, Mapping) or "shape" not in content:
        return 0
    grid = content.get("chunk_grid", {}).get("configuration", {}).get("chunk_shape", ())
    return 8 * max(math.prod(map(int, lengths)) for lengths in (content["shape"], content.get("chunks", ()), grid))


def _texts(content: Any) -> list[str]:
    """Return the names of codecs anywhere in metadata."""
    texts: list[str] = []
    waiting = [content]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping):
            texts += [str(part[key]) for key in ("id", "name") if key in part]
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
    return texts


def _loaded(graph: Mapping[str, Any], path: Path) -> Loaded:
    metadata, columns = graph["metadata"], {}
    for name, prop in graph["node_props"].items():
        values, missing = np.asarray(prop["values"]), prop["missing"]
        if values.ndim == 1 and values.dtype.kind in "iufb":
            columns[name] = values if missing is None or not missing.any() else np.where(missing, np.nan, values)
    time, space = _time_and_space(metadata, path)
    names = {time.name: "frame", **{axis.name: ours for axis, ours in zip(space, AXES[-len(space) :], strict=True)}}
    table = pd.DataFrame(columns)
    table = table.rename(columns={name: f"file_{name}" for name in table.columns if name in names.values()} | names)
    stated = _stated(time, space)
    properties = metadata.track_node_props or {}
    table = table.drop(columns=[_LINEAGE] if properties.get("lineage") == _LINEAGE else [])
    front = ["frame", *AXES[-len(space) :]]
    table = table[[*front, *(name for name in table.columns if name not in front)]]
    edges = _rows(graph, path)
    table = table.assign(**_covariances(graph, space), **_of_links(graph, edges, table))
    tracklet = "track_id" if "track_id" in table else properties.get("tracklet")
    if not len(edges) and tracklet not in table:
        return Loaded(table, stated, str(path))
    ids = table[tracklet].to_numpy() if tracklet in table and table[tracklet].dtype.kind in "iu" else None
    found, parents = tracks_of(Points(table).frames, edges, None if ids is None else ids.astype(np.int64))
    return Loaded(table.assign(track_id=found), stated, str(path), parents)


def _covariances(graph: Mapping[str, Any], space: list[Any]) -> dict[str, np.ndarray]:
    """Return the ellipsoids of the nodes as columns, NaN where one has none."""
    metadata, axes = graph["metadata"], AXES[-len(space) :]
    prop = graph["node_props"].get(metadata.ellipsoid)
    if prop is None or np.shape(prop["values"])[1:] != (len(axes), len(axes)):
        return {}
    stored = [axis.name for axis in metadata.axes if axis.name in {each.name for each in space}]
    order = [stored.index(axis.name) for axis in space]
    values = np.array(prop["values"], dtype=np.float64)[:, order][:, :, order]
    if prop["missing"] is not None:
        values[prop["missing"]] = np.nan
    return ellipsoids.columns(values, axes)


def _of_links(graph: Mapping[str, Any], edges: np.ndarray, table: pd.DataFrame) -> dict[str, np.ndarray]:
    """Return how sure the edge that leads to each node is, by properties of edges that no column of nodes repeats."""
    frames, columns = table["frame"].to_numpy(), {}
    later = np.where(frames[edges[:, 0]] > frames[edges[:, 1]], edges[:, 0], edges[:, 1])
    for column, name in _OF_LINKS.items():
        if name not in graph["edge_props"] or column in table:
            continue
        values, missing = np.asarray(graph["edge_props"][name]["values"]), graph["edge_props"][name]["missing"]
        if values.ndim != 1 or values.dtype.kind not in "iuf":
            continue
        known = _only_parent(later) if missing is None else _only_parent(later) & ~np.asarray(missing)
        columns[column] = np.full(len(table), np.nan)
        columns[column][later[known]] = values[known]
    return columns


def _only_parent(target: np.ndarray) -> np.ndarray:
    """Return of each edge whether no other leads to the same node."""
    return np.bincount(target)[target] == 1


def _time_and_space(metadata: Any, path: Path) -> tuple[Any, list[Any]]:
    """Return the axis of time, and those of space with x last."""
    axes = metadata.axes or []
    times = [axis for axis in axes if axis.type == "time" or (axis.type is None and axis.name == _TIME)]
    space = [axis for axis in axes if axis.type == "space" or (axis.type is None and axis.name in AXES)]
    if len(times) != 1 or len(space) not in (2, 3):
        raise InvalidInput(
            f"{path}: needs one axis of time and two or three of space in its metadata; it has "
            f"{', '.join(axis.name for axis in axes) or 'none'}."
        )
    if {axis.name for axis in space} <= set(AXES):
        space.sort(key=lambda axis: AXES.index(axis.name))
    return times[0], space


def _stated(time: Any, space: list[Any]) -> Stated:
    scales = [axis.scale if usable(axis.scale) else 1.0 for axis in space]
    sizes: dict[str, float] = dict(zip(AXES[-len(space) :], scales, strict=True))
    units = {axis: _short(of, micrometres_of, LENGTHS) for axis, of in zip(sizes, space, strict=True)}
    lengths = {*units.values()} - {""}
    sizes, unit = (sizes, unit_name(lengths.pop())) if len(lengths) == 1 else in_one_unit(sizes, units)
    span = _short(time, seconds_of, TIMES)
    return Stated(sizes, unit, *in_its_unit(time.scale if usable(time.scale) else None, span), "GEFF metadata")


def _short(axis: Any, size_of: Callable[[str], float | None], known: Sequence[str]) -> str:
    """Return our name of an axis' unit: nm for nanometer, min for minute; others as they came, "" for none."""
    unit = str(axis.scaled_unit or axis.unit or "")
    size = size_of(unit)
    return unit if size is None else next(name for name in known if size_of(name) == size)


def _rows(graph: Mapping[str, Any], path: Path) -> np.ndarray:
    """Return the edges as rows of the nodes."""
    ids, edges = np.asarray(graph["node_ids"]), np.asarray(graph["edge_ids"]).reshape(-1, 2)
    order = np.argsort(ids, kind="stable")
    if len(edges) and not np.isin(edges, ids).all():
        raise InvalidInput(f"{path}: an edge names a node that is not there.")
    return order[np.searchsorted(ids[order], edges)].astype(np.int64).reshape(-1, 2)
