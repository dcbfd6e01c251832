"""What is plotted of one track: position, speed and intensity over time, and what `auctrack measure` tells of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....tracker.measuring.displacements import measure_displacements
from ....tracker.measuring.measures import measure_units
from ....tracker.measuring.msd import mean_squared_displacement
from ....tracker.measuring.velocity import velocity_correlation
from ....tracker.points import Tracks

_INTENSITY = ("intensity", "mean_intensity", "quality")


@dataclass(frozen=True)
class Curve:
    """One line of a plot."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Plot:
    """One plot: lines over an x axis, both named with their units."""

    title: str
    x_label: str
    curves: tuple[Curve, ...]


MOST_PLOTS = 6
"""How many plots a track has at most."""


def plots_of(tracks: Tracks, track_id: int) -> tuple[Plot, ...]:
    """Return the plots of one track; intensity only where the particles have one."""
    table = tracks.table[tracks.table["track_id"] == track_id].sort_values("frame")
    one = replace(tracks, table=table, parents={})
    calibration, units = tracks.calibration, measure_units(tracks.calibration)
    frames = one.frames
    time = frames * (calibration.frame_interval or 1.0)
    over_time = f"time ({units['duration']})"
    position = one.positions
    moved = position - position[0] if len(position) else position
    lines = tuple(Curve(axis, time, moved[:, k]) for k, axis in enumerate(one.axes))
    plots = [Plot(f"position from its start ({calibration.unit})", over_time, lines)]
    if len(time) > 1:
        step = np.linalg.norm(np.diff(position, axis=0), axis=1) / np.diff(time)
        middle = (time[1:] + time[:-1]) / 2
        plots.append(Plot(f"speed ({units['mean_speed']})", over_time, (Curve("speed", middle, step),)))
        msd = mean_squared_displacement(one)
        curve = Curve("MSD", msd["lag_time"].to_numpy(), msd["msd"].to_numpy())
        plots.append(Plot(f"mean squared displacement ({units['msd']})", f"lag ({units['lag_time']})", (curve,)))
        plots += _of_steps(one, units)
    name = next((name for name in _INTENSITY if name in table.columns), None)
    if name is not None:
        plots.append(
            Plot(name.replace("_", " "), over_time, (Curve(name, time, table[name].to_numpy(dtype=np.float64)),))
        )
    return tuple(plots)


def _of_steps(one: Tracks, units: dict[str, str]) -> list[Plot]:
    """Return what the steps of a track from frame to frame tell; nothing where it has none."""
    bins = measure_displacements(one, one.frame_step)
    if not len(bins):
        return []
    lags = velocity_correlation(one)
    correlation = Curve("correlation", lags["lag_time"].to_numpy(), lags["correlation"].to_numpy())
    along = {axis: bins.loc[bins["axis"] == axis, ["displacement", "density"]].to_numpy() for axis in one.axes}
    densities = tuple(Curve(axis, *bins_of_axis.T) for axis, bins_of_axis in along.items())
    displacement = f"displacement in a frame ({units['displacement']})"
    return [
        Plot(f"velocity correlation ({units['correlation']})", f"lag ({units['lag_time']})", (correlation,)),
        Plot(f"density ({units['density']})", displacement, densities),
    ]
