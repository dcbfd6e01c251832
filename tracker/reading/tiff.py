"""One TIFF file as a stack of planes, of which only those asked for are read."""

from __future__ import annotations

import contextlib
import importlib
import math
import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import tifffile

from ...matching.errors import AuctrackError
from ...matching.jit.threads import side_by_side
from ..calibrating.stated import Stated
from ..errors import TIFF_DAMAGE, InvalidInput, UnknownAxes
from ..regular_files import refuse_pipe
from ..suffixes import TIFF
from ..timeline import Timeline
from .axes import are_known, divided, known_axes, naming_axes
from .contiguous import NEW_MEMORY, PixelBuffer, can_be_read_side_by_side, read_into
from .metadata import stated_by
from .pixel_types import read_as
from .stack import SPACE, Region
from .tiff_series import MICRO_MANAGER, POSITIONS, files_of_each, series_of

AS_TIFF = (
    "Movies are read from TIFF and OME-Zarr: in Fiji, File > Import > Bio-Formats opens most formats, and File > Save "
    "As writes TIFF. Tables are read from CSV and Parquet."
)
"""What to do with other files."""
_OF_ARRAYS = "Arrays of NumPy are tracked from Python (auctrack.track), or saved as TIFF (tifffile.imwrite)."
_NO_MOVIES = {
    **dict.fromkeys((".npy", ".npz"), f"is not a TIFF file. {_OF_ARRAYS} {AS_TIFF}"),
    ".xml": "is not a movie. If it is TrackMate's, export its spots as CSV there, and link that table.",
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "is a spreadsheet. Save its sheet as CSV, and give that table."),
}
"""What to do with files that are known to be none."""
_NOTHING_IN_ZSTD = bytes.fromhex("28b52ffd2000010000")
_BITS = (1, 8, 16, 32, 64)  # a voxel, that tifffile reads by itself
_METADATA_ELSEWHERE = re.compile(r'<(?:\w+:)?BinaryOnly\b[^>]*\bMetadataFile="([^"]*)"')
_NAMED_FILE = re.compile(r'<(?:\w+:)?UUID\b[^>]*\bFileName="([^"]*)"')
_GREY = "grey"
"""The channel of an RGB image that is the mean of its colours."""


def dimensions_of(path: Path) -> int:
    """Return how many axes the image in a TIFF file has beside its colours; raises as `TiffStack` does."""
    refuse_pipe(path, "Save the movie in one first.")
    with damage_explained(path), tifffile.TiffFile(path) as file:
        return len(file.series[0].axes.removesuffix("S"))


def files_of_series(path: Path) -> tuple[tuple[Path, ...], ...]:
    """Return the files of each series of a dataset of OME or Micro-Manager that a TIFF file is of, as far as there.

    There are none where OME-XML names no other file. Raises as `TiffStack` does.
    """
    refuse_pipe(path, "Save the movie in one first.")
    with damage_explained(path), tifffile.TiffFile(path) as file:
        named = {*_NAMED_FILE.findall(file.pages.first.description or "")}
        return files_of_each(file) if len(named) > 1 or file.is_micromanager else ()


