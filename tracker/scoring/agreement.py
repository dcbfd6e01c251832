"""What a comparison of tracks with the truth comes to: counts, and the figures made of them."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Agreement:
    """How many things are real, how many were predicted, and how many predictions are right.

    `precision` is the right share of the predicted, `recall` the found share of the real, `f1` their harmonic mean;
    each is NaN where it would divide by zero.
    """

    real: int
    predicted: int
    correct: int

    @property
    def precision(self) -> float:
        """Share of the predicted that is right."""
        return share(self.correct, self.predicted)

    @property
    def recall(self) -> float:
        """Share of the real that was found."""
        return share(self.correct, self.real)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: 2·correct / (predicted + real)."""
        return share(2 * self.correct, self.predicted + self.real)


@dataclass(frozen=True)
class TrackAgreement:
    """How well real tracks were reproduced as a whole.

    Parameters
    ----------
    real, predicted : int
        Number of tracks in the truth and in the prediction.
    complete : int
        Real tracks reproduced whole: one predicted track has all of their detections and no other.
    mean_coverage : float
        Share of a real track's detections that its best predicted track has, averaged over the real tracks.
    mean_fragments : float
        Predicted tracks that share a real track, averaged over the real tracks that have any; 1 is perfect.
    switches : int
        How often, along the real tracks, the predicted track changes from one found detection to the next (the identity
        switches of CLEAR MOT).
    """

    real: int
    predicted: int
    complete: int
    mean_coverage: float
    mean_fragments: float
    switches: int

    @property
    def completeness(self) -> float:
        """Share of the real tracks reproduced whole; NaN when there are none."""
        return share(self.complete, self.real)


@dataclass(frozen=True)
class Score:
    """Agreement of tracks with the truth.

    Parameters
    ----------
    detections : Agreement
        Rows of the predicted table assigned to real particles.
    links : Agreement
        Links between consecutive frames, and across gaps if asked for.
    gap_links : Agreement
        Links across gaps, however long, whether or not they are among `links`.
    tracks : TrackAgreement
    """

    detections: Agreement
    links: Agreement
    gap_links: Agreement
    tracks: TrackAgreement

    def summary(self) -> dict[str, float | int | None]:
        """Return every figure by name, in reading order; None where it is undefined, as JSON wants it."""
        values: dict[str, float | int] = {}
        for name, agreement in (("link", self.links), ("gap_link", self.gap_links), ("detection", self.detections)):
            values |= {f"{name}_{figure}": getattr(agreement, figure) for figure in ("precision", "recall", "f1")}
            values |= {f"{which}_{name}s": count for which, count in asdict(agreement).items()}
        values |= {"track_completeness": self.tracks.completeness}
        for name, value in asdict(self.tracks).items():
            values[f"{name}_tracks" if name in ("real", "predicted", "complete") else name] = value
        return {name: None if math.isnan(value) else value for name, value in values.items()}


def share(part: float, whole: float) -> float:
    """Return a part of a whole; NaN where there is no whole."""
    return part / whole if whole else math.nan
