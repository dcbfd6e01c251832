"""Seeded movies with known links."""

import numpy as np
import pandas as pd
from scipy.spatial import cKDTree

from auctrack.tracker.points import Points


def walks(
    n=400, frames=8, *, step=0.45, persistence=0.9, missed=0.05, false=0.05, ndim=3, seed=0, walls=False
) -> tuple[Points, np.ndarray]:
    """Persistent random walks at density 1, and who each detection is (-1: nobody); walls turn them back."""
    rng = np.random.default_rng(seed)
    edge = n ** (1 / ndim)
    position = rng.uniform(0, edge, (n, ndim))
    sigma = 0.55 * step / np.sqrt(8 / np.pi)
    velocity = rng.normal(0, sigma, (n, ndim))
    parts, names = [], []
    for frame in range(frames):
        seen = rng.random(n) >= missed
        clutter = rng.uniform(0, edge, (rng.poisson(false * n), ndim))
        found = np.vstack([position[seen], clutter])
        order = rng.permutation(len(found))
        parts.append(pd.DataFrame(found[order], columns=list("zyx")[-ndim:]).assign(frame=frame))
        names.append(np.concatenate([np.flatnonzero(seen), np.full(len(clutter), -1)])[order])
        velocity = persistence * velocity + np.sqrt(1 - persistence**2) * rng.normal(0, sigma, (n, ndim))
        position = position + velocity
        if walls:
            outside = (position < 0) | (position > edge)
            velocity = np.where(outside, -velocity, velocity)
            position = np.where(outside, 2 * np.clip(position, 0, edge) - position, position)
    return Points(pd.concat(parts, ignore_index=True)), np.concatenate(names)


def caged(
    n=400, frames=16, *, jump=0.01, shear=0.0, missed=0.0, false=0.0, ndim=3, seed=0
) -> tuple[Points, np.ndarray, np.ndarray]:
    """Particles of a disordered packing at density 1, each in a cage a twentieth as wide.

    A share of them jumps at each step, by .4 to 1.2, to where most room is among the others; all are sheared along x,
    to and fro, by up to `shear` for each 1 along y.

    Returns
    -------
    points : Points
    names : int (detections,)
        Who each is; -1: nobody.
    jumped : bool (detections,)
        Which of them have just jumped.
    """
    rng, edge = np.random.default_rng(seed), n ** (1 / ndim)
    site = rng.uniform(0, edge, (n, ndim))
    for _ in range(30):
        near, far = cKDTree(site).query_pairs(1.0, output_type="ndarray").T
        apart = site[far] - site[near]
        push = apart * (0.25 / np.linalg.norm(apart, axis=1, keepdims=True) - 0.25)
        np.add.at(site, far, push)
        np.subtract.at(site, near, push)
    at, who, numbers, jumps = [], [], [], []
    for frame in range(frames):
        jumps_now = np.flatnonzero(rng.random(n) < jump * (frame > 0))
        way = rng.normal(size=(len(jumps_now), 10, ndim))
        way *= rng.uniform(0.4, 1.2, (len(jumps_now), 10, 1)) / np.linalg.norm(way, axis=2, keepdims=True)
        to = site[jumps_now, None] + way
        room = cKDTree(site).query(to)[0] * ((to > 0) & (to < edge)).all(axis=2)
        site[jumps_now] = to[np.arange(len(to)), room.argmax(axis=1)]
        place = site + rng.normal(0, 0.05, site.shape)
        place[:, -1] += shear * np.sin(frame) * (place[:, -2] - edge / 2)
        seen = np.flatnonzero(rng.random(n) >= missed)
        clutter = rng.uniform(0, edge, (rng.poisson(false * n), ndim))
        at += [place[seen], clutter]
        who += [seen, np.full(len(clutter), -1)]
        jumps += [np.isin(seen, jumps_now), np.zeros(len(clutter), bool)]
        numbers.append(np.full(len(seen) + len(clutter), frame))
    return table(np.concatenate(numbers), np.vstack(at)), np.concatenate(who), np.concatenate(jumps)


def in_view(n=300, frames=8, **moving) -> tuple[Points, np.ndarray]:
    """What is seen of `walks` in a window of some n particles inside their field, through which they come and go."""
    points, names = walks(int(2.2 * n), frames, **moving)
    away = np.abs(points.positions - np.median(points.positions, axis=0))
    seen = (away < n ** (1 / points.ndim) / 2).all(axis=1)
    return table(points.frames[seen], points.positions[seen]), names[seen]


