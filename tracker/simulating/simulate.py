"""Particles that wander through a box, and what a detector would report of them.

The movement is the biased and correlated random walk of Vasconcelos & Rosenhahn, "Bipartite graph matching
computation on GPU" (2009), section 6: a linear combination of the last step (the correlation vector) and a random
vector (the bias vector). The paper leaves the length of the bias vector open; here it is such that the mean step is
the same at every persistence, so that persistence alone is what a comparison varies.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Never

import numpy as np
import pandas as pd

from ..calibrating.calibration import Calibration
from ..calibrating.lengths import is_above_zero, is_size
from ..errors import InvalidSetting
from ..kinds import SIZE, TRUTH, Declared, declared_as, is_number, one_of, require_kinds
from ..points import AXES, Points, Tracks
from ..timeline import Timeline
from ..unknown_settings import KnownByName, required_settings

WALLS = ("reflect", "leave")


def _count(least: int) -> Declared:
    """Return the metadata of a whole number that no float can stand for: it sizes arrays, or seeds."""

    def fits(value: Any) -> bool:
        return isinstance(value, (int, np.integer)) and is_number(value) and bool(value >= least)

    return declared_as(f"a whole number of at least {least}", fits)


_SHARE = declared_as("a number from 0 to 1", lambda value: is_size(value) and value <= 1)


@dataclass(frozen=True, kw_only=True)
class SimulationSettings(KnownByName):
    """How many particles, how they move, and what the detector makes of them.

    Lengths are in µm and times in s; "spacing" is the mean nearest-neighbour distance of the particles in the box.

    Parameters
    ----------
    particles : int
        Particles in the first frame.
    frames : int
        Frames of the movie.
    ndim : int
        3, or 2 for a plane.
    spacing_um : float
        Mean nearest-neighbour distance; the box is the cube (or square) that gives it.
    box_um : tuple of float, optional
        Edges of the box (z, y, x), or (y, x) in 2D. When given it replaces `spacing_um`.
    persistence : float
        0 to 1, the share of the last step in the next one. 0: every step is new (Brownian motion); 1: straight lines.
        It is the correlation of successive steps.
    step : float
        Mean length of a step, in spacings.
    step_um : float, optional
        Mean length of a step in µm. When given it replaces `step`.
    walls : str
        "reflect": particles bounce off the walls. "leave": a particle that passes a wall is gone.
    death_rate : float
        Probability, 0 to 1, that a particle disappears between two frames.
    birth_rate : float
        Mean number of new particles between two frames, as a fraction of `particles`; anywhere in the box.
    keep_density : bool
        Replace every lost particle by a new one: one that died, by one anywhere in the box; one that left, by one that
        enters through the opposite wall at the same velocity: across a thin box linking may take the two for one that
        jumped. Needs `birth_rate` 0.
    missed : float
        Probability, 0 to 1, that the detector misses a particle in a frame.
    false : float
        Mean number of false detections in a frame, as a fraction of the particles in it; anywhere in the box.
    localisation_error_um : float or tuple of float
        Standard deviation of the detected about the true position, the same along every axis or one value an axis.
    frame_interval_s : float
        Time between two frames.
    seed : int
        The same settings and seed give the same particles. What the detector does never changes how they move.

    Raises
    ------
    InvalidSetting
        If a value is out of its range, or two of them contradict each other.
    """

    particles: int = field(default=1000, metadata=_count(1))
    frames: int = field(default=10, metadata=_count(1))
    ndim: int = field(default=3, metadata=declared_as("2 or 3", lambda value: value in (2, 3)))
    spacing_um: float = field(default=10.0, metadata=declared_as("a finite length above 0", is_above_zero))
    box_um: tuple[float, ...] | None = None
    persistence: float = field(default=0.9, metadata=_SHARE)
    step: float = field(default=0.3, metadata=SIZE)
    step_um: float | None = field(default=None, metadata=SIZE)
    walls: str = field(default="reflect", metadata=one_of(*WALLS))
    death_rate: float = field(default=0.0, metadata=_SHARE)
    birth_rate: float = field(default=0.0, metadata=SIZE)
    keep_density: bool = field(default=False, metadata=TRUTH)
    missed: float = field(default=0.0, metadata=_SHARE)
    false: float = field(default=0.0, metadata=SIZE)
    localisation_error_um: float | tuple[float, ...] = 0.0
    frame_interval_s: float = field(default=1.0, metadata=declared_as("a finite time above 0", is_above_zero))
    seed: int = field(default=0, metadata=_count(0))

    def __post_init__(self) -> None:
        require_kinds(self)
        if self.box_um is not None:
            fits = _are(self.box_um, is_above_zero, self.ndim)
            _need(fits, "box_um", f"{self.ndim} finite edges above 0 ({', '.join(self.axes)})", self.box_um)
        fits = not self.keep_density or self.birth_rate == 0
        _need(fits, "birth_rate", "0 beside keep_density, which replaces all that are lost", self.birth_rate)
        errors = self.localisation_error_um
        fits = is_size(errors) or _are(errors, is_size, 1) or _are(errors, is_size, self.ndim)
        wanted = f"one length of at least 0, or {self.ndim} ({', '.join(self.axes)})"
        _need(fits, "localisation_error_um", wanted, self.localisation_error_um)

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the spatial axes: ("z", "y", "x") or ("y", "x")."""
        return AXES[-self.ndim :]

    @property
    def box(self) -> np.ndarray:
        """Edges of the box in µm, float64 (ndim,)."""
        if self.box_um is not None:
            return np.asarray(self.box_um, dtype=np.float64)
        edge = self.spacing_um / _uniform_spacing(self.particles, 1.0, self.ndim)
        return np.full(self.ndim, edge)

    @property
    def mean_spacing_um(self) -> float:
        """Mean nearest-neighbour distance of so many uniform particles in a box of this volume, walls left aside."""
        return _uniform_spacing(self.particles, float(np.prod(self.box)), self.ndim)

    @property
    def mean_step_um(self) -> float:
        """Mean length of a step in µm."""
        return self.step * self.mean_spacing_um if self.step_um is None else self.step_um