class TiffStack:
    """An open TIFF file, read plane by plane. The colours of an RGB image are channels, and so is their mean, "grey".

    Parameters
    ----------
    path : Path
    axes : str, optional
        One letter a dimension (T, Z, C, Y, X), in the order of the file; overrides what the file says. A number
        behind a letter divides a plain row of pages: "TZ12YX" means 12 planes a time point.
    series : int or str, optional
        Which of several images, by number or name. Needed unless this very file has planes of one alone.

    Attributes
    ----------
    series_names : tuple of str
        Those of all series.
    series : int
        The one that is read.

    Raises
    ------
    InvalidInput
        If the file is missing, not a TIFF, damaged, or in separate planes of colours.
    UnknownSeries
        If it holds several images, and `series` does not say which is meant.
    UnknownAxes
        If neither the file nor `axes` says what each dimension is.
    """

    note = ""
    n_files = 1

    def __init__(self, path: Path, axes: str | None = None, series: int | str | None = None) -> None:
        self.path = path
        refuse_pipe(path, "Save the movie in one first.")
        with damage_explained(path):
            self._tif = tifffile.TiffFile(path)
        self._tif.filehandle.set_lock(True)
        try:
            with damage_explained(path):
                self._understand(axes, series)
        except BaseException:
            self._tif.close()
            raise

    def _understand(self, axes: str | None, series: int | str | None) -> None:
        """Read the headers; no pixels."""
        self._series = self._readable_series(axes, series)
        found, shape = self._series.axes, tuple(self._series.shape)
        position_at, positions = -1, 1
        if self._series.kind == MICRO_MANAGER and (position_at := found.find(POSITIONS)) >= 0:
            positions = shape[position_at]
            found = found.replace(POSITIONS, "")
            shape = shape[:position_at] + shape[position_at + 1 :]
        self._samples = shape[-1] if found.endswith("S") else 1
        if self._samples > 1:
            found, shape = found[:-1], shape[:-1]
        if axes is not None and positions == 1:
            axes, shape = divided(axes, shape, self.path)
        self.axes = known_axes(found, shape, axes, self.path)
        self.sizes: dict[str, int] = dict(zip(self.axes, shape, strict=True))
        self._layout = self.axes  # with that of positions, which is no axis of the movie
        if position_at >= 0:
            self._layout = self.axes[:position_at] + POSITIONS + self.axes[position_at:]
        self._lengths = {**self.sizes, POSITIONS: positions}
        self.stated: Stated
        self.stated, self._channel_names = self._metadata()
        self.stated = replace(self.stated, axes=found if are_known(found) else None)
        self._pages_cover = self._axes_inside_a_page()
        self._data_offset = self._series.dataoffset if self._is_in_this_file else None
        self._last_page: tuple[int, np.ndarray] | None = None
        if self._samples > 1:
            self._take_colours_for_channels()

    def _take_colours_for_channels(self) -> None:
        """Offer each colour and their mean; the mean alone where the first plane is grey, as of converted videos."""
        if self.size("C") > 1:
            raise UnknownAxes(
                f"{self.path}: has colours (RGB) and {self.size('C')} further channels.",
                **naming_axes(len(self.axes)),
            )
        first = self._samples_of({"T": 0, "Z": 0, "C": 0})
        is_grey = bool((first[..., :1] == first[..., 1:3]).all())
        self._channel_names = (_GREY,) if is_grey else ("red", "green", "blue", _GREY)
        self.sizes["C"] = len(self._channel_names)

    def __enter__(self) -> TiffStack:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._tif.close()

    @property
    def timeline(self) -> Timeline:
        """The frames that there are, from 0 on."""
        return Timeline(1, tuple(range(self.size("T"))))

    def size(self, axis: str) -> int:
        """Return the length along one axis, 1 where the file has no such axis."""
        return self.sizes.get(axis, 1)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the channels; "channel 0", … where the file names none."""
        count = self.size("C")
        if len(self._channel_names) == count:
            return self._channel_names
        return tuple(f"channel {number}" for number in range(count))

    def volume(self, frame: int, channel: int, region: Region, into: PixelBuffer = NEW_MEMORY) -> np.ndarray:
        """Read one frame, (z, y, x), of which only the planes inside `region` are touched.

        `into` says what is filled.

        Raises
        ------
        InvalidInput
            If planes are missing or damaged, or the file was closed.
        """
        if self._tif.filehandle.closed:
            raise InvalidInput(
                f"{self.path}: was closed, so its frames cannot be read any more; read them inside the with statement, "
                "or open it again."
            )
        z, y, x = (range(self.size(axis))[part] for axis, part in zip(SPACE, region, strict=True))
        volume = into.empty((len(z), len(y), len(x)), self.dtype)
        if self._lies_in_one_piece(z, y, x):
            try:
                offset = self._place({"T": frame, "Z": z.start, "C": channel})
                assert offset is not None
                self._read_into(volume, offset, into.threads)
            except OSError as error:
                raise InvalidInput(
                    f"{self.path}: frame {frame} cannot be read; the file is truncated or damaged ({error})."
                ) from error
            return volume

        def read(row: int) -> None:
            try:
                volume[row] = self._plane({"T": frame, "Z": z[row], "C": channel})[region[1:]]
            except (OSError, *TIFF_DAMAGE) as error:
                raise InvalidInput(
                    f"{self.path}: frame {frame}, plane {z[row]} cannot be read; the file is truncated or "
                    f"damaged ({error})."
                ) from error

        if self._unpacks_planes:
            side_by_side(read, range(len(z)))
        else:
            for row in range(len(z)):
                read(row)
        return volume

    def is_read_at_once(self) -> bool:
        """Whether several threads may read frames: their planes are in their places in the file, or pages of it."""
        return self._unpacks_planes or self._is_read_in_place

    def _lies_in_one_piece(self, z: range, y: range, x: range) -> bool:
        """Whether whole planes of a frame follow each other in the file as they are in memory."""
        if self._samples > 1 or self._data_offset is None or not self._is_read_in_place:
            return False
        is_whole = len(y) == self.sizes["Y"] and len(x) == self.sizes["X"]
        planes_apart = math.prod(self._lengths[axis] for axis in self._layout[:-2].partition("Z")[2])
        return is_whole and (len(z) == 1 or planes_apart == 1)

    @property
    def _is_read_in_place(self) -> bool:
        """Whether the pixels of each plane lie in the file as they are in memory, in one piece.

        Threads take them from there side by side.
        """
        are_pages = len(self._pages_cover) == 2 and bool(self._series.keyframe.is_final)
        return can_be_read_side_by_side() and (self._data_offset is not None or are_pages)

    @property
    def _unpacks_planes(self) -> bool:
        """Whether each plane is a compressed page of its own: these take long to unpack, and do so side by side."""
        return len(self._pages_cover) == 2 and self._series.keyframe.compression != tifffile.COMPRESSION.NONE

    def _read_into(self, out: np.ndarray, offset: int, threads: int | None) -> None:
        """Fill an array with the pixels that lie in the file from an offset on."""
        read_into(out, self._tif.filehandle.fileno(), offset, threads, self._stored)

    @property
    def _stored(self) -> np.dtype[Any]:
        """The type of the pixels, in the byte order of the file."""
        return self.dtype.newbyteorder(self._tif.byteorder)

    def _place(self, index: dict[str, int]) -> int | None:
        """Return where in the file the pixels of a plane are in one piece, None where they are not."""
        if self._data_offset is not None:
            return self._data_offset + self._plane_number(index, self._layout[:-2]) * self._plane_bytes
        if not self._is_read_in_place:
            return None
        page = self._page(self._page_number(index))
        starts, sizes = np.array([page.dataoffsets, page.databytecounts], np.int64)
        is_whole = page.parent is self._tif and (starts[1:] == (starts + sizes)[:-1]).all()
        return int(starts[0]) if is_whole and sizes.sum() == self._plane_bytes else None

    def check_whole(self, frames: Sequence[int], channel: int) -> None:
        """Refuse a file in which some of the frames lack planes, or end past the end of the file."""
        with damage_explained(self.path):
            broken = next((frame for frame in frames if not self._is_whole(frame, channel)), None)
        if broken is None:
            return
        problem = (
            f"{self.path}: frame {broken} is not complete; the file is truncated, or a file of its dataset is missing."
        )
        if not broken:
            raise InvalidInput(problem)
        before = f"0:{broken}"
        rest = f"The frames before it can be read on their own (frames {before})."
        raise InvalidInput(problem, in_python=rest, setting="frames", examples={before: "they are enough"})

    def _is_whole(self, frame: int, channel: int) -> bool:
        index = {"T": frame, "Z": self.size("Z") - 1, "C": channel}
        if self._data_offset is not None:
            end = self._data_offset + (self._plane_number(index, self._layout[:-2]) + 1) * self._plane_bytes
            return end <= self._tif.filehandle.size
        return all(self._page_is_whole({**index, "Z": plane}) for plane in range(self.size("Z")))

    @property
    def _plane_bytes(self) -> int:
        return self.sizes["Y"] * self.sizes["X"] * self._samples * self.dtype.itemsize

    def _plane(self, index: dict[str, int]) -> np.ndarray:
        """Return one plane, (y, x)."""
        samples = self._samples_of(index)
        if self._samples == 1:
            return samples[..., 0]
        if self.channels[index["C"]] != _GREY:
            return samples[..., index["C"]]
        mean = samples[..., :3].mean(axis=-1)
        return mean if self.dtype.kind == "f" else np.rint(mean)

    def _samples_of(self, index: dict[str, int]) -> np.ndarray:
        """Return one plane with its colours, (y, x, sample)."""
        plane = (self.sizes["Y"], self.sizes["X"], self._samples)
        offset = self._place(index)
        if offset is not None and can_be_read_side_by_side():
            samples = np.empty(plane, self.dtype)
            self._read_into(samples, offset, threads=1)
            return samples
        if offset is not None:
            return self._tif.filehandle.read_array(self._stored, math.prod(plane), offset).reshape(plane)
        outer = self._pages_cover[:-2]
        image = self._decoded(self._page_number(index)).reshape([*(self.sizes[axis] for axis in outer), *plane])
        return image[tuple(index[axis] for axis in outer)]

    def _decoded(self, number: int) -> np.ndarray:
        """Return the pixels of a page; the last one is kept where it is volumetric, and asked for plane by plane."""
        if self._last_page is not None and self._last_page[0] == number:
            return self._last_page[1]
        page = self._page(number)
        if page.parent is self._tif:
            pixels = page.asarray(maxworkers=1)
        else:
            with self._tif.filehandle.lock:
                pixels = _pixels(page)
        if len(self._pages_cover) > 2:
            self._last_page = number, pixels
        return pixels

    def _page(self, number: int) -> Any:
        """Return a page, of which the header alone is read."""
        with self._tif.filehandle.lock:  # threads unpack pixels while others read
            page = self._series[number]
        if page is None:
            raise ValueError("its file of the OME dataset is missing")
        return page

    def _page_number(self, index: dict[str, int]) -> int:
        return self._plane_number(index, self._layout[: -len(self._pages_cover)])

    def _page_is_whole(self, index: dict[str, int]) -> bool:
        page = self._series[self._page_number(index)]
        if page is None:
            return False
        if page.parent is not self._tif:
            return True
        ends = (start + count for start, count in zip(page.dataoffsets, page.databytecounts, strict=True))
        return max(ends, default=math.inf) <= self._tif.filehandle.size

    def _plane_number(self, index: dict[str, int], axes: str) -> int:
        """Return the running number of a plane or page, which lie in the order of `axes`, the last one fastest."""
        number = 0
        for axis in axes:
            number = number * self._lengths[axis] + (self.series if axis == POSITIONS else index[axis])
        return number

    def _axes_inside_a_page(self) -> str:
        """Return the axes that one page of the file covers: YX, and more in volumetric or planar files."""
        shape = tuple(length for length in self._series.keyframe.shape)
        for inside in range(2, len(self.axes) + 1):
            if self._samples * math.prod(self.sizes[axis] for axis in self.axes[-inside:]) == math.prod(shape):
                return self.axes[-inside:]
        raise InvalidInput(
            f"{self.path}: its pages of {' × '.join(map(str, shape))} do not divide an image of "
            f"{' × '.join(map(str, self.sizes.values()))}; "
            "save it as an ImageJ hyperstack or OME-TIFF."
        )

    @property
    def _is_in_this_file(self) -> bool:
        """Whether all planes of the series are in the file that was opened."""
        return self._series.keyframe.parent is self._tif and not self._series.is_multifile

    def _readable_series(self, axes: str | None, series: int | str | None) -> Any:
        if not len(self._tif.pages) or not self._ends_as_it_should():
            raise InvalidInput(f"{self.path}: its list of pages breaks off; the TIFF file is truncated or damaged.")
        elsewhere = _METADATA_ELSEWHERE.search(self._tif.pages.first.description or "")
        if elsewhere is not None and not self._tif.is_mmstack:
            raise InvalidInput(
                f"{self.path}: is a part of a multi-file OME dataset; open {elsewhere[1]}, which has its metadata."
            )
        chosen = series_of(self._tif, series, self.path)
        only, self.series, self.series_names = chosen.pages, chosen.number, chosen.names
        if self._is_damaged(only.kind):
            raise InvalidInput(f"{self.path}: its pages do not match its header; the file is truncated or damaged.")
        if "S" in only.axes and not (axes is not None and only.axes.endswith("YX")) and not _is_in_colour(only):
            remedy = naming_axes(len(only.shape)) if only.axes.endswith("YX") else {}
            raise InvalidInput(f"{self.path}: is a colour (RGB) image; {_instead_of_colour(only)}", **remedy)
        if packed := _packed_beyond_us(only.keyframe):
            raise InvalidInput(f"{self.path}: is {packed}; `pip install imagecodecs` to read it.")
        if 0 in only.shape:
            raise InvalidInput(f"{self.path}: holds no pixels; its shape is {' × '.join(map(str, only.shape))}.")
        if (read := read_as(only.dtype)) is None:
            raise InvalidInput(f"{self.path}: has pixels of type {only.dtype}; whole or real numbers are needed.")
        self.dtype, self.is_mask = read
        return only

    def _ends_as_it_should(self) -> bool:
        """Whether the last page that can be found is marked as the last."""
        link, handle = self._tif.pages.next_page_offset, self._tif.filehandle
        if link is None:
            return False
        handle.seek(link)
        size = self._tif.tiff.offsetsize
        return handle.read(size) == bytes(size)

    def _is_damaged(self, kind: str) -> bool:
        """Whether tifffile had to leave the file's own header aside (it does so when pages are missing)."""
        if kind == MICRO_MANAGER:  # such files have headers of the others too
            return False
        return (self._tif.is_ome and kind != "ome") or (self._tif.is_imagej and kind != "imagej")

    def _metadata(self) -> tuple[Stated, tuple[str, ...]]:
        try:
            return stated_by(self._tif, self.series)
        except InvalidInput as error:
            raise InvalidInput(f"{self.path}: {error}") from error


