"""What was learned of how the particles of a movie move, in the user's units and in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...calibrating.digits import in_digits, in_unit, plural
from ...calibrating.stated import AXES
from .detections.ordered import Ordered
from .learning.belief import Belief
from .models.shares import RAREST

_NOTHING = 1e-9
"""Spacings below which a typical step is what rounding and hardly possible links leave of none."""
_APART = 1.3
"""How many times as wide as the narrowest of a kind steps of another kind are: of 126 simulated movies of one kind of
particles, classes were learned at most 1.26 times as wide as each other; of 90 of two kinds, 1.5 times apart, in 88
more than 1.3 times."""


@dataclass(frozen=True)
class Motion:
    """How particles move, as learned from their movie.

    Attributes
    ----------
    typical_step : float
        Root mean square of the displacement from frame to frame, drift subtracted, in `unit`.
    widths : float64 (classes, axes)
        Standard deviation of each class of steps along z, y, x (or y, x), less what the neighbours explain, in `unit`.
    class_shares : float64 (classes,)
        Share of the steps of each class.
    unexplained : float64 (classes, axes)
        The same widths where the step before is known; equal to `widths` where past and future are no contexts.
    persistence : float or None
        Share of a particle's own step that the next one repeats, from frame to frame, all classes and axes together;
        None where past and future are no contexts.
    log_likelihood_gain : float
        Gain of knowing the link before, in nats a link, measured on links that were held out; 0 where it is no context,
        NaN where it is one and links are too few to hold some out.
    flow_weight, flow_share, flow_gain : float
        What the neighbours' mean step counts in predicting one, the share of the median step it explains, and the nats
        by which it makes a link likelier that taught nothing of it; 0 where it is no context.
    lost, new : float
        Share of detections that end a track, and that begin one, at frames that have others after, or before.
    missed : float64 (frames,)
        Share of detections seen again after 1, 2, … frames without the particle.
    largest_drift : float
        Longest drift that was subtracted, in `unit`; 0 where there was none.
    unit : str
    notes : tuple of str
        What could not be learned, and why.
    features : tuple of str
        Features of the detections that weigh links; none where they tell nothing.
    feature_gain : float
        Nats by which they make a link likelier than another that is as long.
    persistence_along : float64 (axes,) or None
        As `persistence`, along z, y, x (or y, x) each: below 0 where positions are measured badly, for what one step
        errs by the next one takes back. All alike where one for each axis does not pay.
    is_chance : bool
        Whether links lead to decoys put among the particles nearly as often as to these (tried on a sample, where past
        and future may be contexts). Most are guesses then, whatever their probability.
    is_unclear : bool
        Whether the best links of that sample make it clearly less likely than no links would, as where steps are as
        long as the spacing, and many of them are expected to be wrong: more are, for what is learned from wrong links
        fits them.
    repeats : bool
        Whether most frame pairs look the same moved by one of their spacings, as a crystal's do. Links take the
        shortest way.
    """

    typical_step: float
    widths: np.ndarray
    class_shares: np.ndarray
    unexplained: np.ndarray
    persistence: float | None
    log_likelihood_gain: float
    flow_weight: float
    flow_share: float
    flow_gain: float
    lost: float
    new: float
    missed: np.ndarray
    largest_drift: float
    unit: str
    notes: tuple[str, ...]
    features: tuple[str, ...] = ()
    feature_gain: float = 0.0
    persistence_along: np.ndarray | None = None
    is_chance: bool = False
    is_unclear: bool = False
    repeats: bool = False

    @property
    def contexts(self) -> str:
        """The contexts in use, in the words of the setting `motion`: "diffusion" is none of them."""
        used = [name for name, on in (("flow", self.flow_weight > 0), ("velocity", self.is_persistent)) if on]
        return "+".join(used) or "diffusion"

    @property
    def is_persistent(self) -> bool:
        """Whether past and future are contexts."""
        return self.persistence is not None

    def lines(
        self, frame_interval: float | None = None, time_unit: str = "s", frame_step: int = 1, also: Sequence[str] = ()
    ) -> list[str]:
        """Say it in a few lines; with the time between frames whose numbers differ by 1 the persistence is a time too.

        `frame_step` is the difference between the numbers of consecutive frames, which all of this is about; `also`
        is what is counted as lost or new besides.
        """
        per = "per frame" if frame_step == 1 else f"per {frame_step} frames"
        said = [f"typical step {in_unit(self.unit, self.typical_step)} {per}, {self._predicted_from()}"]
        if self.flow_weight > 0:
            gain = f"make a link likelier by {self.flow_gain:.2f} nats"
            said.append(f"neighbours explain {max(self.flow_share, 0):.0%} of a step and {gain}")
        if self.persistence is not None:
            along = self._along_axes()
            time = "" if along or frame_interval is None else self._as_time(frame_interval * frame_step, time_unit)
            gain = f"; the link before makes a link likelier by {self.log_likelihood_gain:.2f} nats"
            said.append(
                f"persistence {along or f'{self.persistence:z.2f}'} {per}{time}"
                + (gain if np.isfinite(self.log_likelihood_gain) else "")
            )
        if self.features and self.feature_gain >= 0.005:
            make = "makes" if len(self.features) == 1 else "make"
            said.append(f"{', '.join(self.features)} {make} a link likelier by {self.feature_gain:.2f} nats")
        said.append(self._said_of_widths())
        counted_in = f" ({' and '.join(also)} counted in)" if also else ""
        said.append(f"{_share(self.lost)} of detections lost and {_share(self.new)} new {per}{counted_in}")
        if most := len(self.missed):
            said.append(f"gaps of up to {most} missed frame{'s' if most > 1 else ''}: {self._said_of_gaps()}")
        if self.largest_drift > 0:
            drift = in_unit(self.unit, self.largest_drift)
            said.append(f"a drift of up to {drift} was allowed for; positions keep it")
        return [*said, *self.notes]

    def _said_of_gaps(self) -> str:
        """Return how often detections are seen again after 1, 2, … frames, the last of those that hardly are as one."""
        shares = [f"{share:.1%}" for share in self.missed]
        most = last = len(shares)
        while last > 1 and shares[last - 2] == shares[most - 1] == f"{0:.1%}":
            last -= 1
        after = [f"{k}" for k in range(1, last)] + [f"{last} to {most}" if last < most else f"{most}"]
        first, *later = (f"{share} after {k}" for share, k in zip(shares, after, strict=False))
        return ", ".join([first.replace(" after", " of detections seen again after"), *later])

    def _predicted_from(self) -> str:
        """Return what foretells a step, as words for the contexts."""
        words = {
            "diffusion": "predicted without its neighbours' flow or the particle's own past and future",
            "flow": "predicted from the neighbours' flow",
            "velocity": "predicted from each particle's own past and future",
        }
        both = "predicted from the neighbours' flow and each particle's own past and future"
        return words.get(self.contexts, both)

    def _said_of_widths(self) -> str:
        """Return how wide steps are along an axis, all axes together: one width for classes that hardly differ."""
        variances = (self.widths**2).mean(axis=1)
        kinds: list[list[int]] = []
        for k in np.argsort(variances, kind="stable"):
            if kinds and variances[k] < _APART**2 * variances[kinds[-1][0]]:
                kinds[-1].append(k)
            else:
                kinds.append([k])
        shares = [self.class_shares[kind].sum() for kind in kinds]
        widths = [in_digits(np.sqrt(np.average(variances[kind], weights=self.class_shares[kind]))) for kind in kinds]
        if len(kinds) == 1:
            return f"steps vary by {widths[0]} {plural(self.unit)} along each axis"
        digits = max(int(np.ceil(-2 - np.log10(min(shares)))), 0)  # those of the least
        parts = [f"{share:.{digits}%} by {width}" for share, width in zip(shares, widths, strict=True)]
        return f"steps vary along each axis: {', '.join(parts)} {plural(self.unit)}"

    def _along_axes(self) -> str:
        """Return the persistence along each axis, where these differ."""
        along = [] if self.persistence_along is None else [f"{share:z.2f}" for share in self.persistence_along]
        if len(set(along)) < 2:
            return ""
        return ", ".join(f"{share} along {axis}" for share, axis in zip(along, AXES[-len(along) :], strict=True))

    def _as_time(self, between: float, time_unit: str) -> str:
        """Return the persistence as a time, where it is one; `between` is the time between consecutive frames."""
        if self.persistence is None or not 0 < self.persistence < 1:
            return ""
        return f" (a time of {in_unit(time_unit, -between / np.log(self.persistence))})"


def motion_of(belief: Belief, movie: Ordered, unit: str) -> Motion:
    """Return what was learned of a movie, or of a part of it, in the unit of the positions."""
    model, spacing = belief.model, belief.movie.spacing
    one = belief.graph.lag == 1
    p, square = belief.probability[one], belief.graph.squares[one]
    # What is learned of consecutive links holds only for those that do not begin afresh.
    along = model.persistence * (1 - model.turns[2])
    of_class = (along * model.first).sum(axis=1) / model.first.sum(axis=1)
    typical = float(np.sqrt((p * square).sum() / p.sum())) if p.sum() > 0 else 0.0
    return Motion(
        typical_step=spacing * typical if typical > _NOTHING else 0.0,
        widths=spacing * np.sqrt(model.first),
        class_shares=model.shares,
        unexplained=spacing * np.sqrt(model.second if belief.linked else model.first),
        persistence=float(model.shares @ of_class) if belief.linked else None,
        log_likelihood_gain=belief.link_gain if belief.linked else 0.0,
        flow_weight=belief.flow_weight,
        flow_share=belief.flow_share,
        flow_gain=belief.flow_gain,
        lost=belief.shares.lost,
        new=belief.shares.new,
        missed=belief.shares.seen[1:],
        largest_drift=spacing * float(np.linalg.norm(movie.drift, axis=1).max(initial=0.0)),
        unit=unit,
        notes=tuple(belief.notes),
        features=belief.features.names if belief.features else (),
        feature_gain=belief.feature_gain,
        persistence_along=model.shares @ along if belief.linked else None,
        is_chance=belief.is_chance,
        is_unclear=belief.is_unclear,
        repeats=movie.repeats,
    )


def _share(of: float) -> str:
    """Return a share of detections that are lost or new, of which none below `RAREST` is told from another."""
    return f"at most {RAREST:.1%}" if of <= RAREST else f"{of:.1%}"
