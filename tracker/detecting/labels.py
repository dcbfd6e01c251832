"""Label images (Cellpose, StarDist, Cell Tracking Challenge masks) as points: one point a label and frame."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pandas as pd

from ...matching.jit.threads import processors
from ..errors import InvalidInput
from ..label_centres import LabelCentres
from ..points import AXES, Points
from ..reading.frames import FrameSource
from ..stepwise import Step, Steps
from .side_by_side import DEFAULT_BUDGET, begun_ahead

_APART = 2
"""Regions apart from each other in a frame of labels: from so many on, one number for all of them is no label."""
_BYTES_A_VOXEL = 32  # of a frame that is worked on: it, the intensities under it, and what is known of runs of voxels


def labelled_at_a_time(shape: tuple[int, ...], frames: int, budget: float = DEFAULT_BUDGET) -> int:
    """Return how many frames are read and measured at a time: one a processor, as far as the budget has room."""
    return max(1, min(processors(), frames, int(budget / (_BYTES_A_VOXEL * math.prod(shape)))))


def label_steps(
    labels: FrameSource,
    intensity: FrameSource | None = None,
    *,
    is_mask: bool = False,
    budget: float = DEFAULT_BUDGET,
) -> Steps[Points]:
    """Return the centroid, size and intensity of every label, frame by frame, each read by the thread that measures it.

    Parameters
    ----------
    labels : Movie
        Whole numbers; 0 is background. A label that appears in several frames is one row in each of them.
    intensity : Movie, optional
        Movie of the same shape and frames, to be averaged over each label.
    is_mask : bool
        Whether all that is not 0 is particles, each a region of voxels that touch by a face.
    budget : float
        Bytes that frames at hand may take. What is found does not depend on it.

    Returns
    -------
    Points
        Columns `frame`, `z` (3D), `y`, `x` (unweighted centroid in voxels of the whole file), `label` (int64),
        `volume` (3D) or `area` (2D) in voxels, and `mean_intensity` if an intensity movie was given. Ordered by
        frame, then label. Frames without a label have no row.

    Raises
    ------
    InvalidInput
        If a label is negative or not a whole number, or the two movies do not fit each other.
    """
    if intensity is not None:
        _check_fit(labels, intensity)
    tables: list[pd.DataFrame] = []
    at_a_time = labelled_at_a_time(labels.shape, len(labels), budget)
    pool = ThreadPoolExecutor(at_a_time, thread_name_prefix="labels")
    try:
        for table in begun_ahead(pool, partial(_measured, labels, intensity, is_mask), labels.frame_numbers, at_a_time):
            tables.append(table)
            yield Step(len(tables), len(labels), partial(_points_of, labels, tables))
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return _points_of(labels, tables)


def _points_of(labels: FrameSource, tables: list[pd.DataFrame]) -> Points:
    return Points(pd.concat(tables, ignore_index=True), labels.calibration, timeline=labels.timeline)


def _measured(labels: FrameSource, intensity: FrameSource | None, is_mask: bool, number: int) -> pd.DataFrame:
    """Return the rows of one frame."""
    image = labels.frame(number)
    try:
        found = LabelCentres.of(_regions(image) if is_mask else image)
    except ValueError as error:
        raise InvalidInput(
            f"{labels.path}: frame {number} has values that are not labels (whole numbers from 0 are needed); "
            "this looks like an intensity image. To find particles in it, use detect."
        ) from error
    columns: dict[str, np.ndarray] = {"frame": np.full(len(found.labels), number, dtype=np.int64)}
    for axis, start, along in zip(AXES[3 - labels.ndim :], labels.origin, found.centres.T, strict=True):
        columns[axis] = along + start
    columns["label"] = found.labels
    columns["volume" if labels.ndim == 3 else "area"] = found.sizes
    if intensity is not None:
        columns["mean_intensity"] = found.means(intensity.frame(number))
    return pd.DataFrame(columns)


def _regions(mask: np.ndarray) -> np.ndarray:
    """Return a mask with a number for each of its regions."""
    from scipy import ndimage  # as below

    return ndimage.label(mask)[0]


def on_mask(image: np.ndarray, name: str) -> list[str]:
    """Return what is to be said of labels that are a mask: one number for all that is apart from each other."""
    from scipy import ndimage  # not in the first second of every program that imports auctrack

    if len(np.unique(image[image != 0])) != 1:
        return []
    _, apart = ndimage.label(image)
    if apart < _APART:
        return []
    return [
        f"{name} is a mask: its {apart} regions share one number, so they would be one particle, in the middle of them "
        f"all. Give each region its own number first (scipy.ndimage.label, frame by frame)."
    ]


def on_other_frames(labels: FrameSource, intensity: FrameSource | None) -> tuple[str, ...]:
    """Return what is to be said of a movie that has more frames than the labels that are measured in it."""
    if intensity is None or len(intensity) == len(labels):
        return ()
    return (
        f"{intensity.path} has {len(intensity)} frames, the labels {len(labels)}: a label is measured in the frame of "
        "the same number. If the labels begin later than the movie, or skip frames of it, cut it to theirs first.",
    )


def _check_fit(labels: FrameSource, intensity: FrameSource) -> None:
    if labels.shape != intensity.shape or not set(labels.frame_numbers) <= set(intensity.frame_numbers):
        raise InvalidInput(
            f"{intensity.path} does not fit the labels {labels.path}: it has {_extent(intensity)}, the labels have "
            f"{_extent(labels)}."
        )


def _extent(movie: FrameSource) -> str:
    return f"{len(movie)} frames of {' × '.join(map(str, movie.shape))} voxels"
