"""Notes on scores: tracks and truth that number frames, name particles or measure places differently."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...tracker.calibrating.digits import counted, in_digits, in_unit
from .notes import Named
from .setting_options import option_of

if TYPE_CHECKING:
    from ...tracker.points import Points
    from ...tracker.scoring.frame_shift import FrameShift

_FEW_KNOWN = 0.5
"""Share of the names of tracks that are in a truth, below which the two name particles differently."""


def on_tolerance(truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where detections count as right that are nearer to another real particle."""
    from ...tracker.linking.gate.spacing import mean_spacing

    spacing = mean_spacing(truth)
    if spacing is None or tolerance <= spacing / 2:
        return []
    unit = truth.calibration.unit
    return [
        f"the tolerance is more than half of the {in_unit(unit, spacing)} between real particles and their nearest "
        f"neighbours, so a detection may count for the wrong one; try {in_unit(unit, spacing / 2)} or less."
    ]


def on_frame_shift(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where tracks and truth do not number their frames alike."""
    from ...tracker.scoring.frame_shift import frame_shift

    return _on_numbers(tracks, truth, frame_shift(tracks, truth, tolerance), "within --tolerance of a real particle")


def on_frames_beyond(tracks: Points, truth: Points, named: Named = option_of) -> list[str]:
    """Return what is to be said of detections before and after the frames that the truth has."""
    known = truth.timeline.numbers or truth.frame_numbers
    if not len(known) or not len(tracks):
        return []
    first, last = int(known[0]), int(known[-1])
    beyond = int(((tracks.frames < first) | (tracks.frames > last)).sum())
    if not beyond:
        return []
    return [
        f"{counted(beyond, 'detection')} {'is' if beyond == 1 else 'are'} in frames that the truth, of frames {first} "
        f"to {last}, has not, and wrong by that. If only these were looked at for it, {named('frames')} "
        f"{first}:{last + 1} leaves the others out."
    ]


def on_names(tracks: Points, truth: Points) -> list[str]:
    """Return what is to be said where the `true_id` of tracks does not lead to particles of a truth."""
    from ...tracker.linking.gate.spacing import mean_spacing
    from ...tracker.scoring.frame_shift import frame_shift_by_name
    from ...tracker.scoring.names import real_names, real_particles, whole_numbers

    named = replace(tracks, table=tracks.table[tracks.table["true_id"] >= 0].reset_index(drop=True))
    real = real_particles(truth)
    if not len(named) or not len(real):
        return []
    known = float(np.isin(whole_numbers(named, "true_id"), real_names(real)).mean())
    if known < _FEW_KNOWN:
        return [
            f"only {known:.0%} of the detections that true_id says to be real are of particles that the truth has: the "
            "two tables seem to name particles differently. --tolerance judges by position, whatever the names."
        ]
    spacing = mean_spacing(real)
    shift = None if spacing is None else frame_shift_by_name(named, real, spacing)
    near = "" if spacing is None else f"within {in_unit(real.calibration.unit, spacing)}"
    return _on_numbers(tracks, truth, shift, f"{near} of the particle that true_id names")


def _on_numbers(tracks: Points, truth: Points, shift: FrameShift | None, where: str) -> list[str]:
    """Return what is said of other frame numbers by which more detections lie near real particles; None: of none."""
    if shift is None:
        return []
    first, first_real = tracks.frame_numbers[0], truth.frame_numbers[0]
    more = f"{abs(shift.frames)} {'more' if shift.frames > 0 else 'less'}"
    times, parts = shift.times.as_integer_ratio()
    other = [f"multiplied by {times}"] * (times > 1) + [f"divided by {parts}"] * (parts > 1)
    other += [more] * (shift.frames != 0)
    begin = "" if first == first_real else f"; the tracks begin with frame {first}, the truth with {first_real}"
    return [
        f"frames seem to be numbered differently: if the numbers of the tracks were {' and then '.join(other)}, "
        f"{shift.after:.0%} of their detections would lie {where} instead of {shift.before:.0%}, and far nearer"
        f"{begin}. Renumber one of the tables."
    ]


def on_truth_scale(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where a truth seems to be in another unit than it is taken to be in."""
    from ...tracker.scoring.truth_scale import truth_scale

    if (other := truth_scale(tracks, truth, tolerance)) is None:
        return []
    unit, sizes = truth.calibration.unit, ",".join(f"{size:g}" for size in other.scale)
    taken = "are lengths already" if set(other.scale) == {1.0} else "are in the voxels of the tracks"
    return [
        f"the positions of the truth seem to be in another unit: if they {taken} (in {unit}: --truth-voxel {sizes}), "
        f"{other.after:.0%} of the detections lie within --tolerance of a real particle instead of {other.before:.0%}."
    ]


def on_truth_axes(tracks: Points, truth: Points, tolerance: float) -> list[str]:
    """Return what is to be said where a truth seems to have its axes in another order, or to be mirrored."""
    from ...tracker.scoring.truth_axes import truth_axes

    if (other := truth_axes(tracks, truth, tolerance)) is None:
        return []
    order = ",".join(f"{axis}={name}" for axis, name in other.names.items())
    mirrored = " and ".join(f"{in_digits(total)} - {axis} in place of {axis}" for axis, total in other.mirrored.items())
    how = f"to have other axes: by its columns {order} (--truth-columns)" if order else f"to be mirrored: by {mirrored}"
    return [
        f"the truth seems {how}, {other.after:.0%} of the detections lie within --tolerance of a real particle instead "
        f"of {other.before:.0%}."
    ]
