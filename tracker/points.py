"""Points in frames, and tracks: a table and its calibration, always together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import pandas as pd

from .calibrating.calibration import Calibration
from .calibrating.digits import counted
from .calibrating.lengths import LONGEST
from .calibrating.stated import AXES
from .errors import Column, InvalidInput, InvalidSetting, InvalidTable, Row
from .other_tables import what_came
from .ranges import frames_of, roi_of
from .timeline import Timeline
from .track_frames import comes_twice

_TOO_LARGE = 2.0**63  # for the number of a frame or a track
_COUNTED = "frame", "track_id"


@dataclass(frozen=True, eq=False)  # `==` of two tables is a table, not an answer
class Points:
    """Detected particles.

    Parameters
    ----------
    table : DataFrame
        One row a particle: integer `frame`, float `y`, `x` (and `z` when 3D), then any feature columns.
        Coordinates are in the file's own steps; times `calibration.scale` they are physical.
    calibration : Calibration
    timeline : Timeline
        The frames that were looked at, whether or not they hold points, and the step between them. Left out: every
        frame.

    Raises
    ------
    InvalidInput
        If a column is missing or comes twice, is not numeric, or a position is NaN or infinite. The message names the
        column and the first row that offends. Also if the frames do not keep to the step of the timeline.
    """

    table: pd.DataFrame
    calibration: Calibration = field(default_factory=Calibration)
    timeline: Timeline = field(default_factory=Timeline, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", _checked(self.table))
        if not isinstance(self.calibration, Calibration):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidInput(
                'calibration needs a Calibration, such as auctrack.Calibration((2, 0.5, 0.5), "µm"); '
                f"got {type(self.calibration).__name__}."
            )
        _require_step(self.frames, self.timeline.step)

    def __repr__(self) -> str:
        """Return the counts, and where the rest is: the table itself would fill the screen."""
        return f"<Points: {self._in_words()}; see .table, .calibration>"

    def _in_words(self) -> str:
        among = f"{len(self)} in {counted(len(self.frame_numbers), 'frame')}"
        return f"{among} along {', '.join(self.axes)}, {self.calibration.in_words(self.ndim)}"

    def __len__(self) -> int:
        return len(self.table)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the spatial columns: ("z", "y", "x") or ("y", "x")."""
        return AXES if "z" in self.table.columns else AXES[1:]

    @property
    def ndim(self) -> int:
        """Number of spatial axes, 2 or 3."""
        return len(self.axes)

    @property
    def frames(self) -> np.ndarray:
        """Frame number of every row, int64 (n,)."""
        return self.table["frame"].to_numpy()

    @property
    def positions(self) -> np.ndarray:
        """Physical positions, float64 (n, ndim), in `calibration.unit`, C-contiguous.

        Raises `InvalidInput` where one is so far away that squares of distances would not be numbers.
        """
        return self.positions_of(slice(None))

    def positions_of(self, rows: slice | np.ndarray) -> np.ndarray:
        """Return the physical positions of some rows of the table; as `positions`."""
        columns = [column[rows] for column in self._columns]
        physical = np.empty((len(columns[0]), self.ndim))
        for k, (column, step) in enumerate(zip(columns, self._scale, strict=True)):
            np.multiply(column, step, out=physical[:, k])
        if max(physical.max(initial=0.0), -physical.min(initial=0.0)) >= LONGEST:
            self.refuse_far_away()
        return physical

    def refuse_far_away(self, rows: pd.Index | None = None) -> None:
        """Refuse positions so far away that squares of distances would not be numbers, by the first row that has one.

        `rows` are what the rows are called, where it is not by their order.

        Raises
        ------
        InvalidTable
        """
        for axis, column, step in zip(self.axes, self._columns, self._scale, strict=True):
            if max(column.max(initial=0.0), -column.min(initial=0.0)) * step >= LONGEST:
                far = np.abs(column) * step
                row = int((far >= LONGEST).argmax())
                raise InvalidTable(
                    f"positions need to be nearer than {LONGEST:g} {self.calibration.unit}; ",
                    Row(row if rows is None else int(rows[row])),
                    f" is {far[row]:g} away (",
                    Column(axis),
                    "). Remove it, or check the voxel size.",
                )

    @cached_property
    def _columns(self) -> list[np.ndarray]:
        """The table's coordinates; pandas takes longer to look up a column than a small frame to be gated."""
        return [self.table[axis].to_numpy() for axis in self.axes]

    @cached_property
    def _scale(self) -> list[float]:
        return self.calibration.scale_for(self.ndim).tolist()

    @property
    def frame_numbers(self) -> np.ndarray:
        """The frame numbers that have points, ascending, int64."""
        return self._counted_frames[0]

    @property
    def frame_sizes(self) -> np.ndarray:
        """How many points each of `frame_numbers` has, int64."""
        return self._counted_frames[1]

    @cached_property
    def _counted_frames(self) -> tuple[np.ndarray, np.ndarray]:
        firsts = self._first_rows
        if firsts is None:
            return np.unique(self.frames, return_counts=True)
        return self.frames[firsts], np.diff(firsts, append=len(self))

    @cached_property
    def _first_rows(self) -> np.ndarray | None:
        """Rows at which frames begin, int64 (frames,); None where the table is not in the order of time."""
        frames = self.frames
        if (frames[1:] < frames[:-1]).any():
            return None
        return np.flatnonzero(np.append(np.ones(min(len(frames), 1), bool), frames[1:] != frames[:-1]))

    @property
    def frame_step(self) -> int:
        """Difference between the numbers of two consecutive frames, as the timeline has it; never guessed."""
        return self.timeline.step

    @property
    def unstated_stride(self) -> int | None:
        """The common divisor of the differences of frame numbers of a table in which no two are `frame_step` apart.

        None where some are, where no step longer than `frame_step` meets every frame, and for a movie, whose frames
        are known. Nothing is linked over it unless it is stated.
        """
        gaps = np.diff(self.frame_numbers)
        if self.timeline.numbers is not None or len(gaps) == 0 or (gaps == self.frame_step).any():
            return None
        divisor = int(np.gcd.reduce(gaps))
        return divisor if divisor > self.frame_step else None

    def cut(self, frames: slice | str | None = None, roi: Sequence[slice] | str | None = None) -> Self:
        """Return the points inside a range of frame numbers and a box.

        Parameters
        ----------
        frames : slice or str, optional
            Frame numbers, as a slice or as in a setting ("0:20"); a step counts from `start`, or from the first frame
            number.
        roi : sequence of slice, or str, optional
            Box in the table's coordinates, one slice along z, y, x (or y, x): from ≤ position < to; or "0:10,:,4:9".

        Raises
        ------
        InvalidSetting
            If `frames` or `roi` is no such range, `roi` does not have one an axis, or there are points, and none in
            `frames`.
        """
        frames = None if frames is None else frames_of(frames)
        roi = None if roi is None else roi_of(roi)
        keep, timeline = np.ones(len(self), dtype=bool), self.timeline
        if frames is not None and len(self):
            begin = self.timeline.numbers[0] if self.timeline.numbers else int(self.frames.min())
            first = begin if frames.start is None else frames.start
            last = int(self.frames.max()) + 1 if frames.stop is None else frames.stop
            wanted = range(first, last, frames.step or 1)
            timeline = timeline.cut(wanted, wanted.step)
            keep &= np.isin(self.frames, [number for number in self.frame_numbers.tolist() if number in wanted])
            if not keep.any():
                raise InvalidSetting(
                    f"selects none of the table's frames, which are {self.frame_numbers[0]} to "
                    f"{self.frame_numbers[-1]}.",
                    setting="frames",
                )
        if roi is not None:
            if len(roi) != self.ndim:
                raise InvalidSetting(
                    f"needs {self.ndim} ranges ({', '.join(self.axes)}); got {len(roi)}.", setting="roi"
                )
            for axis, part in zip(self.axes, roi, strict=True):
                low = -np.inf if part.start is None else part.start
                high = np.inf if part.stop is None else part.stop
                keep &= self.table[axis].between(low, high, inclusive="left").to_numpy()
        if keep.all() and timeline == self.timeline:
            return self
        return replace(self.only(keep), timeline=timeline)

    def only(self, rows: np.ndarray) -> Self:
        """Return some rows, bool (n,).

        Raises
        ------
        InvalidInput
            If `rows` does not say of each row whether it is wanted.
        """
        return replace(self, table=self.table[self._checked_rows(rows, "points.table.intensity > 50")])

    def _checked_rows(self, rows: np.ndarray, example: str) -> np.ndarray:
        wanted = np.asarray(rows)
        if wanted.dtype != bool or wanted.shape != (len(self),):
            raise InvalidInput(
                f"rows needs True or False for each of the {len(self)} rows, such as {example}; got {wanted.dtype} "
                f"values of shape {wanted.shape}."
            )
        return wanted

    def with_track_ids(self, track_id: np.ndarray, **columns: np.ndarray) -> Tracks:
        """Return the same points as tracks, `track_id` int64 (n,), with further columns, none of them a position.

        The arrays become part of the table, and what was checked is not looked at again: of ten million rows either
        takes as long as linking them on a GPU.

        Raises
        ------
        InvalidInput
            If a column is not as long as the table, or is one of frames or positions.
        """
        added = {"track_id": track_id, **columns}
        for name, values in added.items():
            if len(values) != len(self) or name in ("frame", *self.axes):
                raise InvalidInput(
                    f"columns to add need {len(self)} values, one per point, and must not be named frame, "
                    f"{', '.join(self.axes)}; got {len(values)} for {name!r}."
                )
        series = {name: pd.Series(values, self.table.index, copy=False) for name, values in added.items()}
        tracks = object.__new__(Tracks)
        vars(tracks).update(vars(self), table=self.table.assign(**series), parents={})
        return tracks

    def rows_by_frame(self) -> Iterator[tuple[int, slice | np.ndarray]]:
        """Yield (frame number, rows of the table) in the order of time; slices where the table is in that order."""
        numbers, cuts, order = self.by_frame()
        for number, (a, b) in zip(numbers.tolist(), pairwise(cuts.tolist()), strict=True):
            yield number, slice(a, b) if order is None else order[a:b]

    def by_frame(self) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return frame numbers, where each one's rows begin in the order of time, and that order; None: the table's."""
        numbers, sizes = self._counted_frames
        cuts = np.append(0, np.cumsum(sizes))
        if self._first_rows is not None:
            return numbers, cuts, None
        span = np.min_scalar_type(int(numbers[-1]) - int(numbers[0]))  # two bytes are sorted in a tenth of the time
        return numbers, cuts, np.argsort((self.frames - numbers[0]).astype(span), kind="stable")


@dataclass(frozen=True, eq=False)
class Tracks(Points):
    """Points that carry a `track_id`, and who descends from whom.

    Parameters
    ----------
    table : DataFrame
        As in `Points`, with a column `track_id` of whole numbers (of any type; in `table` they are int64), negative
        where a point belongs to no track. A track has at most one row in each frame.
    calibration : Calibration
    timeline : Timeline
    parents : mapping of int to sequence of int
        `{child track: [parent tracks]}`, as in napari's `graph`; empty when nothing divides or merges.
    drift : DataFrame, optional
        What `subtract_drift` took off these tracks, as `measure_drift` measured it on them. Mean squared displacements
        and other measures allow for what they lost by chance with it.

    Raises
    ------
    InvalidInput
        As of `Points`; also if ids are not whole numbers, or a track is twice in a frame.
    """

    parents: Mapping[int, Sequence[int]] = field(default_factory=dict)
    drift: pd.DataFrame | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if "track_id" not in self.table.columns:
            raise InvalidInput(
                "table needs a column 'track_id' to be read as tracks; link the points first (auctrack.link)."
            )
        object.__setattr__(self, "table", _with_whole_ids(self.table))
        _refuse_two_in_a_frame(self.table)

    def __repr__(self) -> str:
        """Return the counts, and where the rest is."""
        ids = self.table["track_id"]
        return f"<Tracks: {ids[ids >= 0].nunique()} of points: {self._in_words()}; see .table, .calibration, .parents>"

    def only(self, rows: np.ndarray) -> Self:
        """Return some rows, bool (n,), and the lineage among their tracks; raises as `Points.only`."""
        table = self.table[self._checked_rows(rows, "tracks.table.track_id.isin([3, 4])")]
        kept = set(table["track_id"].unique().tolist())
        parents = {child: [one for one in of if one in kept] for child, of in self.parents.items() if child in kept}
        return replace(self, table=table, parents={child: of for child, of in parents.items() if of})


def require(kind: type[Points], given: object, argument: str = "") -> None:
    """Refuse what is not `Points` or `Tracks`, most of all the table that `auctrack.link` returns.

    `argument` is what it was given for, where that is not called as the kind is.

    Raises
    ------
    InvalidInput
    """
    if not isinstance(given, kind):
        name, own = kind.__name__, kind.__name__.lower()
        holds = isinstance(getattr(given, "tracks", None), kind)
        where = "Give its .tracks" if holds else f"auctrack.read_{own} makes them of a table or a file"
        raise InvalidInput(f"{argument or own} needs {name}; got {type(given).__name__}. {where}.")


def _require_step(frames: np.ndarray, step: int) -> None:
    """Refuse frames between those that a step leaves."""
    if step == 1 or len(frames) == 0:
        return
    first = int(frames.min())
    astray = np.flatnonzero((frames - first) % step)
    if len(astray):
        raise InvalidTable(
            f"a frame step of {step} needs every frame to be a multiple of it away from the first, {first}; ",
            Row(int(astray[0])),
            f" is in frame {frames[astray[0]]}. Give a step that meets all frames, or remove those rows.",
        )


def _checked(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an int64 `frame` and float64 positions, or say what is wrong with it."""
    if not isinstance(table, pd.DataFrame):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInput(
            f"table needs a DataFrame of pandas with the columns frame, y, x (and z); {what_came(table)}"
        )
    missing = [name for name in ("frame", "y", "x") if name not in table.columns]
    if missing:
        raise InvalidInput(
            f"table needs the columns frame, y, x (and z when 3D); missing {', '.join(missing)}; "
            f"it has {', '.join(map(str, table.columns)) or 'none'}."
        )
    names = ("frame", *(name for name in AXES if name in table.columns))
    _refuse_several(table, *names)
    checked = {name: _values(table[name], name) for name in names}
    _refuse_rows_without_a_place(table, checked)
    checked["frame"] = _whole(table, "frame", checked["frame"])
    unchanged = all(table[name].dtype == values.dtype for name, values in checked.items())
    return table if unchanged else table.assign(**checked)


