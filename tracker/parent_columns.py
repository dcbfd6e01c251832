"""Who descends from whom, as columns of a table of tracks: every row of a child names the tracks that it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

PARENT = "parent_track_id"
"""The column, laptrack's name; a second parent, where tracks merge, stands in `parent_track_id_2`, and so on."""
_OF_OTHERS = "parent_id"
"""The column of Cell Tracking Challenge tables and of btrack's, as it is read."""
PARENT_COLUMNS = (PARENT, f"{PARENT}_2", _OF_OTHERS)
"""Columns of parents that are met, in the order in which they are taken."""
_OURS = re.compile(rf"{PARENT}(_[1-9]\d*)?")


def parent_columns(track_ids: np.ndarray, parents: Mapping[int, Sequence[int]]) -> dict[str, pd.Series]:
    """Return the parents of each row, whole numbers that may be missing; one column at least.

    Parameters
    ----------
    track_ids : int64 (n,)
        Track of each row.
    parents : mapping of int to sequence of int
        `{child track: [parent tracks]}`.

    Returns
    -------
    dict of str to Series
        Of type Int64, index 0 to n - 1.
    """
    children = np.array(sorted(child for child, of in parents.items() if of), np.int64)
    place = np.searchsorted(children, track_ids)
    is_child = np.isin(track_ids, children)
    columns: dict[str, pd.Series] = {}
    for number in range(max(map(len, parents.values()), default=1) or 1):
        has = np.array([len(parents[child]) > number for child in children.tolist()], bool)
        of = np.array([parents[child][number] if len(parents[child]) > number else 0 for child in children.tolist()])
        values, is_missing = np.zeros(len(track_ids), np.int64), ~is_child
        values[is_child], is_missing[is_child] = of[place[is_child]], ~has[place[is_child]]
        columns[PARENT if number == 0 else f"{PARENT}_{number + 1}"] = pd.Series(
            pd.arrays.IntegerArray(values, is_missing)
        )
    return columns


def without_parents(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table without our columns of parents: those of tracks that are renumbered, or stand beside it."""
    names = _names(table)
    return table.drop(columns=names) if names else table


def parents_in(table: pd.DataFrame) -> dict[int, list[int]]:
    """Return the lineage that columns of a table of tracks give, as far as the parents are in it.

    Ours go before a column `parent_id`. An id below 0 is none: a point without a track descends from none.
    """
    is_linked = table["track_id"] >= 0
    known = table.loc[is_linked, "track_id"].unique()
    parents: dict[int, list[int]] = {}
    for name in _names(table) or [name for name in (_OF_OTHERS,) if name in table.columns]:
        born = table.loc[is_linked & table[name].isin(known), ["track_id", name]].drop_duplicates()
        for child, parent in born.to_numpy(dtype=np.int64).tolist():
            parents.setdefault(child, []).append(parent)
    return parents


def has_parents(table: pd.DataFrame) -> bool:
    """Whether a table has our columns of parents."""
    return bool(_names(table))


def _names(table: pd.DataFrame) -> list[str]:
    return [name for name in table.columns if _OURS.fullmatch(str(name))]
