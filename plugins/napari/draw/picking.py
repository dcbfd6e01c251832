"""Which link is under a click."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ....tracker.editing.change import Link
from ....tracker.points import AXES, Tracks
from .drawing import with_axes

_SAME = 0.1  # of a ring's radius: particles seen so near to each other are one behind the other


@dataclass(frozen=True)
class Click:
    """A click beside all particles.

    Attributes
    ----------
    position : float64 (viewer's axes,)
        In the world.
    view_direction : float64 (viewer's axes,) or None
        None in 2D.
    displayed : sequence of int
        The viewer's axes that are displayed.
    """

    position: Any
    view_direction: Any
    displayed: Sequence[int]


def particle_under(click: Click, layer: Any) -> int | None:
    """Return the row of the particle of a Points layer that is under a click, None where there is none.

    Where rings overlap that is the one whose middle is seen nearest to it, of those behind each other the foremost, in
    2D the one nearest to the plane shown; napari would give the one drawn last, or in 3D the foremost.
    """
    value = layer.get_value(
        click.position, view_direction=click.view_direction, dims_displayed=[*click.displayed], world=True
    )
    if value is None:
        return None
    rows = np.asarray(layer._view_indices)  # noqa: SLF001 - napari offers no other way to what it shows
    away = _in_world(layer, layer.data[rows]) - np.asarray(click.position, dtype=np.float64)[-layer.ndim :]
    shown = [axis - len(click.position) for axis in click.displayed]
    radius = layer.size[rows] / 2 * layer.scale[-1]
    if click.view_direction is None:
        depth, across = np.linalg.norm(away[:, 1:], axis=1), np.linalg.norm(away[:, shown], axis=1)
        is_under = np.abs(away[:, shown]).max(axis=1) <= radius
    else:
        sight = np.asarray(click.view_direction, dtype=np.float64)[list(click.displayed)]
        depth = away[:, shown] @ sight
        across = np.linalg.norm(away[:, shown] - np.outer(depth, sight), axis=1)
        is_under = across <= radius
    order = np.lexsort((depth, np.rint(across / radius / _SAME)))
    is_under |= rows == value
    return int(rows[order[is_under[order]][0]])


def drawn_links(
    tracks: Tracks, links: pd.DataFrame, frame: int, tail: int, layer: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Return which links end in the frames of a tail, int64 (k,), and their ends in the steps of a layer (k, 2, d)."""
    table = with_axes(tracks, layer.ndim).table
    target = table["frame"].to_numpy()[links["target"].to_numpy()]
    rows = np.flatnonzero((target <= frame) & (target > frame - tail))
    ends = links[["source", "target"]].to_numpy()[rows]
    columns = ["frame", *(axis for axis in AXES if axis in table)]
    return rows, table[columns].to_numpy(dtype=np.float64)[ends]


def link_under(click: Click, links: pd.DataFrame, ends: np.ndarray, layer: Any, reach: float) -> Link | None:
    """Return the link that is seen nearest to a click, at most `reach` away in the world; None where there is none.

    `ends` are those of `links` in the steps of the layer, float64 (k, 2, d).
    """
    if not len(ends):
        return None
    shift = len(click.position) - layer.ndim
    shown = [axis - shift for axis in click.displayed]
    lines = _in_world(layer, ends)[..., shown]
    place = np.asarray(click.position, dtype=np.float64)[list(click.displayed)]
    if click.view_direction is not None:
        across = np.linalg.svd(np.asarray(click.view_direction)[None, list(click.displayed)])[2][1:]
        lines, place = lines @ across.T, across @ place
    away = _distances(lines, place)
    nearest = int(np.argmin(away))
    if away[nearest] > reach:
        return None
    return int(links["source"].iloc[nearest]), int(links["target"].iloc[nearest])


def _in_world(layer: Any, positions: np.ndarray) -> np.ndarray:
    """Return positions (…, d) in a layer's steps as positions in the world."""
    origin = np.asarray(layer.data_to_world(np.zeros(layer.ndim)))
    steps = np.array([np.asarray(layer.data_to_world(unit)) - origin for unit in np.eye(layer.ndim)])
    return origin + positions @ steps


def _distances(lines: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Return how far lines (k, 2, d) pass from a place (d,), float64 (k,)."""
    start, along = lines[:, 0], lines[:, 1] - lines[:, 0]
    length = np.maximum((along**2).sum(axis=1), np.finfo(np.float64).tiny)
    part = np.clip(((place - start) * along).sum(axis=1) / length, 0, 1)
    return np.linalg.norm(start + part[:, None] * along - place, axis=1)
