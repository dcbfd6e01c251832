"""Folders of the Cell Tracking Challenge: a label image a frame, and a text file of tracks, `L B E P`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import tifffile

from ...errors import TIFF_DAMAGE, InvalidInput, InvalidSetting
from ...label_centres import LabelCentres
from ...points import AXES, Points, Tracks
from ...timeline import Timeline
from ..content import Folder, Written
from ..graph import unbroken_tracks_of
from ..loaded import Loaded, steps_of_one
from .particle_size import radius_of
from .spheres import sphere_labels

RESULT, TRUTH = "res_track.txt", "man_track.txt"
_MASKS = {RESULT: "mask", TRUTH: "man_track"}
_MOST_LABELS, _MOST_FRAMES = 2**16 - 1, 10_000
_MOST_VOXELS = 2**31


# --- writing -----------------------------------------------------------------------------------------------------


def write(points: Points, settings: Mapping[str, object]) -> Written:
    """Return tracks as a folder of results: spheres of the particles' diameter in label images, and `res_track.txt`.

    The images are as large as the movie where `settings` say so (`image_shape`, in voxels), else as the positions need.
    A track that misses frames is cut there, as the challenge demands; what follows is its child.

    Raises
    ------
    InvalidSetting
        If the format cannot hold the tracks: there are none, positions or frames that no image has, or too many.
    """
    if not isinstance(points, Tracks):
        raise InvalidSetting("the challenge's folders hold tracks, not points; link them first (auctrack link).")
    n_frames, radius, scale = (
        _frame_count(points),
        radius_of(points, settings),
        points.calibration.scale_for(points.ndim),
    )
    shape = _shape(points, settings, radius / scale)
    ids, parents = unbroken_tracks_of(points)
    if ids.max(initial=-1) >= _MOST_LABELS:
        raise InvalidSetting(
            f"the challenge's labels go to {_MOST_LABELS}; there are {ids.max() + 1} stretches of tracks without "
            "missed frames. Write another format, or keep longer tracks only (min_length)."
        )
    labels = (ids + 1).astype(np.uint16)
    lineage = {child + 1: [parent + 1 for parent in of] for child, of in parents.items()}
    text = "".join(_lines(labels, points.frames, lineage))
    centres = points.table[list(points.axes)].to_numpy()

    def make(folder: Path) -> None:
        folder.mkdir()
        (folder / RESULT).write_text(text, encoding="ascii")
        for frame in range(n_frames):
            here = points.frames == frame
            image = sphere_labels(shape, centres[here], labels[here], radius, scale)
            name = f"mask{frame:0{3 if n_frames <= 1000 else 4}}.tif"
            tifffile.imwrite(folder / name, image, photometric="minisblack", compression="zlib")

    return Written(Folder(make), points.table[["frame", *points.axes]], lineage)


def _frame_count(tracks: Tracks) -> int:
    """Return how many images there are, from frame 0 to the last that was looked at."""
    if tracks.frame_step != 1:
        raise InvalidSetting(
            f"the challenge's tracks are in every frame, and the frames of these are {tracks.frame_step} apart. Number "
            "the frames one by one, or write another format."
        )
    last = max(tracks.frames.max(initial=-1), *(tracks.timeline.numbers or (-1,)), -1)
    if last < 0 and not len(tracks):
        raise InvalidSetting(
            "the format needs one image per frame, but there are no detections and the frames are unknown. Choose "
            "another format."
        )
    if tracks.frames.min(initial=0) < 0 or not 0 <= last < _MOST_FRAMES:
        raise InvalidSetting(
            f"the challenge's images are numbered from 0 to {_MOST_FRAMES - 1}; the frames are "
            f"{tracks.frames.min(initial=0)} to {last}. Number them from 0."
        )
    return int(last) + 1


def _shape(tracks: Tracks, settings: Mapping[str, object], radii: np.ndarray) -> tuple[int, ...]:
    """Return the size of the images; every position rounds to a voxel of it."""
    voxels = np.rint(tracks.table[list(tracks.axes)].to_numpy())
    given = settings.get("image_shape")
    shape = voxels.max(axis=0, initial=0) + np.ceil(radii) + 1 if given is None else _given_shape(given, tracks)
    size = " × ".join(f"{length:g}" for length in shape)
    outside = np.flatnonzero(((voxels < 0) | (voxels >= shape)).any(axis=1))
    if len(outside):
        raise InvalidSetting(
            f"the challenge's images begin at voxel 0, and have {size} here ({', '.join(tracks.axes)}); row "
            f"{outside[0]} lies outside ({len(outside)} in all). Shift the positions, or write another format."
        )
    if shape.prod() > _MOST_VOXELS or (2 * radii).prod() > _MOST_VOXELS:
        raise InvalidSetting(
            f"the challenge's images would need {size} voxels each, which is too much. Positions are written in "
            "voxels: check their unit, and the diameter."
        )
    if np.unique(tracks.frames, return_counts=True)[1].max(initial=0) > shape.prod():
        raise InvalidSetting(
            f"the challenge's images have {size} voxels here, fewer than a frame has points. Check the voxel size, or "
            "give image_shape."
        )
    return tuple(shape.astype(np.int64).tolist())


def _given_shape(given: object, tracks: Tracks) -> np.ndarray:
    lengths = given if isinstance(given, Sequence) else ()
    if len(lengths) != tracks.ndim or not all(isinstance(n, (int, np.integer)) and n > 0 for n in lengths):
        raise InvalidSetting(
            f"needs {tracks.ndim} whole numbers of voxels ({', '.join(tracks.axes)}); got {given!r}.",
            setting="image_shape",
        )
    return np.array(lengths, dtype=np.float64)


def _lines(labels: np.ndarray, frames: np.ndarray, parents: Mapping[int, Sequence[int]]) -> Iterator[str]:
    """Yield label, first frame, last frame and parent of each track, in the order of the labels."""
    order = np.lexsort((frames, labels))
    _, first, count = np.unique(labels[order], return_index=True, return_counts=True)
    last = first + count - 1
    for label, begin, end in zip(labels[order][first], frames[order][first], frames[order][last], strict=True):
        yield f"{label} {begin} {end} {parents.get(int(label), [0])[0]}\n"


# --- reading -----------------------------------------------------------------------------------------------------


def read(path: Path) -> Loaded:
    """Return the centres of the labels of a folder of results (`01_RES`) or of truth (`01_GT`, or its `TRA`)."""
    folder = path / "TRA" if (path / "TRA" / TRUTH).is_file() else path
    text = TRUTH if (folder / TRUTH).is_file() else RESULT
    if not (folder / text).is_file():
        raise InvalidInput(
            f"{path}: has no {RESULT} or {TRUTH}, which says who descends from whom. Label images that are not linked "
            "yet are a movie of labels (auctrack track FOLDER --labels)."
        )
    spans = _spans(folder / text)
    files = _masks(folder, _MASKS[text])
    first, last = min(files), max(files)
    for label, begin, end, _ in spans[(spans[:, 1] < first) | (spans[:, 2] > last)][:1].tolist():
        raise InvalidInput(
            f"{folder / text}: track {label} is said to be in frames {begin} to {end}; the images are of frames "
            f"{first} to {last}."
        )
    table = pd.concat(_points(folder, files, spans), ignore_index=True)
    parents = {label: [parent] for label, _, _, parent in spans.tolist() if parent}
    return Loaded(table, steps_of_one(source="Cell Tracking Challenge"), str(path), parents, Timeline(1, tuple(files)))


def _spans(file: Path) -> np.ndarray:
    """Return the tracks of a text file, int64 (n, 4): label, first and last frame, parent or 0."""
    try:
        lines = [line.split() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise InvalidInput(f"{file}: is not text ({error}).") from error
    for number, line in enumerate(lines, start=1):
        if len(line) != 4 or not all(re.fullmatch(r"\d{1,9}", word) for word in line):
            raise InvalidInput(
                f"{file}: line {number} is {' '.join(line)[:60]!r}; needed are four whole numbers of at most nine "
                "digits (label, first frame, last frame, parent or 0)."
            )
    spans = np.array(lines, dtype=np.int64).reshape(-1, 4)
    _refuse_contradictions(spans, file)
    return spans


def _refuse_contradictions(spans: np.ndarray, file: Path) -> None:
    """Refuse tracks that no lineage can have; as parents end before their children begin, there is no circle."""
    labels, begins, ends, parents = spans.T
    order = np.argsort(labels, kind="stable")
    place = order[np.minimum(np.searchsorted(labels[order], parents), len(order) - 1)] if len(order) else order
    has_parent, is_there = parents > 0, labels[place] == parents
    doubts = {
        "is 0, which is background": labels == 0,
        "comes twice": np.isin(labels, labels[order][1:][np.diff(labels[order]) == 0]),
        "ends before it begins": ends < begins,
        "has a parent that is not there": has_parent & ~is_there,
        "begins before its parent has ended": has_parent & is_there & (ends[place] >= begins),
    }
    for what, is_so in doubts.items():
        if is_so.any():
            raise InvalidInput(f"{file}: track {labels[is_so][0]} {what}.")


def _masks(folder: Path, stem: str) -> dict[int, Path]:
    """Return the files of the label images by frame, which follow each other without a gap."""
    names = ((re.fullmatch(rf"{stem}(\d{{1,9}})\.tif", file.name), file) for file in folder.iterdir())
    found = sorted((int(name[1]), file) for name, file in names if name)
    if not found:
        raise InvalidInput(f"{folder}: has no label images {stem}000.tif, {stem}001.tif, ….")
    files = dict(found)
    if len(files) < len(found):
        raise InvalidInput(f"{folder}: two label images have the same frame number.")
    for frame in range(found[0][0], found[-1][0]):
        if frame not in files:
            raise InvalidInput(f"{folder}: the label image of frame {frame} is missing ({stem}{frame:03}.tif).")
    return files


def _points(folder: Path, files: Mapping[int, Path], spans: np.ndarray) -> Iterator[pd.DataFrame]:
    """Yield the points of each frame, whose labels must be those that the text file has in it."""
    shape: tuple[int, ...] | None = None
    for frame, file in files.items():
        image = _image(file)
        if shape is not None and image.shape != shape:
            raise InvalidInput(f"{file}: is {image.shape} voxels, those before it {shape}; all must be alike.")
        shape = image.shape
        try:
            found = LabelCentres.of(image)
        except ValueError as error:
            raise InvalidInput(f"{file}: has values that are not labels ({error}).") from error
        stated = spans[(spans[:, 1] <= frame) & (spans[:, 2] >= frame), 0]
        for label in np.setxor1d(found.labels, stated)[:1].tolist():
            there, absent = ("the text file", "the image") if label in stated else ("the image", "the text file")
            raise InvalidInput(f"{folder}: {there} has label {label} in frame {frame}, and {absent} has not.")
        columns = {"frame": np.full(len(stated), frame, dtype=np.int64), "track_id": found.labels}
        columns |= dict(zip(AXES[-image.ndim :], found.centres.T, strict=True))
        yield pd.DataFrame(columns | {"volume" if image.ndim == 3 else "area": found.sizes})


def _image(file: Path) -> np.ndarray:
    """Return a label image, 2D or 3D."""
    try:
        with tifffile.TiffFile(file) as opened:
            shape = opened.series[0].shape
            image = opened.asarray() if len(shape) in (2, 3) and math.prod(shape) <= _MOST_VOXELS else None
    except TIFF_DAMAGE as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInput(f"{file}: is not a TIFF file, or is damaged ({reason}).") from error
    if image is None:
        raise InvalidInput(
            f"{file}: needs an image of two or three axes and at most {_MOST_VOXELS} voxels; it has the shape {shape}."
        )
    return image