def _packed_beyond_us(page: Any) -> str:
    """Return what there is no codec for, "" where all of a page can be unpacked."""
    compression, predictor, bits = tifffile.COMPRESSION(page.compression), page.predictor, page.bitspersample
    if not _can_be_unpacked(compression):
        return f"compressed with {compression.name}"
    if predictor not in tifffile.TIFF.UNPREDICTORS and compression not in tifffile.TIFF.IMAGE_COMPRESSIONS:
        return f"compressed with the predictor {tifffile.PREDICTOR(predictor).name}"
    if bits not in _BITS and isinstance(bits, int) and not _has_imagecodecs():
        return f"packed in {bits} bits a voxel"
    return ""


def _has_imagecodecs() -> bool:
    try:
        importlib.import_module("imagecodecs")
    except ImportError:
        return False
    return True


def _can_be_unpacked(compression: tifffile.COMPRESSION) -> bool:
    """Whether there is a codec; tifffile names one for zstd that before Python 3.14 fails once it is called."""
    codecs = tifffile.TIFF.DECOMPRESSORS
    if compression not in codecs:
        return False
    if not compression.name.startswith("ZSTD"):
        return True
    try:
        codecs[compression](_NOTHING_IN_ZSTD)
    except ImportError:
        return False
    return True


def _is_in_colour(series: Any) -> bool:
    """Whether each pixel of a plane has its red, green and blue, and perhaps opacity, side by side."""
    return series.axes.endswith("YXS") and series.shape[-1] in (3, 4)