def _refuse_several(table: pd.DataFrame, *names: str) -> None:
    twice = [name for name in names if list(table.columns).count(name) > 1]
    if twice:
        raise InvalidTable("table needs one ", Column(twice[0]), "; it has several. Rename or drop the others.")


def _with_whole_ids(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with an int64 `track_id`, or say what is wrong with it."""
    _refuse_several(table, "track_id")
    ids = _whole(table, "track_id", _values(table["track_id"], "track_id"))
    return table if table["track_id"].dtype == ids.dtype else table.assign(track_id=ids)


def _refuse_two_in_a_frame(table: pd.DataFrame) -> None:
    """Refuse a track that has two rows in one frame."""
    track = table["track_id"].to_numpy()
    if not comes_twice(track, table["frame"].to_numpy()):
        return
    named = np.flatnonzero(track >= 0)
    again = named[table.iloc[named].duplicated(["track_id", "frame"]).to_numpy()]
    raise InvalidTable(
        f"track {track[again[0]]} has two points in frame {table['frame'].iloc[again[0]]} (",
        Row(int(again[0])),
        f"; {len(again)} in all). A track has one point a frame: repair the ids, or read the table as points.",
    )


def _values(column: pd.Series, name: str) -> np.ndarray:
    """Return one column as float64 (whole frames and ids as int64), NaN where there is no number."""
    if column.dtype == np.float64 or (column.dtype == np.int64 and name in _COUNTED):
        return column.to_numpy()
    numbers = _numbers(column, name)
    if name in _COUNTED and numbers.dtype.kind in "iu" and not numbers.hasnans and numbers.max() < 2**63:
        return numbers.to_numpy(dtype=np.int64)
    return numbers.to_numpy(dtype=np.float64, na_value=np.nan)


_DATE = re.compile(r"\d{1,4}[-/]\d{1,2}[-/]\d{1,4}|\d{1,2}:\d{2}")
"""What a date or a time of day has, and a number has not."""


def _refuse_rows_without_a_place(table: pd.DataFrame, columns: Mapping[str, np.ndarray]) -> None:
    """Refuse NaN, infinities and what is too large: the first row that has any, and in how many rows they are."""
    if all(
        values.dtype == np.int64 or (name != "frame" and np.isfinite(values).all()) for name, values in columns.items()
    ):
        return  # in a sixth of the time
    bad = {name: ~(np.abs(values) < (_TOO_LARGE if name == "frame" else np.inf)) for name, values in columns.items()}
    rows = np.flatnonzero(np.logical_or.reduce([*bad.values()]))
    if len(rows) == 0:
        return
    row = int(rows[0])
    name = next(name for name, is_bad in bad.items() if is_bad[row])
    if isinstance(table[name].iloc[row], str) and _DATE.search(table[name].iloc[row]):
        numbered = " Number the frames 0, 1, 2, … in the order of their times." if name == "frame" else ""
        dated = f" has a date or time, {shown(table[name].iloc[row])}.{numbered}"
        raise InvalidTable(Column(name), " needs numbers; ", Row(row), dated)
    if isinstance(table[name].iloc[row], str) and len(rows) > len(table) / 2:
        raise InvalidTable(
            *(Column(name), " needs plain numbers; ", Row(row), f" has {shown(table[name].iloc[row])}, and "),
            f"{len(rows)} of {counted(len(table), 'row')} are like it. Write numbers alone there, with a decimal "
            "point and without units or separators of thousands, or name another column.",
        )
    if table[name].isna().all():
        flat = " Leave it out where positions are 2D." if name == "z" else ""
        raise InvalidTable(Column(name), f" needs a number in every row; it is empty in all {len(table)}.{flat}")
    needed = "numbers below 2**63 in size" if np.isfinite(columns[name][row]) else "finite numbers"
    among = f"; {counted(len(rows), 'row')} in all have no frame or no position" if len(rows) > 1 else ""
    raise InvalidTable(
        *(Column(name), f" needs {needed}; ", Row(row), f" has {shown(table[name].iloc[row])}{among}. "),
        f"Remove or repair {'those rows' if among else 'that row'}.",
    )


def _whole(table: pd.DataFrame, name: str, values: np.ndarray) -> np.ndarray:
    """Return numbers that must be whole as int64."""
    if values.dtype == np.int64:
        return values
    whole = np.where(np.abs(values) < _TOO_LARGE, values, 0).astype(np.int64)
    fractional = np.flatnonzero(whole != values)
    if len(fractional):
        row = int(fractional[0])
        remedy = " Frames are counted: number them, and give the time between two as the frame interval."
        raise InvalidTable(
            *(Column(name), " needs whole numbers; ", Row(row), f" has {shown(table[name].iloc[row])}."),
            remedy if name == "frame" else "",
        )
    return whole


def _numbers(column: pd.Series, name: str) -> pd.Series:
    """Return a column of any type as numbers, NaN where there is none; dates would become nanoseconds."""
    if column.dtype.kind in "mM" or isinstance(column.dtype, pd.PeriodDtype):
        remedy = " Number them, such as by rank(method='dense') - 1." if name == "frame" else ""
        raise InvalidTable(Column(name), f" needs numbers; it has dates or times ({column.dtype}).{remedy}")
    numbers = pd.to_numeric(column, errors="coerce")
    if numbers.dtype.kind == "c":
        raise InvalidTable(Column(name), " needs real numbers; it has complex ones.")
    return numbers


def shown(value: object) -> str:
    """Return a value of a table as the user wrote it, not as NumPy names it."""
    return repr(value.item() if isinstance(value, np.generic) else value)