def dividing(
    n=250, frames=10, *, step=0.3, rate=0.03, apart=0.15, missed=0.02, false=0.02, seed=0
) -> tuple[Points, np.ndarray, dict[int, list[int]]]:
    """Persistent random walks that divide, who each detection is (-1: nobody), and the parent of each daughter.

    Daughters appear in the frame after their mother was last there, `apart` (root mean square per axis) from her.
    """
    rng = np.random.default_rng(seed)
    edge, sigma = n ** (1 / 3), 0.55 * step / np.sqrt(8 / np.pi)
    position, velocity = rng.uniform(0, edge, (n, 3)), rng.normal(0, sigma, (n, 3))
    who, parents, known = np.arange(n), dict[int, list[int]](), n
    at, numbers, names = [], [], []
    for frame in range(frames):
        seen = rng.random(len(who)) >= missed
        clutter = rng.uniform(0, edge, (rng.poisson(false * n), 3))
        at.append(np.vstack([position[seen], clutter]))
        names.append(np.append(who[seen], np.full(len(clutter), -1)))
        numbers.append(np.full(len(at[-1]), frame))
        velocity = 0.9 * velocity + np.sqrt(1 - 0.81) * rng.normal(0, sigma, velocity.shape)
        position = position + velocity
        divides = rng.random(len(who)) < rate
        mothers, old = who[divides], position[divides]
        away = rng.normal(0, apart, old.shape)
        daughters = known + np.arange(2 * len(mothers))
        known += len(daughters)
        parents |= {int(d): [int(m)] for d, m in zip(daughters, np.repeat(mothers, 2), strict=True)}
        beside = np.stack([old + away, old - away], axis=1).reshape(-1, 3)
        position = np.vstack([position[~divides], beside])
        velocity = np.vstack([velocity[~divides], np.repeat(velocity[divides], 2, axis=0)])
        who = np.append(who[~divides], daughters)
    return table(np.concatenate(numbers), np.vstack(at)), np.concatenate(names), parents


def stirred(n=1000, frames=6, *, own=0.05, flow=0.9, seed=1) -> tuple[Points, np.ndarray]:
    """Random walks in a smooth flow at density 1, and who each detection is; `own`, `flow`: root mean square steps."""
    rng = np.random.default_rng(seed)
    edge = n ** (1 / 3)
    wave = rng.integers(-1, 2, (6, 3)) * 2 * np.pi / edge
    phase, speed = rng.uniform(0, 2 * np.pi, 6), rng.normal(size=(6, 3))
    position = rng.uniform(0, edge, (n, 3))
    scale = flow / np.sqrt(((np.cos(position @ wave.T + phase) @ speed) ** 2).sum(axis=1).mean())
    parts, names = [], []
    for _ in range(frames):
        seen = np.flatnonzero(rng.random(n) >= 0.05)
        parts.append(position[seen])
        names.append(seen)
        position = position + scale * np.cos(position @ wave.T + phase) @ speed
        position = position + rng.normal(0, own / np.sqrt(3), (n, 3))
    return table(np.repeat(np.arange(frames), [len(part) for part in parts]), np.vstack(parts)), np.concatenate(names)


def forty_divide() -> Points:
    """Ten frames of 120 particles that stay; rows 480 to 519, the first forty of frame 4, are mothers of two each."""
    rng = np.random.default_rng(4)
    mothers = rng.uniform(0, 12, (120, 3))
    apart = rng.normal(0, 0.2, (40, 3))
    before = [mothers + rng.normal(0, 0.03, mothers.shape) for _ in range(5)]
    later = np.vstack([mothers[40:], mothers[:40] + apart, mothers[:40] - apart])
    after = [later + rng.normal(0, 0.03, later.shape) for _ in range(5)]
    return table(np.repeat(np.arange(10), [120] * 5 + [160] * 5), np.vstack(before + after))


def table(frames, positions) -> Points:
    """Points from frame numbers and (n, 2) or (n, 3) positions."""
    positions = np.asarray(positions, dtype=np.float64)
    axes = list("zyx")[-positions.shape[1] :]
    return Points(pd.DataFrame(positions, columns=axes).assign(frame=np.asarray(frames)))


def f1(points: Points, names: np.ndarray, source, target) -> float:
    """F1 of the links between consecutive frames."""
    frames = points.frames
    consecutive = frames[target] - frames[source] == 1
    source, target = np.asarray(source)[consecutive], np.asarray(target)[consecutive]
    right = int(((names[source] >= 0) & (names[source] == names[target])).sum())
    real = set(zip(frames[names >= 0].tolist(), names[names >= 0].tolist(), strict=True))
    return 2 * right / (len(source) + sum((frame + 1, name) in real for frame, name in real))


