"""Where particles that the user places come to lie, and what they measure there; where there can be none, why not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....tracker.calibrating.digits import in_digits, in_unit
from ....tracker.detecting.at_a_place import particles_at
from ....tracker.detecting.settings import DetectSettings
from ....tracker.editing.change import Change
from ....tracker.editing.session import Session as EditSession
from ....tracker.errors import InvalidEdit
from ....tracker.linking.gate.spacing import mean_spacing
from ....tracker.points import AXES
from ..layers.layer_movie import LayerMovie

Place = tuple[int, list[float]]
"""Frame, and z, y, x or y, x, in the steps of the tracks."""
_HALF_A_VOXEL = 0.5  # in which a click cannot tell two particles apart; in 2D it is in the middle of a plane


@dataclass(frozen=True)
class Ground:
    """What particles are placed on.

    Attributes
    ----------
    movie : LayerMovie or None
        That they lie over.
    found_with : DetectSettings or None
        How particles were found in it; None also where their diameter is not known.
    lacks : int, str or None
        The series that they were found in, by number or name, where the movie is another one of its file.
    """

    movie: LayerMovie | None
    found_with: DetectSettings | None
    lacks: int | str | None = None

    @property
    def diameter(self) -> float | None:
        """Of a particle, in the calibration's unit; None where it is not known."""
        return None if self.found_with is None else self.found_with.known_diameter


@dataclass(frozen=True)
class Noted:
    """What an act did, and a sentence that is to be said of it, with a space before it; empty for none."""

    change: Change
    note: str


def adding(edits: EditSession, ground: Ground, place: Place) -> tuple[dict[str, Any], str]:
    """Return the act that adds the particle meant by a place: at the peak there, or, if that is one, at the place.

    With it goes why it is not at a peak, as in `Noted`.

    Raises
    ------
    InvalidEdit
        If the place is outside the movie, or of another particle, or the movie is of another series.
    """
    _require_inside(ground, place)
    _require_room(edits, place)
    meant = _meant(ground, place)
    is_taken = _particle_at(edits, (place[0], meant[0]["position"])) is not None
    note = ""
    if is_taken:
        note = " The nearest peak is of another particle: placed exactly at the mouse."
    elif "measures" in meant[0] and len(meant) == 1:
        note = " No peak is near: placed exactly at the mouse (P moves it)."
    return {"act": "add_detection", "frame": place[0], **meant[-1 if is_taken else 0]}, note


def moving(
    edits: EditSession, ground: Ground, detection: int, position: list[float], others: Collection[int] = ()
) -> dict[str, Any]:
    """Return the act that moves a particle exactly to a position; `others` move with it. Raises as `adding`."""
    place = edits.frame(detection), position
    _require_inside(ground, place)
    _require_room(edits, place, {detection, *others})
    return {"act": "move_detection", "detection": detection, **_meant(ground, place)[-1]}


def add_particle(edits: EditSession, *, ground: Ground, place: Place) -> Noted:
    """Add a particle; see `adding`."""
    act, note = adding(edits, ground, place)
    return Noted(edits.replay([act])[0], note)


def move_particle(edits: EditSession, detection: int, *, ground: Ground, position: list[float]) -> Change:
    """Move a particle; see `moving`."""
    return edits.replay([moving(edits, ground, detection, position)])[0]


def edit_particles(
    edits: EditSession, *detections: int, ground: Ground, moved_to: Sequence[list[float]], placed: Sequence[Place]
) -> Noted:
    """Delete particles, move the last ones of them to other positions instead, and add some, as one act."""
    gone, moved = detections[: len(detections) - len(moved_to)], detections[len(detections) - len(moved_to) :]
    acts: list[dict[str, Any]] = [{"act": "delete_detection", "detection": detection} for detection in gone]
    acts += [moving(edits, ground, one, to, moved) for one, to in zip(moved, moved_to, strict=True)]
    added = [adding(edits, ground, place) for place in placed]
    acts += [act for act, _ in added]
    if len(acts) > 1:
        return Noted(edits.together(acts), "")
    return Noted(edits.replay(acts)[0], "".join(note for _, note in added))


def merge_particles(edits: EditSession, one: int, other: int, *, ground: Ground) -> Change:
    """Merge two particles that can be one.

    Raises
    ------
    InvalidEdit
        If they are farther apart than a particle is wide, or, where that is not known, than neighbours are.
    """
    distance = apart(edits, edits.position(one), edits.position(other))
    most, what = ground.diameter, "the diameter of a particle"
    if most is None:
        most, what = mean_spacing(edits.begun.tracks), "the mean distance between neighbours"
    if most is not None and distance > most * (1 + 1e-9):
        unit = edits.begun.tracks.calibration.unit
        raise InvalidEdit(
            f"These two are {in_unit(unit, distance)} apart, more than {what} ({in_digits(most)}): "
            "too far to be one particle."
        )
    return edits.merge_detections([one, other])


def _require_inside(ground: Ground, place: Place) -> None:
    if ground.lacks is not None:
        raise InvalidEdit(
            f"These particles are of series {ground.lacks} of their file, and the image here is of another one: open "
            "that one before you add or move any."
        )
    if ground.movie is None:
        return
    names = "frame", *AXES[-ground.movie.ndim :]
    sizes = len(ground.movie.data), *ground.movie.whole_shape
    for name, at, size in zip(names, (place[0], *place[1]), sizes, strict=True):
        if not -0.5 <= at <= size - 0.5:
            raise InvalidEdit(f"This place is outside the movie: {name} {at:.0f} is not within 0 to {size - 1}.")


def _require_room(edits: EditSession, place: Place, own: Collection[int] = ()) -> None:
    other = _particle_at(edits, place, own)
    if other is not None:
        distance, unit = apart(edits, place[1], edits.position(other)), edits.begun.tracks.calibration.unit
        raise InvalidEdit(f"There is a particle here already, {in_unit(unit, distance, 2)} from this place.")


def _particle_at(edits: EditSession, place: Place, own: Collection[int] = ()) -> int | None:
    """Return the particle within half a voxel, along each axis, of a place; None where there is none."""
    frame, position = place
    radius = float(np.linalg.norm(edits.begun.tracks.calibration.scale_for(len(position)))) / 2
    near = (other for other in edits.near(frame, position, radius) if other not in own)
    return next((o for o in near if np.abs(np.subtract(position, edits.position(o))).max() <= _HALF_A_VOXEL), None)


def apart(edits: EditSession, position: Sequence[float], other: Sequence[float]) -> float:
    """Return how far two positions are apart, in the calibration's unit."""
    steps = edits.begun.tracks.calibration.scale_for(len(position))
    return float(np.linalg.norm(np.subtract(position, other) * steps))


def _meant(ground: Ground, place: Place) -> list[dict[str, Any]]:
    """Return `position` and `measures` of what is meant by a place: the peak there, if there is one, then the place."""
    frame, position = place
    if ground.movie is None or ground.found_with is None:
        return [{"position": position}]
    scale, axes = ground.movie.calibration.scale_for(ground.movie.ndim), list(AXES[-ground.movie.ndim :])
    found = particles_at(ground.movie.frame(frame), ground.found_with, scale, np.array(position))
    positions, measures = found[axes].to_numpy().tolist(), found.drop(columns=axes).to_dict("records")
    return [{"position": at, "measures": of} for at, of in zip(positions, measures, strict=True)]
