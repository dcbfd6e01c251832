"""What napari's File > Open gives: movies with scale, units and frame interval; tables as Points or Tracks."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ....tracker.calibrating.calibration import Calibration
from ....tracker.errors import InvalidInput, UnknownAxes, UnknownColumns, UnknownScale, UnknownSeries
from ....tracker.formats.registry import holds_points
from ....tracker.formats.tables import read_either
from ....tracker.points import Points
from ....tracker.reading.folder import files_of, holds_tiff_files
from ....tracker.reading.movie import Movie, open_stack, read_movie
from ....tracker.reading.tiff import dimensions_of
from ....tracker.suffixes import MOVIES, without_ending
from ....tracker.zarr_attributes import is_image, shape_of
from ...words.errors import remedy
from .file_layer import layer_of
from .geometry import layer_geometry
from .layer_axes import UNDECIDED
from .layer_tables import OURS, LayerData

Read = Callable[[str | Sequence[str]], list[LayerData]]

_STAND_IN = {3: "TYX", 4: "TZYX", 5: "TCZYX"}  # to read a file with as long as nobody has said its axes
_LARGE_BYTES = 5_000_000  # of a table that takes longer to read than a user waits
_NOTHING_YET: Any = [(None,)]  # napari's word for a file that was taken and adds no layer now
_MOST_SERIES = 16
"""Images of one file that are opened unasked: each takes .1 s and is a layer for each channel."""
_LOOKED_AT = 3
_DARKEST, _BRIGHTEST = 0.5, 99.5  # percentiles that the contrast spans


def movie_reader(path: str | Sequence[str]) -> Read | None:
    """Return the reader of TIFF movies, folders of one TIFF a frame, and OME-Zarr; several at once napari handles."""
    return _read_movie if isinstance(path, str) and (not Path(path).is_dir() or _is_of_frames(path)) else None


def table_reader(path: str | Sequence[str]) -> Read | None:
    """Return the reader of point and track tables; some formats are folders."""
    return _read_table if isinstance(path, str) and not (Path(path).is_dir() and _is_of_frames(path)) else None


def _is_of_frames(folder: str) -> bool:
    """Whether a folder has a movie's frames; those of the Cell Tracking Challenge have tracks, painted in TIFFs."""
    return is_image(Path(folder)) or (holds_tiff_files(folder) and not holds_points(Path(folder)))


def _read_movie(path: str | Sequence[str]) -> list[LayerData]:
    """Return one layer a channel, of each series; those of one alone are shown, as they lie over each other."""
    try:
        return _read_series(str(path))
    except UnknownSeries as error:
        layers = [_read_series(str(path), number) for number in _opened_series(str(path), error.names)]
        hidden = [(data, {**given, "visible": False}, kind) for of in layers[1:] for data, given, kind in of]
        return layers[0] + hidden if layers else _NOTHING_YET


def _opened_series(path: str, names: Sequence[str]) -> Sequence[int]:
    """Return which images of a file are opened: all of a few; of many, where there is a viewer, those asked for."""
    from napari import current_viewer

    viewer = current_viewer()
    if len(names) <= _MOST_SERIES or viewer is None:
        return range(len(names))
    from .main_window import main_window
    from .series_dialog import ask_series

    return ask_series(path, names, main_window(viewer))


def _read_series(path: str, series: int | None = None) -> list[LayerData]:
    """Return one layer a channel; of files that do not say their axes one layer as it is, for the user to say them."""
    try:
        return read_channels(path, series=series)
    except UnknownAxes as error:
        return [_undecided(path, series, error)]


def read_channels(path: str, axes: str | None = None, series: int | None = None) -> list[LayerData]:
    """Return one layer a channel; where the file does not say how large a voxel is, in pixels, with a warning.

    Parameters
    ----------
    path : str
    axes : str, optional
        One letter a dimension of the file, or "TZ12YX", as `tracker.reading.movie.read_movie` takes them.
    series : int, optional
        Of several in the file.

    Raises
    ------
    UnknownSeries
        If there are several, and none is given.
    UnknownAxes
        If neither the file nor `axes` says what each dimension is.
    """
    with closing(open_stack(path, axes, series)) as stack:
        n_channels, unit_size = len(stack.channels), (1.0,) * (3 if stack.size("Z") > 1 else 2)
    channels = range(n_channels) if n_channels > 1 else (None,)
    opened = partial(read_movie, path, axes=axes, series=series)
    try:
        return [_image(opened(channel=channel), axes) for channel in channels]
    except UnknownScale:
        from napari.utils.notifications import show_warning

        show_warning(
            f"{Path(path).name} does not say how large its voxels are; distances are in pixels until you enter "
            "the voxel size (Layers > Track > Track particles)."
        )
        return [_image(opened(channel=channel, scale=unit_size, unit="pixel"), axes) for channel in channels]


