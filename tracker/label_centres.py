"""Where the labels of a label image are: the centroid and size of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LabelCentres:
    """The labels of one image.

    Parameters
    ----------
    labels : ndarray of int64, shape (k,)
        Ascending; background, 0, is none.
    centres : ndarray of float64, shape (k, ndim)
        Unweighted centroids, in voxels.
    sizes : ndarray of int64, shape (k,)
        Voxels of each.
    starts : ndarray of int64, shape (m,)
        Flat indices at which runs of one value begin, each within a row of the image.
    inside : ndarray of int64
        Which of these runs have a label.
    places : ndarray of int64
        Which of `labels` each of those has.
    """

    labels: np.ndarray
    centres: np.ndarray
    sizes: np.ndarray
    starts: np.ndarray
    inside: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, image: np.ndarray) -> LabelCentres:
        """Return the labels of an image; raises ValueError where a value is not a whole number from 0."""
        flat = image.ravel()
        begins = np.ones(image.shape, dtype=np.bool_)
        np.not_equal(image[..., 1:], image[..., :-1], out=begins[..., 1:])
        starts = np.flatnonzero(begins)
        lengths, inside = np.diff(starts, append=flat.size), np.flatnonzero(flat[starts])
        starts_inside, lengths = starts[inside], lengths[inside]
        labels, places = np.unique(_whole(flat[starts_inside]), return_inverse=True)

        def summed(of_runs: np.ndarray) -> np.ndarray:
            return np.bincount(places, weights=of_runs, minlength=len(labels))

        *outer, along_x = np.unravel_index(starts_inside, image.shape)
        sums = [summed(lengths * at) for at in outer] + [summed(lengths * (2 * along_x + lengths - 1) / 2)]
        sizes = summed(lengths)
        centres = np.column_stack(sums) / sizes[:, np.newaxis]
        return cls(labels, centres, sizes.astype(np.int64), starts, inside, places)

    def means(self, image: np.ndarray) -> np.ndarray:
        """Return the mean of another image of the same shape over each label, float64 (k,)."""
        of_runs = np.add.reduceat(image.ravel(), self.starts, dtype=np.float64)[self.inside]
        return np.bincount(self.places, weights=of_runs, minlength=len(self.labels)) / self.sizes


def _whole(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN and what int64 cannot hold are refused
        whole = values.astype(np.int64)
    if len(whole) and (not np.array_equal(whole, values) or whole.min() < 0):
        raise ValueError("labels are whole numbers from 0")
    return whole
