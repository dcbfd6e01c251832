"""What a link between any two places gains: for detections that are added or moved after linking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...points import Points
from ..gate.candidates import Cost
from ..motion.detections.ordered import Ordered
from ..motion.inference.sweep import first_densities
from ..motion.learning.belief import Belief
from ..motion.learning.gaps import WIDEST
from ..motion.models.step_model import StepModel, tables
from ..motion.recipe import radius_of
from ..settings import LinkSettings
from .given_limits import in_force


@dataclass(frozen=True)
class LengthGain:
    """By length alone, as motion "none" weighs links.

    Attributes
    ----------
    longest : float
        Search range, or what the unmatched cost pays for if that is shorter.
    cost : {"squared", "distance"}
    unmatched_cost : float
        In the unit of the cost.
    """

    longest: float
    cost: Cost
    unmatched_cost: float

    @property
    def most_frames(self) -> int:
        """Links join consecutive frames."""
        return 1

    def radius(self, lag: int) -> float:  # noqa: ARG002 - see `LinkGain`
        """Return the longest link."""
        return self.longest

    def of(self, lag: int, source: np.ndarray, target: np.ndarray, frames: np.ndarray) -> np.ndarray:  # noqa: ARG002
        """Return twice the unmatched cost less the cost; see `LinkGain`."""
        length = np.linalg.norm(target - source, axis=1)
        gain = 2 * self.unmatched_cost - (length**2 if self.cost == "squared" else length)
        return np.where(length <= self.longest, gain, -np.inf)


@dataclass(frozen=True)
class LearnedGain:
    """By the learned model, away from the border and without the contexts: neighbours and links before and after.

    Attributes
    ----------
    model : StepModel
    prior : float64 (lags,)
        Log-odds of a link before its ends and its displacement are looked at, by looks.
    numbers : int64 (frames,)
        Frame numbers that hold points; between them the next four are interpolated.
    looked : int64 (frames,)
        See `Ordered.looked`.
    leaving, arriving : float64 (frames,)
        See `shares.Ends`.
    drift : float64 (frames, d)
    spacing, reach : float
        Unit of model, drift and reach, in the unit of the positions; radius over one frame, in spacings.
    longest : float
        Longest link a frame, in the unit of the positions.
    """

    model: StepModel
    prior: np.ndarray
    numbers: np.ndarray
    looked: np.ndarray
    leaving: np.ndarray
    arriving: np.ndarray
    drift: np.ndarray
    spacing: float
    reach: float
    longest: float

    @property
    def most_frames(self) -> int:
        """Longest link, in frames of the movie's step."""
        return len(self.prior)

    def radius(self, lag: int) -> float:
        """Return how long a link over `lag` steps may be, in the unit of the positions."""
        return min(self.spacing * min(self.reach * np.sqrt(lag), WIDEST), self.longest * lag)

    def of(self, lag: int, source: np.ndarray, target: np.ndarray, frames: np.ndarray) -> np.ndarray:
        """Return log-odds against both ends staying unlinked; see `LinkGain`."""
        drift = np.stack([self._at(frames[:, 1], of) - self._at(frames[:, 0], of) for of in self.drift.T], axis=1)
        step = np.ascontiguousarray((target - source)[:, -drift.shape[1] :] / self.spacing - drift)
        model = tables(self.model, self.most_frames).packed
        density = np.empty((len(step), len(model[0])))
        first_densities(step, np.full(len(step), lag), model, density)
        ends = self._at(frames[:, 0], self.leaving) + self._at(frames[:, 1], self.arriving)
        looks = np.ceil(self._at(frames[:, 1], self.looked) - self._at(frames[:, 0], self.looked)).astype(np.int64)
        gain = self.prior[np.clip(looks, 1, lag) - 1] + ends + np.log(density.sum(axis=1))
        return np.where(np.linalg.norm(target - source, axis=1) <= self.radius(lag), gain, -np.inf)

    def _at(self, frame: np.ndarray, values: np.ndarray) -> np.ndarray:
        return np.interp(frame, self.numbers, values)


def learned_gain(points: Points, movie: Ordered, belief: Belief, settings: LinkSettings) -> LearnedGain:
    """Return what links gain by what was learned of a movie; `movie` as it was learned from, drift subtracted."""
    prior, ends = in_force(belief, settings)
    return LearnedGain(
        belief.model,
        prior,
        points.frame_numbers,
        movie.looked,
        ends.leaving,
        ends.arriving,
        movie.drift,
        movie.spacing,
        radius_of(belief),
        settings.longest_a_frame,
    )
