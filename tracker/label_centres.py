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
    inside : ndarray of int64, shape (m,)
        Flat indices of all voxels that have a label.
    places : ndarray of int64, shape (m,)
        Which of `labels` each of them has.
    """

    labels: np.ndarray
    centres: np.ndarray
    sizes: np.ndarray
    inside: np.ndarray
    places: np.ndarray

    @classmethod
    def of(cls, image: np.ndarray) -> LabelCentres:
        """Return the labels of an image; raises ValueError where a value is not a whole number from 0."""
        flat = image.ravel()
        inside = np.flatnonzero(flat)
        labels, places = np.unique(_whole(flat[inside]), return_inverse=True)
        sizes = np.bincount(places, minlength=len(labels))
        coordinates = np.unravel_index(inside, image.shape)
        sums = [np.bincount(places, weights=along, minlength=len(labels)) for along in coordinates]
        return cls(labels, np.column_stack(sums) / sizes[:, np.newaxis], sizes.astype(np.int64), inside, places)

    def means(self, image: np.ndarray) -> np.ndarray:
        """Return the mean of another image of the same shape over each label, float64 (k,)."""
        sums = np.bincount(self.places, weights=image.ravel()[self.inside], minlength=len(self.labels))
        return sums / self.sizes


def _whole(values: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # NaN and what int64 cannot hold are refused
        whole = values.astype(np.int64)
    if len(whole) and (not np.array_equal(whole, values) or whole.min() < 0):
        raise ValueError("labels are whole numbers from 0")
    return whole