def through_walls(
    path: np.ndarray, edge: float, *, missed: float = 0.0, false: float = 0.0, seed: int = 0
) -> tuple[Points, np.ndarray]:
    """Particles of a box whose opposite walls are one, and who each detection is (-1: nobody).

    `path` (frames, n, d) goes on through the walls; a particle that comes back on the other side is another one.
    """
    rng = np.random.default_rng(seed)
    frames, n, ndim = path.shape
    who = np.column_stack([np.tile(np.arange(n), frames), np.floor(path / edge).reshape(-1, ndim)])
    names = np.ravel(np.unique(who, axis=0, return_inverse=True)[1])
    seen = rng.random(len(names)) >= missed
    clutter = rng.poisson(false * n, frames)
    place = np.concatenate([(path % edge).reshape(-1, ndim)[seen], rng.uniform(0, edge, (clutter.sum(), ndim))])
    frame = np.concatenate([np.repeat(np.arange(frames), n)[seen], np.repeat(np.arange(frames), clutter)])
    return table(frame, place), np.concatenate([names[seen], np.full(clutter.sum(), -1)])


def vortices(n=1000, frames=8, *, step=0.5, missed=0.05, false=0.05, seed=0) -> tuple[Points, np.ndarray]:
    """Tracers of steady vortices at density 1, one period of them in view, and who each detection is (-1: nobody)."""
    edge, substeps = n ** (1 / 3), 8
    wave, scale = 2 * np.pi / edge, step / np.sqrt(3) / substeps  # root mean square of an ABC flow of A = B = C = 1

    def flow(place: np.ndarray) -> np.ndarray:
        return scale * (np.sin(wave * np.roll(place, 1, axis=1)) + np.cos(wave * np.roll(place, -1, axis=1)))

    path = [np.random.default_rng(seed).uniform(0, edge, (n, 3))]
    for _ in range(substeps * (frames - 1)):
        path.append(path[-1] + flow(path[-1] + flow(path[-1]) / 2))
    return through_walls(np.array(path[::substeps]), edge, missed=missed, false=false, seed=seed)


def packing(n=600, ndim=3, seed=0) -> tuple[np.ndarray, float]:
    """Spheres of several sizes, diameter 1 in the mean, pushed apart until none overlap; and the edge of their box.

    Opposite walls of it are one. They fill .55 of space, and .78 of the plane.
    """
    rng = np.random.default_rng(seed)
    radius = 0.5 * np.clip(rng.normal(1, 0.07, n), 0.8, 1.2)
    edge = float((4 / 3 * np.pi * radius**3 if ndim == 3 else np.pi * radius**2).sum() / (0.55 if ndim == 3 else 0.78))
    edge **= 1 / ndim
    place = rng.uniform(0, edge, (n, ndim))
    for _ in range(1000):
        i, j = cKDTree(place, boxsize=edge).query_pairs(2 * radius.max(), output_type="ndarray").T
        apart = place[i] - place[j]
        apart -= edge * np.round(apart / edge)
        distance = np.linalg.norm(apart, axis=1)
        overlap = np.maximum(radius[i] + radius[j] - distance, 0)
        if overlap.max() < 0.01:
            break
        push, away = (apart * (0.45 * overlap / distance)[:, None]), np.zeros_like(place)
        np.add.at(away, i, push)
        np.add.at(away, j, -push)
        place = (place + away) % edge
    return place, edge


def crystal(kind: str, edge: float) -> np.ndarray:
    """Places of a crystal, turned a little, nearest neighbours 1 apart, in a cube or square and well around it."""
    cells = {
        "square": np.eye(2),
        "hexagonal": np.array([[1, 0], [0.5, np.sqrt(0.75)]]),
        "fcc": np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]]) / np.sqrt(2),
    }
    cell = cells[kind]
    steps = np.arange(-int(2 * edge), int(3 * edge))
    place = np.stack(np.meshgrid(*[steps] * len(cell), indexing="ij"), axis=-1).reshape(-1, len(cell)) @ cell
    cos, sin = np.cos(0.3), np.sin(0.3)
    place[:, -2:] = place[:, -2:] @ np.array([[cos, -sin], [sin, cos]])
    return place[((place > -0.5 * edge) & (place < 1.5 * edge)).all(axis=1)]


def passing(
    places: np.ndarray, edge: float, shift: np.ndarray, *, jitter=0.03, missed=0.02, false=0.0, seed=0
) -> tuple[Points, np.ndarray]:
    """What a fixed field of this edge sees of particles that move as one, and who each detection is (-1: nobody).

    `shift` (frames, d) is where they are in each frame; `jitter` (standard deviation) is what each has beside it.
    """
    rng = np.random.default_rng(seed)
    at, names = [], []
    for away in shift:
        place = places + away + rng.normal(0, jitter, places.shape)
        seen = np.flatnonzero(((place > 0) & (place < edge)).all(axis=1) & (rng.random(len(place)) >= missed))
        clutter = rng.uniform(0, edge, (rng.poisson(false * len(seen)), places.shape[1]))
        at.append(np.vstack([place[seen], clutter]))
        names.append(np.append(seen, np.full(len(clutter), -1)))
    return table(np.repeat(np.arange(len(at)), [len(each) for each in at]), np.vstack(at)), np.concatenate(names)
