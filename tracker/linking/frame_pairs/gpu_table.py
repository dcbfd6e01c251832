"""Tables that lie on a GPU (CuPy arrays by name, cuDF): in first order linked there; the track numbers go there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_extension_array_dtype

from ....matching.device import cuda
from ....matching.device.arrays import all_true, any_true
from ...calibrating.calibration import Calibration
from ...calibrating.stated import three_sizes
from ...errors import InvalidInput
from ...points import AXES, Points
from ...stepwise import finished
from ...timeline import Timeline
from ..gate.gpu_movie import DeviceTable
from ..gate.spacing import automatic_range
from ..motion.models.features import columns_of
from ..settings import LinkSettings
from ..unmatched_cost.measured import ENOUGH
from .first_order import unmatched_cost_of
from .gpu_frame_pairs import linked_on_device
from .pair_links import PairLinks


def is_on_gpu(table: Any) -> bool:
    """Whether a table's column of frames is an array on a GPU, of whatever library."""
    if isinstance(table, (pd.DataFrame, Points)) or not hasattr(table, "__getitem__"):
        return False
    try:
        return hasattr(table["frame"], "__cuda_array_interface__")
    except (KeyError, TypeError, IndexError):
        return False


def track_ids_on_gpu(
    table: Any, settings: LinkSettings, scale: Sequence[float] | None, frame_step: int | None
) -> Any | None:
    """Return the track of each row, int64 (n,), on the GPU; None where the table is to be linked by its copy.

    Parameters
    ----------
    table : mapping of str to array
        Columns frame, y, x (and z when 3D), anything with `__cuda_array_interface__`.
    settings : LinkSettings
        In first order the table is linked where it lies, unless particles are too dense for a GPU to look for links.
        What is "auto" is measured on the first frames, which are copied to the host.
    scale, frame_step
        See `link.link`.

    Raises
    ------
    InvalidInput
        If a column is missing, not of numbers or not as long as the others, or a position is NaN or infinite.
    """
    needs_the_host = (
        *(settings.is_learned, settings.linking != "auctrack", settings.solver not in ("auto", "auction")),
        *(settings.pinned, settings.forbidden, settings.predict, settings.extra_cost, settings.device == "cpu"),
    )
    if any(needs_the_host):
        return None
    with cuda.device_of(cuda.cupy().asarray(table["frame"])), cuda.using() as cp:
        return _track_ids(cp, _columns(cp, table, scale, frame_step), settings)


def copied(table: Any, settings: LinkSettings, scale: Sequence[float] | None, frame_step: int | None) -> Points:
    """Return the points of a table on a GPU, copied to the host.

    Raises
    ------
    InvalidInput
        See `track_ids_on_gpu`.
    """
    with cuda.device_of(cuda.cupy().asarray(table["frame"])), cuda.using() as cp:
        points = _on_host(_columns(cp, table, scale, frame_step))
        features = {
            name: cuda.to_host(cp.asarray(table[name])) for name in columns_of(settings.features) if name in table
        }
    return replace(points, table=points.table.assign(**features))


def with_columns(table: Any, columns: Mapping[str, Any]) -> Any:
    """Return a table on a GPU with further columns there, NaN where they miss a number; a mapping as a dict."""
    cp = cuda.cupy()
    with cuda.device_of(cp.asarray(table["frame"])):
        added = {
            name: cp.asarray(column.to_numpy(float, na_value=np.nan) if is_extension_array_dtype(column) else column)
            for name, column in columns.items()
        }
    return table.assign(**added) if hasattr(table, "assign") else {**table, **added}


def _track_ids(cp: Any, columns: DeviceTable, settings: LinkSettings) -> Any | None:
    """Link the rows of checked columns; None where particles are too dense for it."""
    if len(columns) == 0:
        return cp.empty(0, np.int64)
    first = _first_frames(cp, columns)
    search_range = automatic_range(first) if settings.search_range == "auto" else float(settings.search_range)
    unmatched_cost = unmatched_cost_of(first, settings, search_range)
    longest = min(search_range, unmatched_cost.longest)
    linked = finished(linked_on_device(cp, columns, settings, unmatched_cost, longest, PairLinks(settings)))
    return None if linked is None else linked.track_ids(cp)


def _columns(cp: Any, table: Any, scale: Sequence[float] | None, frame_step: int | None) -> DeviceTable:
    """Return the checked columns of a table on the current device."""
    names = [name for name in ("frame", *AXES) if name in table]
    missing = [name for name in ("frame", "y", "x") if name not in names]
    if missing:
        raise InvalidInput(f"a table on a GPU needs the columns frame, y, x (and z when 3D); missing {missing}.")
    arrays = {name: cp.asarray(table[name]) for name in names}
    frame = arrays.pop("frame")
    for name, array in {"frame": frame, **arrays}.items():
        if array.dtype.kind not in "iuf" or array.shape != (len(frame),):
            raise InvalidInput(
                f"column '{name}' needs {len(frame)} numbers, as many as 'frame' has; got {array.dtype} {array.shape}."
            )
        if array.dtype.kind == "f" and not all_true(cp.isfinite(array)):
            raise InvalidInput(f"column '{name}' needs finite numbers; some are not. Remove those rows.")
    whole = frame.astype(np.int64)
    if any_true(whole != frame):
        raise InvalidInput("column 'frame' needs whole numbers; some are not.")
    step = Timeline(1 if frame_step is None else frame_step).step
    if len(whole) and any_true((whole - whole.min()) % step != 0):
        raise InvalidInput(f"frame_step {step} needs every frame to be a multiple of it away from the first.")
    axes = tuple(cp.ascontiguousarray(array.astype(np.float64, copy=False)) for array in arrays.values())
    sizes = np.ones(3) if scale is None else np.asarray(three_sizes(scale, len(axes)))
    return DeviceTable(whole, axes, sizes[3 - len(axes) :], step)


def _first_frames(cp: Any, columns: DeviceTable) -> Points:
    """Return the first frames on the host: as many as range and unmatched cost of all are measured on."""
    numbers, sizes = map(cuda.to_host, cp.unique(columns.frame, return_counts=True))
    follows = np.append(np.diff(numbers) == columns.frame_step, False)
    enough = np.flatnonzero((np.cumsum(sizes * follows) >= ENOUGH) & (np.cumsum(sizes * (sizes > 1)) >= ENOUGH))
    last = numbers[min(enough[0] + 1, len(numbers) - 1)] if len(enough) else numbers[-1]
    return _on_host(columns, cp.flatnonzero(columns.frame <= last))


def _on_host(columns: DeviceTable, rows: Any = slice(None)) -> Points:
    """Return rows of checked columns as points on the host."""
    names = ("frame", *AXES[3 - len(columns.axes) :])
    held = dict(zip(names, (cuda.to_host(column[rows]) for column in (columns.frame, *columns.axes)), strict=True))
    sizes_zyx = three_sizes(columns.scale.tolist(), len(columns.axes))
    return Points(pd.DataFrame(held), Calibration(sizes_zyx), timeline=Timeline(columns.frame_step))
