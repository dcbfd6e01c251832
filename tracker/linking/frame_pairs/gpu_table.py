"""Tables that lie on a GPU (CuPy arrays by name, cuDF): linked there, the track numbers stay there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....matching.device import cuda
from ...calibrating.calibration import Calibration
from ...calibrating.stated import three_sizes
from ...errors import InvalidInput, InvalidSetting
from ...points import AXES, Points
from ...stepwise import finished
from ...timeline import Timeline
from ..gate.gpu_movie import DeviceTable
from ..gate.spacing import automatic_range
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


def link_table_on_gpu(
    table: Any, settings: LinkSettings, scale: Sequence[float] | None, frame_step: int | None, track_column: str
) -> Any:
    """Return the table with the track of each row, int64 (n,), in another column; first order only.

    Parameters
    ----------
    table : mapping of str to array
        Columns frame, y, x (and z when 3D), anything with `__cuda_array_interface__`.
    settings : LinkSettings
        With motion "none". What is "auto" is measured on the first frames, which are copied to the host.
    scale, frame_step, track_column
        See `link.link`.

    Returns
    -------
    what `table.assign` gives, or a dict

    Raises
    ------
    InvalidInput
        If a column is missing, not of numbers or not as long as the others, or a position is NaN or infinite; or if
        particles are too dense for links to be looked for on a GPU.
    InvalidSetting
        If settings ask for what is done on the host.
    """
    _refuse_what_needs_the_host(settings)
    held = cuda.cupy().asarray(table["frame"])
    with cuda.device_of(held), cuda.using() as cp:
        ids = _track_ids(cp, _columns(cp, table, scale, frame_step), settings)
        return table.assign(**{track_column: ids}) if hasattr(table, "assign") else {**table, track_column: ids}


def _track_ids(cp: Any, columns: DeviceTable, settings: LinkSettings) -> Any:
    """Link the rows of checked columns."""
    if len(columns) == 0:
        return cp.empty(0, np.int64)
    first = _first_frames(cp, columns)
    search_range = automatic_range(first) if settings.search_range == "auto" else float(settings.search_range)
    unmatched_cost = unmatched_cost_of(first, settings, search_range)
    longest = min(search_range, unmatched_cost.longest)
    linked = finished(linked_on_device(cp, columns, settings, unmatched_cost, longest, PairLinks(settings)))
    if linked is None:
        raise InvalidInput(
            "this table cannot be linked on a GPU: too many particles are within the search range of each other, or "
            "its frames do not follow each other. Copy it to the host (table.get(), .to_pandas()) and link it there."
        )
    return linked.track_ids(cp)


def _refuse_what_needs_the_host(settings: LinkSettings) -> None:
    asked = {
        "motion='none'": settings.is_learned or settings.linking != "auctrack",
        "solver='auto' or 'auction'": settings.solver not in ("auto", "auction"),
        "no pinned and no forbidden links": bool(settings.pinned or settings.forbidden),
        "no predict and no extra_cost": settings.predict is not None or settings.extra_cost is not None,
        "device='auto' or 'cuda'": settings.device == "cpu",
    }
    for needed in (needed for needed, lacks in asked.items() if lacks):
        raise InvalidSetting(f"a table on a GPU is linked there with {needed} only; give that, or copy it to the host.")


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
        if array.dtype.kind == "f" and not bool(cp.isfinite(array).all()):
            raise InvalidInput(f"column '{name}' needs finite numbers; some are not. Remove those rows.")
    whole = frame.astype(np.int64)
    if bool((whole != frame).any()):
        raise InvalidInput("column 'frame' needs whole numbers; some are not.")
    step = Timeline(1 if frame_step is None else frame_step).step
    if len(whole) and bool(((whole - whole.min()) % step).any()):
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
    rows = cp.flatnonzero(columns.frame <= last)
    names = ("frame", *AXES[3 - len(columns.axes) :])
    held = dict(zip(names, (cuda.to_host(column[rows]) for column in (columns.frame, *columns.axes)), strict=True))
    sizes_zyx = three_sizes(columns.scale.tolist(), len(columns.axes))
    return Points(pd.DataFrame(held), Calibration(sizes_zyx), timeline=Timeline(columns.frame_step))
