"""The detections of a movie in the order of time, in units of their spacing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from .....matching.device import cuda
from .....matching.points.grid import build_grid
from ....points import Points
from ...gate.gpu_movie import DeviceMovie
from ...gate.spacing import nearest_two, spacing_of
from .rounding import NARROWEST, places_of, rounding_of
from .row_order import by_frame_and_place

NOT_BY_CHANCE = 7
"""Detections on either side of a frame without any from which it was not looked at: by chance one in e^7 is empty."""
SAMPLE = 4_000
"""Particles whose nearest neighbour is looked up to measure the spacing."""
GLANCE = 100_000
"""Detections, the first ones of the table, of which those of one frame say that a movie is not flat."""
NEAREST = {1: 0.5, 2: 0.5, 3: 0.5539602783}
"""Mean distance of nearest neighbours of uniform particles, times density^(1/d): what ties spacing to density."""
THIN = 1.0
"""Standard deviation along an axis, in spacings, below which borders are nearer than neighbours."""
LAYER = 2
"""Axes along which a layer spreads."""
PEAK = 0.285
"""Mean density along an axis times its standard deviation: .289 of what is spread evenly, .282 of a normal."""


@dataclass(frozen=True)
class Ordered:
    """Detections sorted by frame, and by the cell of a grid within a frame; of the axes those of `spread_axes`.

    Attributes
    ----------
    position : float64 (n, d)
        In spacings, less the drift of their frame.
    number : int64 (frames,)
        Frame numbers that have detections, in steps of the movie.
    starts : int64 (frames + 1,)
        Frame f owns the detections `starts[f]:starts[f+1]`.
    host_row : int64 (n,) or None
        `row`, where it is on the host from the start: None where positions are on a GPU.
    rank : int (n,)
        Place of each detection in `row_order.by_frame_and_place`, where positions are.
    spacing : float
        Mean distance of nearest neighbours within a frame, in the unit of the points.
    extent : float64 (d,)
        Of the whole movie, from 0 on, in spacings, before any drift is subtracted.
    drift : float64 (frames, d)
        What was subtracted from the positions of each frame, in spacings.
    log_density : float
        Log of the detections per unit of volume (spacing^d) that particles have around them.
    rounding : float64 (d,)
        Variance that rounding adds to displacements, in squared spacings; 0 along axes that are not rounded.
    grid : DeviceMovie or None
        Where positions are on a GPU, and with them what is learned: cells of their own, the drift off already. What is
        one per frame is on the host.
    repeats : bool
        Whether most frame pairs look the same moved by one of their spacings, of a whole movie whose drift was asked.
    """

    position: np.ndarray
    number: np.ndarray
    starts: np.ndarray
    host_row: np.ndarray | None
    rank: np.ndarray
    spacing: float
    extent: np.ndarray
    drift: np.ndarray
    log_density: float
    rounding: np.ndarray
    grid: DeviceMovie | None = None
    repeats: bool = False

    def __len__(self) -> int:
        return int(self.starts[-1])

    @property
    def ndim(self) -> int:
        """Spatial axes, 2 or 3."""
        return self.position.shape[1]

    @cached_property
    def row(self) -> np.ndarray:
        """Row of the points table behind each detection, int64 (n,), on the host."""
        if self.host_row is not None:
            return self.host_row
        assert self.grid is not None
        return cuda.to_host(self.grid.row).astype(np.int64)

    @cached_property
    def frame(self) -> np.ndarray:
        """Index into `number` of each detection, int32 (n,), where positions are."""
        sizes = np.asarray(np.diff(self.starts), like=self.position)
        return np.repeat(np.arange(len(self.number), dtype=np.int32, like=self.position), sizes)

    def of_each(self, values: np.ndarray) -> np.ndarray:
        """Return for each detection the value of its frame, where positions are."""
        return np.asarray(values, like=self.position)[self.frame]

    def of_frame(self, f: int) -> slice:
        """Return the detections of one frame."""
        return slice(int(self.starts[f]), int(self.starts[f + 1]))

    def part(self, first: int, last: int) -> Ordered:
        """Return the frames from `first` on, before `last`, where they are."""
        own = slice(int(self.starts[first]), int(self.starts[last]))
        frames = self.number[first:last] - self.number[:1]
        return Ordered(
            self.position[own],
            self.number[first:last],
            self.starts[first : last + 1] - own.start,
            None if self.host_row is None else self.host_row[own],
            self.rank[own],
            self.spacing,
            self.extent,
            self.drift[first:last],
            self.log_density,
            self.rounding,
            None if self.grid is None else self.grid.part(int(frames[0]), int(frames[-1]) + 1),
        )

    def boxed(self, inside: np.ndarray) -> Ordered:
        """Return the detections of a box that goes along with the drift, on the host; `inside` are they, ascending.

        Where it is cut particles come and go, as at the border of a field of view.
        """
        if len(inside) == len(self):
            return self
        position, starts = self.position[inside], np.searchsorted(inside, self.starts)
        position -= position.min(axis=0)
        is_held = np.diff(starts) > 0
        return replace(
            self,
            position=position,
            number=self.number[is_held],
            starts=np.append(starts[:-1][is_held], starts[-1]),
            host_row=self.row[inside],
            rank=self.rank[inside],
            extent=position.max(axis=0),
            drift=np.zeros_like(self.drift[is_held]),
        )

    def on_host(self) -> Ordered:
        """Return the same in the memory of the host."""
        if self.grid is None:
            return self
        position, rank = cuda.to_host(self.position), cuda.to_host(self.rank)
        return replace(self, position=position, host_row=self.row, rank=rank, grid=None)

    def frames_apart(self, lag: int) -> list[tuple[int, int]]:
        """Return the pairs of frames whose numbers differ by `lag` steps."""
        earlier, later = self.pairs_apart(lag)
        return list(zip(earlier.tolist(), later.tolist(), strict=True))

    def pairs_apart(self, lag: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the earlier and the later frames of `frames_apart`, int64 each."""
        if lag not in self._apart:
            later = np.searchsorted(self.number, self.number + lag)
            inside = later < len(self.number)
            hit = np.flatnonzero(inside)[self.number[later[inside]] == self.number[inside] + lag]
            self._apart[lag] = hit, later[hit]
        return self._apart[lag]

    @cached_property
    def looked(self) -> np.ndarray:
        """Like `number`, frames left out that cannot be empty by chance, int64 (frames,): nothing was missed there."""
        held = np.diff(self.starts)
        is_blank = np.minimum(held[:-1], held[1:]) >= NOT_BY_CHANCE
        return np.cumsum(np.append(0, np.where(is_blank, 1, np.diff(self.number))))

    def looks_apart(self, looks: int, lags: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the earlier and the later frames of those so many looks apart, and up to `lags` steps, int64 each."""
        later = np.searchsorted(self.looked, self.looked + looks)
        earlier = np.flatnonzero(later < len(self.number))
        later = later[earlier]
        is_one = self.looked[later] - self.looked[earlier] == looks
        is_one &= self.number[later] - self.number[earlier] <= lags
        return earlier[is_one], later[is_one]

    @cached_property
    def _apart(self) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """What `pairs_apart` found; every sweep asks for it several times."""
        return {}


def spread_axes(points: Points) -> int:
    """Return along how many axes, the last ones, particles spread: a z that all of a frame share is none.

    Programs for planar movies write such a z, with errors of rounding or the height of the stage among them. As an axis
    its steps of 0 would be likelier than any by chance, and so would be whatever link.
    """
    if points.ndim < 3 or len(points) == 0:
        return points.ndim
    z = points.table["z"].to_numpy()
    is_constant = z[0] == z[-1] and bool((z == z[0]).all())
    return 2 if is_constant or _is_flat(points) else 3


def _is_flat(points: Points) -> bool:
    """Whether particles of a frame differ in z by less than steps can be told apart (`NARROWEST`)."""
    first = points.positions_of(np.flatnonzero(points.frames[:GLANCE] == points.frames[0]))
    if first[:, 0].std() > NARROWEST * np.linalg.norm(np.ptp(first[:, 1:], axis=0)):
        return False  # no spacing is longer than that: of most movies a glance at one frame is enough
    numbers, cuts, order = points.by_frame()
    if len(numbers) == len(points):
        return False
    position = points.positions_of(slice(None) if order is None else order)
    mean = np.add.reduceat(position[:, 0], cuts[:-1]) / np.diff(cuts)
    z = position[:, 0] - np.repeat(mean, np.diff(cuts))
    spacing = _spacing(position, cuts, np.array([1, 2]))
    return float(np.sqrt((z**2).sum() / (len(points) - len(numbers)))) <= NARROWEST * spacing


def ordered(points: Points) -> Ordered:
    """Sort the detections of a movie by frame and place, and measure their spacing, on the axes they spread along."""
    ndim = spread_axes(points)
    row = by_frame_and_place(points.frames, [points.table[axis].to_numpy() for axis in points.axes[-ndim:]])
    numbers, starts = points.frame_numbers, np.append(0, np.cumsum(points.frame_sizes))
    rank = np.arange(len(row), dtype=np.int32)
    position = points.positions[row][:, -ndim:]
    spacing = _spacing(position, starts)
    position = (position - position.min(axis=0)) / spacing if len(row) else position
    extent = position.max(axis=0, initial=0.0)
    rounding = rounding_of(position, starts)
    for f in range(len(numbers)):
        own = slice(starts[f], starts[f + 1])
        place = build_grid(position[own], 1.0).order
        row[own], rank[own], position[own] = row[own][place], rank[own][place], position[own][place]
    number = (numbers - numbers[0]) // points.frame_step if len(numbers) else numbers
    still, density = np.zeros((len(numbers), ndim)), log_density_of(position, starts)
    return Ordered(position, number, starts, row, rank, spacing, extent, still, density, rounding)


def log_density_of(position: np.ndarray, starts: np.ndarray) -> float:
    """Return the log of the detections that particles have around them, per unit of volume (spacing^d).

    Parameters
    ----------
    position : float64 (n, d)
        In spacings, on the host or on a GPU.
    starts : int64 (frames + 1,)

    Notes
    -----
    The spacing says it, d log `NEAREST`, but where particles lie in a layer of hardly more than a spacing: there it
    says how many there are along the layer, and how thin that is says the rest, down to the narrowest that steps can be
    (`NARROWEST`): where a depth varies by its rounding alone, chance would otherwise be likelier than any link. Along a
    channel hardly anything but its width tells a daughter from a chance partner, so that it is left what the spacing
    says.
    """
    ndim, width = position.shape[1], np.maximum(_widths(position, starts), NARROWEST)
    is_thin = width < THIN
    is_wide = ~is_thin
    if not is_thin.any() or is_wide.sum() < LAYER:
        return ndim * float(np.log(NEAREST[ndim]))
    along = int(is_wide.sum())
    spacing = _spacing(position, starts, np.flatnonzero(is_wide))
    return along * float(np.log(NEAREST[along] / spacing)) + float(np.log(PEAK / width[is_thin]).sum())


def _widths(position: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Return the standard deviation of particles within a frame, float64 (d,), on frames spread over the movie."""
    squares, freedoms = np.zeros(position.shape[1]), 0
    for places in places_of(position, asked_for_spacing(starts)):
        squares += len(places) * places.var(axis=0)
        freedoms += len(places) - 1
    return np.sqrt(squares / max(freedoms, 1))


def _spacing(position: np.ndarray, starts: np.ndarray, axes: slice | np.ndarray = slice(None)) -> float:
    """Return the mean distance of nearest neighbours on frames spread over the movie; the extent, else 1, without.

    Positions on a GPU come to the host frame by frame; of some `axes` only these count.
    """
    nearest: list[np.ndarray] = []
    for asked in asked_for_spacing(starts):
        places = cuda.to_host(position[asked.start : asked.stop])[:, axes]
        nearest.append(nearest_two(places, asked.step))
    spacing = spacing_of(np.concatenate(nearest), position[:1, axes].shape[1]) if nearest else 0.0
    if spacing == 0.0 and len(position):
        spacing = float(np.linalg.norm(np.ptp(cuda.to_host(position), axis=0)[axes]))
    return spacing or 1.0


def asked_for_spacing(starts: np.ndarray) -> list[slice]:
    """Return, of frames spread over the movie, the ranks whose nearest neighbour is looked up, `SAMPLE` or so."""
    frames = np.flatnonzero(np.diff(starts) > 1)
    frames = frames[:: max(len(frames) // 50, 1)]
    begin, end = starts[frames], starts[frames + 1]
    stride = max(int((end - begin).sum()) // SAMPLE, 1)
    return [slice(a, b, stride) for a, b in zip(begin.tolist(), end.tolist(), strict=True)]