@dataclass(frozen=True)
class Simulation:
    """What was there, and what a detector would report of it.

    Parameters
    ----------
    settings : SimulationSettings
    truth : Tracks
        Every particle in every frame, in µm; `track_id` counts from 0 in the order of appearance.
    detections : Points
        What the detector reports, in µm: some particles missed, some detections false, positions inexact. `true_id` is
        the particle's `track_id` in `truth`, -1 for a false detection. The rows of a frame are in random order.
    """

    settings: SimulationSettings
    truth: Tracks
    detections: Points


@dataclass
class _Swarm:
    """The particles alive: positions and velocities (µm, µm per frame), float64 (n, ndim); identities, int64 (n,)."""

    position: np.ndarray
    velocity: np.ndarray
    identity: np.ndarray
    born: int


def simulate(
    settings: SimulationSettings | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
    **misplaced: Never,
) -> Simulation:
    """Let particles move, and detect them.

    Parameters
    ----------
    settings : SimulationSettings, optional
    progress : callable, optional
        Called as ``progress(done, total)`` after every frame.
    **misplaced
        None: the message says where they go.

    Returns
    -------
    Simulation
        Truth and detections, sorted by frame.

    Notes
    -----
    A velocity component follows ``v' = p·v + (1 - p)·b`` with persistence p and bias b normal with the variance
    ``σ²·(1 + p)/(1 - p)``; its variance then stays σ², the mean step stays `mean_step_um`, and the correlation of steps
    k frames apart is pᵏ. In the code (1 - p)·b is drawn as a normal with σ·√(1 - p²), which holds at p = 1 too.
    """
    settings = required_settings(SimulationSettings, settings, misplaced, simulate, such_as="particles")
    movement, detector = np.random.default_rng(settings.seed).spawn(2)
    swarm = _Swarm(np.empty((0, settings.ndim)), np.empty((0, settings.ndim)), np.empty(0, dtype=np.int64), born=0)
    _give_birth(swarm, settings.particles, settings, movement)
    seen: list[pd.DataFrame] = []
    real: list[pd.DataFrame] = []
    for frame in range(settings.frames):
        if frame:
            _advance(swarm, settings, movement)
        real.append(_rows(frame, swarm.position, settings.axes, track_id=swarm.identity))
        position, identity = _detect(swarm, settings, detector)
        seen.append(_rows(frame, position, settings.axes, true_id=identity))
        if progress is not None:
            progress(frame + 1, settings.frames)
    calibration = Calibration(unit="µm", frame_interval=settings.frame_interval_s, time_unit="s")
    timeline = Timeline(1, tuple(range(settings.frames)))
    truth = Tracks(pd.concat(real, ignore_index=True), calibration, timeline=timeline)
    return Simulation(settings, truth, Points(pd.concat(seen, ignore_index=True), calibration, timeline=timeline))


