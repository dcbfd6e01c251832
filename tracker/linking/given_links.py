"""Links as users state them: pairs of rows, or frame and position of both ends; in memory, or in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..errors import InvalidInput, InvalidSetting
from ..formats.columns.csv import fault, read_csv
from ..links import ENDS
from ..regular_files import refuse_pipe

GivenLinks = tuple[tuple[float, ...], ...]
"""One link each: source and target row, or frame, z, y, x of both (frame, y, x in 2D)."""
PLACES = ("frame", "z", "y", "x")
_SHOWN = 200
"""Letters of the names of columns that a message shows: a file that is no table has all of a line as its columns."""


def given_links(given: Any, name: str) -> GivenLinks:
    """Return stated links as plain numbers.

    Parameters
    ----------
    given : DataFrame or array_like (k, 2), (k, 6) or (k, 8)
        See `GivenLinks`; of a DataFrame the columns `source`, `target`, or `source_frame`, `source_z`, `source_y`,
        `source_x`, `target_frame`, … (without z in 2D).
    name : str
        The setting, for messages.

    Raises
    ------
    InvalidSetting
        If it is none of these, or a number is not finite, or a row or a frame not whole.
    """
    values = _columns(given, name) if isinstance(given, pd.DataFrame) else given
    try:
        links = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise _refused(name, given) from None
    if links.size == 0:
        return ()
    if links.ndim != 2 or links.shape[1] not in (2, 6, 8) or not np.isfinite(links).all():
        raise _refused(name, given)
    width = links.shape[1]
    whole = [0, width // 2]
    if (links[:, whole] % 1).any():
        raise InvalidSetting(f"needs whole numbers as {'rows' if width == 2 else 'frames'}.", setting=name)
    return tuple(tuple(int(x) if k in whole else x for k, x in enumerate(link)) for link in links.tolist())


def read_links(path: str | Path, name: str) -> GivenLinks:
    """Return the links of a CSV file with the columns that `given_links` takes, separated as tables of points may be.

    Raises
    ------
    InvalidSetting
        If the file cannot be read, or does not hold links.
    """
    try:
        refuse_pipe(Path(path), "Save the links in one first.")
        table, _ = read_csv(Path(path), None)
    except InvalidInput as error:
        raise InvalidSetting(f"({path}) cannot be read: {error}", setting=name) from error
    except OSError as error:
        raise InvalidSetting(f"({path}) cannot be read ({error.strerror or error}).", setting=name) from error
    except (pd.errors.EmptyDataError, StopIteration):
        table = pd.DataFrame()
    except ValueError as error:  # pandas' own errors too
        raise InvalidSetting(f"({path}) needs a CSV table; it is not one ({fault(error)}).", setting=name) from error
    try:
        return given_links(table, name)
    except InvalidSetting as error:
        raise InvalidSetting(f"({path}) {error.problem}", setting=name) from None


def _columns(table: pd.DataFrame, name: str) -> np.ndarray:
    if set(ENDS) <= set(table.columns):
        return table[ENDS].to_numpy()
    for axes in (PLACES, [axis for axis in PLACES if axis != "z"]):
        wanted = [f"{end}_{axis}" for end in ENDS for axis in axes]
        if set(wanted) <= set(table.columns):
            return table[wanted].to_numpy()
    has = ", ".join(map(str, table.columns)) or "none"
    raise InvalidSetting(
        f"needs the columns source, target (rows of the points), or source_frame, source_z, source_y, source_x, "
        f"target_frame, … (places); it has {has if len(has) <= _SHOWN else has[:_SHOWN] + ' …'}.",
        setting=name,
    )


def _refused(name: str, given: Any) -> InvalidSetting:
    return InvalidSetting(
        f"needs links: pairs of rows such as [[0, 7]], or frame, z, y, x (frame, y, x in 2D) of both "
        f"ends; got {str(given)[:80]!r}.",
        setting=name,
    )