def _undecided(path: str, series: int | None, error: UnknownAxes) -> LayerData:
    """Return a file as it is, with a warning; its axes are chosen in the widget."""
    from napari.utils.notifications import show_warning

    ndim = len(shape_of(Path(path))) or _dimensions(files_of(path))
    if ndim not in _STAND_IN:
        raise error
    layers = read_channels(path, _STAND_IN[ndim], series)
    data, given, kind = layers[-1]  # of colours the last one is their mean
    kept = {name: given["metadata"][OURS].get(name) for name in ("path", "series", "series_name")}
    kept |= {"axes_choice": UNDECIDED, "silent": True}
    if "C" in _STAND_IN[ndim]:
        data, given = np.stack([channel for channel, _, _ in layers], axis=1), layers[0][1]
    else:
        kept["channel"] = given["metadata"][OURS]["channel"]
    named = {axis: given[axis] for axis in ("name", "contrast_limits")}
    show_warning(
        f"{Path(path).name} does not say what its axes of {' × '.join(map(str, data.shape))} are: choose them in "
        "Layers > Track > Track particles before you track."
    )
    return data, {**named, "metadata": {OURS: kept}}, kind


def _dimensions(files: Sequence[Path]) -> int:
    return dimensions_of(files[0]) + (len(files) > 1)


def _image(movie: Movie, axes: str | None) -> LayerData:
    name = without_ending(Path(movie.path).name, MOVIES)
    several = len(movie.channels) > 1
    kept = {"path": str(Path(movie.path).resolve()), "channel": movie.channel if several else None, "axes": axes}
    if len(movie.series_names) > 1:
        kept |= {"series": movie.series, "series_name": movie.series_names[movie.series]}
        name += f" {kept['series_name']}"
    if movie.timeline_note:
        kept |= {"looked_at": _places(movie), "note": movie.timeline_note}
    if axes is not None:
        kept["axes_choice"] = "TZYX" if movie.ndim == 3 else "TYX"
    arguments = {
        "name": f"{name} {movie.channels[movie.channel]}" if several else name,
        "metadata": {OURS: kept},
        "contrast_limits": _contrast(movie),
        **layer_geometry(_per_place(movie), movie.ndim),
    }
    return lazy_frames(movie), arguments, "image"


def lazy_frames(movie: Movie) -> Any:
    """Return a movie as a dask array (t, z, y, x) or (t, y, x) that reads one frame at a time.

    One place a frame step; frames that the movie misses are blank.
    """
    import dask.array as da

    places = _places(movie)
    number_at = dict(zip(places, movie.frame_numbers, strict=True))

    def read_block(block_info: Any = None) -> np.ndarray:
        number = number_at.get(block_info[None]["array-location"][0][0])
        image = np.zeros(movie.shape, movie.dtype) if number is None else movie.frame(number)
        return image[np.newaxis]

    chunks = ((1,) * (places[-1] + 1), *((size,) for size in movie.shape))
    return da.map_blocks(
        read_block, chunks=chunks, dtype=movie.dtype, meta=np.empty((0,) * (movie.ndim + 1), movie.dtype)
    )


def _places(movie: Movie) -> tuple[int, ...]:
    """Return where along the first axis of its layer each frame of a movie lies."""
    return tuple((number - movie.frame_numbers[0]) // movie.timeline.step for number in movie.frame_numbers)


def _per_place(movie: Movie) -> Calibration:
    """Return the calibration with the time from one place of the layer to the next."""
    interval = movie.calibration.frame_interval
    return movie.calibration.override(frame_interval=None if interval is None else interval * movie.timeline.step)


def _contrast(movie: Movie) -> tuple[float, float]:
    """Return grey levels that show the particles, from a few frames; never an empty span."""
    places = np.linspace(0, len(movie) - 1, min(_LOOKED_AT, len(movie))).astype(int)
    some = [movie.frame(movie.frame_numbers[place]).ravel()[::7] for place in places]
    values = np.concatenate(some).astype(np.float64)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0.0, 1.0
    low, high = np.percentile(values, [_DARKEST, _BRIGHTEST])
    return float(low), float(high if high > low else low + 1)


def _read_table(path: str | Sequence[str]) -> list[LayerData]:
    """Return the layer of a table; one of many rows comes later, read in the background, where there is a viewer."""
    from napari import current_viewer

    place = Path(str(path))
    viewer = current_viewer()
    if viewer is not None and place.exists() and place.stat().st_size > _LARGE_BYTES:
        from .opening import open_in_background

        open_in_background(viewer, str(path), partial(read_table, str(path)))
        return _NOTHING_YET
    try:
        return [layer_of(read_table(str(path)), str(path))]
    except UnknownColumns as error:
        if viewer is None:
            raise _from_napari(error, str(path)) from None
        from .columns_dialog import ask_columns
        from .main_window import main_window

        columns = ask_columns(str(path), error, main_window(viewer))
        return _NOTHING_YET if columns is None else [layer_of(read_table(str(path), columns), str(path), columns)]


def read_table(path: str, columns: Mapping[str, str] | None = None) -> Points:
    """Return points in any format, as `Tracks` where it has their numbers.

    Raises
    ------
    UnknownColumns
        If its columns are not recognised.
    InvalidInput
        If it is damaged; with what can be done about it from napari.
    """
    try:
        return read_either(path, columns=columns)
    except UnknownColumns:
        raise
    except InvalidInput as error:
        raise _from_napari(error, path) from None


def _from_napari(error: InvalidInput, path: str) -> InvalidInput:
    """Return an error with a remedy that needs neither Python nor options; they name columns, which napari cannot."""
    if error.setting != "columns":
        return error
    return InvalidInput(
        f"{error.problem} Rename them in the file, or run in a terminal, and then open the tracks that it writes: "
        f"auctrack link {shlex.quote(path)}. {remedy(error)}"
    )
