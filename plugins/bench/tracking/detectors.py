"""Detectors on a simulated frame whose particles are known: ours, others', and the filters that most of them use."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from ....tracker.detecting.blobs import sigma_of
from ....tracker.detecting.detect import detect_frame
from ....tracker.detecting.settings import DetectSettings
from ....tracker.points import AXES
from ....tracker.simulating.render import RenderSettings, render_frame, rendered_truth
from ....tracker.simulating.simulate import SimulationSettings, simulate
from ..assignment.peer_solvers import not_installed
from ..assignment.solver_variants import missing_device
from ..measure.harness import Case, Facts, Variant, WrongAnswer

# The peers carry no types, and may not be installed.
# pyright: reportMissingImports=false, reportMissingTypeStubs=false

_ACROSS = 512  # voxels along y and x
_PER_PLANE = 94  # particles: 3000 in 32 planes
_THRESHOLD = 25.0  # grey levels, of spots of 100 on noise of 3.5
_LEAST_FOUND = 0.8  # of the particles; where two are nearer than a diameter, one may be missed
_NEAR_UM = 1.0


@dataclass(frozen=True)
class DetectionInput:
    """A frame and what is in it.

    Attributes
    ----------
    image : ndarray, uint16 (z, y, x)
    scale : ndarray, float64 (3,)
        Voxel size in µm.
    diameter : float
        Of the spots, in µm.
    truth : ndarray, float64 (n, 3)
        Positions of the particles in voxels.
    """

    image: np.ndarray
    scale: np.ndarray
    diameter: float
    truth: np.ndarray


def detection_case(planes: int) -> Case:
    """Return a frame of so many planes of 512 × 512, by its planes."""
    return Case("frame", planes, lambda seed: _frame(planes, seed))


def detectors() -> list[Variant]:
    """Return the detectors as variants; each searches for the one size of spots that there is."""
    return [
        Variant("auctrack", _ours, _checked),
        Variant("auctrack, GPU", partial(_ours, device="cuda"), _checked, missing=missing_device("cuda")),
        Variant("SciPy, filters alone", _scipy_filters, _counted),
        Variant("trackpy.locate", _trackpy, _checked, missing=not_installed("trackpy", "trackpy")),
        Variant("skimage blob_log", _blob_log, _checked, missing=not_installed("skimage", "scikit-image")),
    ]


def _frame(planes: int, seed: int) -> DetectionInput:
    render = RenderSettings(psf_sigma_um=(1.5, 0.75, 0.75), voxel_um=(1.0, 0.5, 0.5), seed=seed)
    scale = np.array(render.voxel_um)
    box = tuple(((np.array([planes, _ACROSS, _ACROSS]) - 1) * scale).tolist())
    simulation = simulate(SimulationSettings(particles=_PER_PLANE * planes, frames=1, box_um=box, seed=seed))
    truth = rendered_truth(simulation, render).table[list(AXES)].to_numpy()
    return DetectionInput(render_frame(simulation, render, 0), scale, 2.65, truth)


def _ours(given: DetectionInput, device: str = "cpu") -> np.ndarray:
    settings = DetectSettings(given.diameter, threshold=_THRESHOLD)
    return detect_frame(given.image, settings, given.scale, device=device)[list(AXES)].to_numpy()


def _scipy_filters(given: DetectionInput) -> np.ndarray:
    """Filter once and look for the maxima: no refinement, no separation, no measures."""
    from scipy import ndimage

    sigma = sigma_of(given.diameter, given.scale)
    response = -ndimage.gaussian_laplace(given.image.astype(np.float32), sigma)
    response *= float(sigma[-1]) ** 2
    return np.argwhere((response == ndimage.maximum_filter(response, size=3)) & (response > _THRESHOLD))


def _trackpy(given: DetectionInput) -> np.ndarray:
    import trackpy

    trackpy.quiet()
    across = [int(given.diameter / size) // 2 * 2 + 1 for size in given.scale]
    return trackpy.locate(given.image, across, minmass=2 * _THRESHOLD)[list(AXES)].dropna().to_numpy()


def _blob_log(given: DetectionInput) -> np.ndarray:
    from skimage.feature import blob_log

    sigma: Any = sigma_of(given.diameter, given.scale)
    image = given.image.astype(np.float32)
    return blob_log(image, min_sigma=sigma, max_sigma=sigma, num_sigma=1, threshold=_THRESHOLD, overlap=1)[:, :3]


def _counted(given: DetectionInput, spots: np.ndarray) -> Facts:
    del given
    return {"spots": len(spots)}


def _checked(given: DetectionInput, spots: np.ndarray) -> Facts:
    """Return how many particles have a spot within 1 µm, and how many spots a particle."""
    truth, found = given.truth * given.scale, spots * given.scale
    recall = float(np.mean(cKDTree(found).query(truth)[0] < _NEAR_UM)) if len(found) else 0.0
    if recall < _LEAST_FOUND:
        raise WrongAnswer(f"only {recall:.3f} of the particles are found")
    return {"spots": len(spots), "recall": recall, "precision": float(np.mean(cKDTree(truth).query(found)[0] < 1.0))}
