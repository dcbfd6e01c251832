"""A movie on disk or in an array, read one frame at a time."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Never

import numpy as np

from ..calibrating.calibration import Calibration
from ..calibrating.stated import AXES, calibrate
from ..errors import InvalidInput, InvalidSetting, UnknownScale
from ..kinds import is_whole
from ..ranges import frames_of, roi_of
from ..stage_seconds import BusySeconds
from ..timeline import Timeline
from ..unknown_settings import refuse_unknown_arguments
from ..zarr_attributes import is_image
from .arrays import Array, ArrayStack
from .chosen import channel_number, listed, series_number
from .contiguous import NEW_MEMORY, PixelBuffer
from .file_stack import FileStack
from .folder import are_of_one_dataset, files_of
from .ome_zarr import OmeZarrStack
from .stack import SPACE, Region, Stack
from .tiff import TiffStack


@dataclass(frozen=True, eq=False)
class Movie:
    """Frames on disk, of which nothing but metadata is in memory, or of an array. Make one with `read_movie`.

    Attributes
    ----------
    path : Path
        The file, folder or glob that was given; "array" for an array.
    axes : str
        Dimensions of the files, such as "TZCYX".
    shape : tuple of int
        (z, y, x) or (y, x) of one frame, after the region of interest was cut. A Z axis of length 1 counts as 2D.
    dtype : numpy.dtype
        Type of the pixels, native byte order.
    is_mask : bool
        Whether they are truth values, which are read as 0 and 1.
    calibration : Calibration
    timeline : Timeline
        The frames selected, under their numbers in the file, which start at 0, and the step between them. Of a folder
        the numbers are those in the files' names, counted from the first; frames without a file are missing.
    timeline_note : str
        How the frames were found, where that is to be said; else empty.
    origin : tuple of int
        Offset of the region of interest in voxels of the file, one number an axis of `shape`. Detections add it, so
        that positions are those of the whole file.
    channels : tuple of str
        Names of all channels of the file.
    channel : int
        The one that is read.
    series_names : tuple of str
        Names of all series of the file, such as the positions of a stage.
    series : int
        The one that is read.
    source : str
        Where the voxel size comes from: "OME-XML", "ImageJ header", "given".

    Notes
    -----
    Frames may be read from several threads, side by side but for arrays and for pages of a TIFF that hold several
    planes, or tiles that are not compressed. The file stays open until `close`, the end of a `with` block, or until
    the movie is no longer used.
    """

    path: Path
    axes: str
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    is_mask: bool
    calibration: Calibration
    timeline: Timeline
    timeline_note: str
    origin: tuple[int, ...]
    channels: tuple[str, ...]
    channel: int
    series_names: tuple[str, ...]
    series: int
    source: str
    _stack: Stack = field(repr=False)
    _region: Region = field(repr=False)
    _lock: threading.Lock = field(repr=False, default_factory=threading.Lock)
    _reading: BusySeconds = field(repr=False, default_factory=BusySeconds)

    def __enter__(self) -> Movie:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.frame_numbers)

    @property
    def frame_numbers(self) -> tuple[int, ...]:
        """The frames selected, ascending."""
        return self.timeline.numbers or ()

    @property
    def ndim(self) -> int:
        """Number of spatial axes, 2 or 3."""
        return len(self.shape)

    @property
    def whole_shape(self) -> tuple[int, ...]:
        """Shape of a frame of the file, without regard to the region of interest."""
        return tuple(self._stack.size(axis) for axis in SPACE[3 - self.ndim :])

    @property
    def bytes_per_frame(self) -> int:
        """Memory that one frame takes, after the region of interest was cut."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def seconds_reading(self) -> float:
        """Time so far during which frames were read, by one thread or by several."""
        return self._reading.total

    def middle(self, frames: int) -> Movie:
        """Return at most so many consecutive frames from the middle, as a movie that ends with this one."""
        first = max(0, (len(self) - frames) // 2)
        return replace(self, timeline=replace(self.timeline, numbers=self.frame_numbers[first : first + frames]))

    def close(self) -> None:
        """Close the file; frames cannot be read after it."""
        self._stack.close()

    def frame(self, number: int, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Read one frame.

        Parameters
        ----------
        number : int
            One of `frame_numbers`.
        into : PixelBuffer, optional
            The memory for uncompressed pixels, and how many threads read them.

        Returns
        -------
        ndarray of `shape` and `dtype`
            A new array on every call.

        Raises
        ------
        InvalidSetting
            If the frame is not among those selected.
        InvalidInput
            If the file is truncated or damaged there.
        """
        if number not in self.frame_numbers:
            raise InvalidSetting(f"frame {number} is not among the frames of {self.path}: {self.timeline.spans()}.")
        where = number, self.channel, self._region
        in_turn = nullcontext() if self._stack.is_read_at_once() else self._lock
        with in_turn, self._reading.busy():
            volume = self._stack.volume(*where, into)
        return volume.reshape(self.shape)

    @property
    def odd_interval(self) -> str:
        """The time between two frames as the file states it, where its unit is not known and none was given."""
        return "" if self.calibration.frame_interval else self._stack.stated.odd_interval

    def _other_axes(self) -> str:
        """Return the axes that the file states, where others were given."""
        stated = self._stack.stated.axes
        return "" if stated in (None, self.axes) or self._stack.n_files > 1 else f" (the file says {stated})"

    def _said_otherwise(self) -> str:
        """Return the voxel size that the file states, where another was given."""
        if self.source != "given":
            return ""
        try:
            own = calibrate(self._stack.stated, self.ndim)
        except UnknownScale:
            return ""
        is_own = (own.scale, own.unit) == (self.calibration.scale, self.calibration.unit)
        return "" if is_own else f"; the file says {_sizes(own, self.ndim)}"

    def describe(self) -> str:
        """Return what the movie is taken to be, in a few lines for the reader."""
        files = f", {self._stack.n_files} files" if self._stack.n_files > 1 else ""
        how = f"; {self.timeline_note}" if self.timeline_note else ""
        series = [f"series    {listed(self.series_names, self.series)}"] if len(self.series_names) > 1 else []
        order = "z × y × x" if self.ndim == 3 else "y × x"
        region = "" if not any(self.origin) else f", from {order} = {' × '.join(map(str, self.origin))}"
        return "\n".join(
            [
                f"file      {self.path}{files}",
                *series,
                f"axes      {self.axes}{self._other_axes()}; a frame is {self.ndim}D, "
                f"{order} = {' × '.join(map(str, self.shape))}{region}",
                f"scale     {_sizes(self.calibration, self.ndim)}  ({self.source}{self._said_otherwise()})",
                f"time      {_time(self.calibration, self.timeline.step, self.odd_interval)}",
                f"frames    {len(self)}: {self.timeline.spans()}{how}",
                f"channels  {listed(self.channels, self.channel)}",
                f"pixels    {'truth values' if self.is_mask else self.dtype}, {_bytes(self.bytes_per_frame)} per frame",
            ]
        )


def read_movie(
    path: str | Path | Array,
    *,
    axes: str | None = None,
    scale: Sequence[float] | None = None,
    unit: str | None = None,
    frame_interval: float | None = None,
    time_unit: str | None = None,
    channel: int | str | None = None,
    series: int | str | None = None,
    frames: slice | str | None = None,
    roi: tuple[slice, ...] | str | None = None,
    **unknown: Never,
) -> Movie:
    """Open a movie: an OME-TIFF, an ImageJ hyperstack, a TIFF, an OME-Zarr, a folder of one TIFF a frame, or an array.

    Parameters
    ----------
    path : str, Path or array
        An array of NumPy, dask, zarr or xarray, of which frames are computed when they are read; `axes` (but of xarray,
        which names them) and `scale` say the rest. An OME-Zarr folder, of which the full resolution is read, a plate
        whose fields are its series, or a Zarr array (needs the extra `formats`). Or a file, folder, or glob pattern.
        The files of a folder are put in natural order (t2 before t10); each is one frame, YX or ZYX (with C where there
        are channels), all of one shape. The one number in which their names differ says which frame, counted from the
        first file: t0 to t4 and t8 to t11 are frames 0 to 4 and 8 to 11. Where several differ and follow a word such as
        t, z or c ("t000_z012"), each file is one plane or channel.
    axes : str, optional
        One letter a dimension of the file: T time, Z depth, C channel, Y, X. Needed where the file does not say, and
        it overrides what it says. "TZ12YX" divides a plain row of pages into 12 planes a time point. For a folder it
        names the axes of one file; a leading T stands for the files. Where several numbers differ in their names, as
        many letters in front stand for these: "TZYX" for files of one plane each, named by time and plane.
    scale : sequence of float, optional
        Voxel size along z, y, x (or y, x for 2D) in `unit`, µm unless given. Needed where the file does not say.
    unit : str, optional
        Unit of length wanted. "pixel" measures distances in pixels.
    frame_interval : float, optional
        Time between two frames whose numbers differ by one, in `time_unit`, s unless given.
    time_unit : str, optional
    channel : int or str, optional
        Number (from 0) or name. Needed when there are several. An RGB image has red, green, blue, and their mean: grey.
    series : int or str, optional
        Number (from 0) or name of one of several images in a file, such as the positions of a stage. Needed when there
        are several, unless `path` is the file of one of them, as where Micro-Manager writes a file a position. Each in
        turn: ``for number in range(len(read_movie(path, series=0).series_names)): track(path, series=number)``.
    frames : slice or str, optional
        Piece of the movie, such as ``slice(0, 20)`` or ``slice(None, None, 5)``, or as a setting: "0:20". Frames keep
        their numbers, and a step stays known.
    roi : tuple of slice, or str, optional
        Region of interest in voxels, one slice along z, y, x (or y, x), without steps; or as a setting: "0:10,4:9,:".
    **unknown
        None: the message says which of the names above was meant.

    Raises
    ------
    InvalidInput
        If the file is missing, empty, truncated or not a TIFF, the files of a folder are not of one movie, or the array
        has no real numbers.
    UnknownAxes, UnknownScale, UnknownChannel, UnknownSeries
        If the file does not say what its dimensions or its voxels are, or has several channels or series. None is ever
        guessed.
    InvalidSetting
        If `channel`, `series`, `frames` or `roi` do not fit the movie, or `scale` is not a size.
    """
    refuse_unknown_arguments(unknown, read_movie)
    frames = None if frames is None else frames_of(frames)
    roi = None if roi is None else roi_of(roi)
    stack = open_stack(path, axes, series)
    try:
        number = channel_number(channel, stack.channels, stack.path)
        ndim = 3 if stack.size("Z") > 1 else 2
        calibration = _calibrated(stack, ndim, scale, unit, frame_interval, time_unit)
        timeline = _selected(frames, stack.timeline)
        stack.check_whole(timeline.numbers or (), number)
        region = _region(roi, tuple(stack.size(axis) for axis in SPACE), ndim)
        cut = tuple(len(range(stack.size(axis))[part]) for axis, part in zip(SPACE, region, strict=True))
        movie = Movie(
            path=Path(path) if isinstance(path, (str, Path)) else stack.path,
            axes=stack.axes,
            shape=cut[3 - ndim :],
            dtype=stack.dtype,
            is_mask=stack.is_mask,
            calibration=calibration,
            timeline=timeline,
            timeline_note=stack.note,
            origin=tuple(part.start for part in region)[3 - ndim :],
            channels=stack.channels,
            channel=number,
            series_names=stack.series_names,
            series=stack.series,
            source=stack.stated.source if scale is None and calibration.is_physical else "given",
            _stack=stack,
            _region=region,
        )
    except BaseException:
        stack.close()
        raise
    weakref.finalize(movie, stack.close)
    return movie


def open_stack(path: object, axes: str | None, series: int | str | None = None) -> Stack:
    """Return the stack behind a path or array, of which only headers are read; arguments as those of `read_movie`."""
    if not isinstance(path, (str, Path)):
        if not isinstance(path, Array):
            raise InvalidInput(
                f"a movie is the path of a file, folder or pattern, or an array; got {type(path).__name__}."
            )
        stack = ArrayStack(path, axes)
        series_number(series, stack.series_names, stack.path)
        return stack
    if is_image(Path(path)):
        return OmeZarrStack(Path(path), axes, series)
    files = files_of(path)
    is_one = len(files) == 1 or (axes is None and are_of_one_dataset(files))
    return TiffStack(files[0], axes, series) if is_one else FileStack(files, axes, series)


def _calibrated(
    stack: Stack,
    ndim: int,
    scale: Sequence[float] | None,
    unit: str | None,
    frame_interval: float | None,
    time_unit: str | None,
) -> Calibration:
    try:
        return calibrate(stack.stated, ndim, scale=scale, unit=unit, frame_interval=frame_interval, time_unit=time_unit)
    except InvalidInput as error:
        raise error.of(stack.path) from error


def _selected(frames: slice | None, whole: Timeline) -> Timeline:
    """Return the frames asked for, by their numbers."""
    numbers = whole.numbers or ()
    wanted = range(max(numbers) + 1)[frames or slice(None)]
    selected = whole.cut(wanted, abs(wanted.step))
    if not selected.numbers:
        raise InvalidSetting(f"selects none of the {len(numbers)} frames, which are {whole.spans()}.", setting="frames")
    return selected


def _region(roi: tuple[slice, ...] | None, sizes: tuple[int, ...], ndim: int) -> Region:
    """Return the region of interest as three slices with whole starts and stops, along z, y, x."""
    if roi is None:
        roi = (slice(None),) * ndim
    names = AXES[3 - ndim :]
    if len(roi) != ndim:
        raise InvalidSetting(f"needs {ndim} ranges ({', '.join(names)}); got {len(roi)}.", setting="roi")
    parts = [slice(0, 1)] * (3 - ndim)
    for name, part, size in zip(names, roi, sizes[3 - ndim :], strict=True):
        start, stop = part.start or 0, size if part.stop is None else part.stop
        is_inside = is_whole(start) and is_whole(stop) and 0 <= start < stop <= size
        if part.step not in (None, 1) or not is_inside:
            raise InvalidSetting(
                f"along {name} needs a range from:to inside 0:{size}, without a step; "
                f"got {part.start}:{part.stop}{'' if part.step is None else f':{part.step}'}.",
                setting="roi",
            )
        parts.append(slice(int(start), int(stop)))
    return (parts[0], parts[1], parts[2])


def _sizes(calibration: Calibration, ndim: int) -> str:
    order = "z × y × x" if ndim == 3 else "y × x"
    sizes = " × ".join(f"{size:g}" for size in calibration.scale[3 - ndim :])
    note = "" if calibration.is_physical else "; distances are in pixels"
    return f"voxel {order} = {sizes} {calibration.unit}{note}"


def _time(calibration: Calibration, step: int, odd: str) -> str:
    if calibration.frame_interval is None:
        return "frame interval not known" + (f" (the file says {odd})" if odd else "")
    between = f"{calibration.frame_interval:g} {calibration.time_unit} between frames"
    if step == 1:
        return between
    return f"{between} whose numbers differ by one, {step * calibration.frame_interval:g} to the next one read"


def _bytes(count: int) -> str:
    size = float(count)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