def _instead_of_colour(series: Any) -> str:
    """Return what to do: tifffile takes 3 or 4 planes for colours when it writes a stack without being told."""
    if not series.axes.endswith("YX"):
        return (
            "auctrack reads one grey channel. Make it grey first (in Fiji: Image > Type > 8-bit), or split its colours."
        )
    return f"auctrack reads one grey channel; its {series.shape[-3]} colours may be planes saved as colours."


def _pixels(page: Any) -> np.ndarray:
    """Read a page, opening its file for the moment when it is another one of a multi-file dataset."""
    handle = page.parent.filehandle
    if not handle.closed:
        return page.asarray()
    handle.open()
    try:
        return page.asarray()
    finally:
        handle.close()


@contextlib.contextmanager
def damage_explained(path: Path) -> Generator[None]:
    """Turn whatever a missing or damaged TIFF file raises into one sentence.

    tifffile trusts what headers say; where they are damaged it fails in every one of these ways.
    """
    try:
        yield
    except AuctrackError:
        raise
    except FileNotFoundError as error:
        raise InvalidInput(f"{path}: there is no such file.") from error
    except tifffile.TiffFileError as error:
        what = f"is not a TIFF file, or a damaged one ({error})."
        if path.is_file() and path.stat().st_size == 0:
            what = "the file is empty."
        elif path.suffix.lower() not in TIFF:
            what = f"is not a TIFF file. {AS_TIFF}"
        raise InvalidInput(f"{path}: {_NO_MOVIES.get(path.suffix.lower(), what)}") from error
    except OSError as error:
        raise InvalidInput(f"{path}: cannot be read ({error.strerror or error}).") from error
    except TIFF_DAMAGE as error:
        raise InvalidInput(f"{path}: is a damaged TIFF file ({type(error).__name__}: {error}).") from error