def _advance(swarm: _Swarm, settings: SimulationSettings, rng: np.random.Generator) -> None:
    """Take the swarm to the next frame: some die, all others step, meet the walls, and new ones are born."""
    before = len(swarm.identity)
    _keep(swarm, rng.random(before) >= settings.death_rate)
    died = before - len(swarm.identity)
    p = settings.persistence
    bias = rng.normal(0.0, _speed_deviation(settings) * math.sqrt(1 - p * p), swarm.velocity.shape)
    swarm.velocity = p * swarm.velocity + bias
    swarm.position = swarm.position + swarm.velocity
    if settings.walls == "reflect":
        _reflect(swarm, settings.box)
    else:
        _leave(swarm, settings.box, replace=settings.keep_density)
    births = died if settings.keep_density else int(rng.poisson(settings.birth_rate * settings.particles))
    _give_birth(swarm, births, settings, rng)


def _reflect(swarm: _Swarm, box: np.ndarray) -> None:
    """Fold positions back into the box; a velocity component turns at every odd number of reflections."""
    crossings = np.floor(swarm.position / box)
    within = swarm.position - crossings * box
    odd = crossings % 2 == 1
    # The clip mends the last bit: a fold may round to just outside.
    swarm.position = np.clip(np.where(odd, box - within, within), 0.0, box)
    swarm.velocity = np.where(odd, -swarm.velocity, swarm.velocity)


def _leave(swarm: _Swarm, box: np.ndarray, *, replace: bool) -> None:
    """Remove particles that passed a wall; with `replace`, another particle comes in through the opposite wall."""
    inside = np.all((swarm.position >= 0) & (swarm.position <= box), axis=1)
    entering_position = np.clip(np.mod(swarm.position[~inside], box), 0.0, box)
    entering_velocity = swarm.velocity[~inside]
    _keep(swarm, inside)
    if replace:
        _append(swarm, entering_position, entering_velocity)


def _give_birth(swarm: _Swarm, births: int, settings: SimulationSettings, rng: np.random.Generator) -> None:
    """Add new particles anywhere in the box, at velocities of the stationary distribution."""
    position = rng.uniform(0.0, settings.box, (births, settings.ndim))
    _append(swarm, position, rng.normal(0.0, _speed_deviation(settings), (births, settings.ndim)))


def _append(swarm: _Swarm, position: np.ndarray, velocity: np.ndarray) -> None:
    identity = np.arange(swarm.born, swarm.born + len(position))
    swarm.born += len(position)
    swarm.position = np.concatenate([swarm.position, position])
    swarm.velocity = np.concatenate([swarm.velocity, velocity])
    swarm.identity = np.concatenate([swarm.identity, identity])


def _keep(swarm: _Swarm, stays: np.ndarray) -> None:
    swarm.position, swarm.velocity, swarm.identity = swarm.position[stays], swarm.velocity[stays], swarm.identity[stays]


def _detect(swarm: _Swarm, settings: SimulationSettings, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return detected positions (µm) and the particles they belong to (-1: none), in random order."""
    seen = rng.random(len(swarm.identity)) >= settings.missed
    found = swarm.position[seen]
    found = found + rng.normal(0.0, 1.0, found.shape) * np.asarray(settings.localisation_error_um)
    n_false = int(rng.poisson(settings.false * len(swarm.identity)))
    position = np.concatenate([found, rng.uniform(0.0, settings.box, (n_false, settings.ndim))])
    identity = np.concatenate([swarm.identity[seen], np.full(n_false, -1, dtype=np.int64)])
    order = rng.permutation(len(position))
    return position[order], identity[order]


def _rows(frame: int, position: np.ndarray, axes: tuple[str, ...], **identity: np.ndarray) -> pd.DataFrame:
    columns = {axis: position[:, i] for i, axis in enumerate(axes)}
    return pd.DataFrame({"frame": np.full(len(position), frame, dtype=np.int64), **columns, **identity})


def _speed_deviation(settings: SimulationSettings) -> float:
    """Standard deviation of one velocity component at which the mean length of the vector is the mean step."""
    half = settings.ndim / 2
    mean_length = math.sqrt(2) * math.gamma(half + 0.5) / math.gamma(half)
    return settings.mean_step_um / mean_length


def _uniform_spacing(n: int, volume: float, ndim: int) -> float:
    """Mean nearest-neighbour distance of n uniform points: Γ(1 + 1/d)·(V / (n·unit ball))^(1/d); 0.554 in 3D."""
    unit_ball = math.pi ** (ndim / 2) / math.gamma(ndim / 2 + 1)
    return math.gamma(1 + 1 / ndim) * (volume / (n * unit_ball)) ** (1 / ndim)


def _are(values: Any, fits: Callable[[Any], bool], count: int) -> bool:
    """Whether values are so many that each fit."""
    return np.ndim(values) == 1 and len(values) == count and all(map(fits, values))


def _need(holds: bool, name: str, wanted: str, got: object) -> None:
    if not holds:
        raise InvalidSetting(f"needs {wanted}; got {got!r}.", setting=name)
