"""Movies of dividing cells and what a faulty tracker makes of them, for tests of scores."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pandas as pd

from auctrack.tracker.points import Tracks

Graph = tuple[list[tuple[int, float, float, float]], list[tuple[int, int]]]
"""Nodes (frame, z, y, x), and edges between them."""


def dividing_cells(rng: np.random.Generator, cells: int = 6, frames: int = 12, divides: float = 0.12) -> Graph:
    """Cells that walk, divide at random and die at times."""
    nodes: list[tuple[int, float, float, float]] = []
    edges: list[tuple[int, int]] = []

    def grow(frame: int, place: np.ndarray, mother: int | None) -> None:
        before, alone = mother, True
        while frame < frames and (alone or rng.random() > 0.03):
            nodes.append((frame, *place.tolist()))
            if before is not None:
                edges.append((before, len(nodes) - 1))
            before, frame, alone = len(nodes) - 1, frame + 1, False
            place = place + rng.normal(0, 0.5, 3)
            if rng.random() < divides and frame < frames:
                for side in (-2.0, 2.0):
                    grow(frame, place + np.array((0, side, 0)), before)
                return

    for _ in range(cells):
        grow(int(rng.integers(0, 3)), rng.random(3) * 40, None)
    return nodes, edges


def spoiled(rng: np.random.Generator, truth: Graph) -> Graph:
    """The same with noise, missed and invented detections, broken, exchanged and invented links, late divisions."""
    nodes, edges = truth
    kept = [node for node in range(len(nodes)) if rng.random() > 0.05]
    number = {node: new for new, node in enumerate(kept)}
    found = [(nodes[node][0], *(np.array(nodes[node][1:]) + rng.normal(0, 0.3, 3)).tolist()) for node in kept]
    links = {(number[a], number[b]) for a, b in edges if a in number and b in number and rng.random() > 0.06}
    found += [(int(rng.integers(0, 12)), *(rng.random(3) * 40).tolist()) for _ in range(len(found) // 12)]
    followers = defaultdict(list)
    for a, b in sorted(links):
        followers[a].append(b)
    for mother, daughters in sorted(followers.items()):
        if len(daughters) == 2 and rng.random() < 0.4:  # a division that comes a frame late
            late = followers.get(daughters[0], [])
            if len(late) == 1:
                links -= {(mother, daughters[1])}
                links |= {(daughters[0], after) for after in followers.get(daughters[1], [])}
                links -= {(daughters[1], after) for after in followers.get(daughters[1], [])}
    entered = {b for _, b in links}
    for target in range(len(found)):
        if target not in entered and rng.random() < 0.4:
            before = [node for node in range(len(found)) if found[node][0] == found[target][0] - 1]
            if before:
                links.add((before[int(rng.integers(len(before)))], target))
    out: dict[int, int] = defaultdict(int)
    chosen = []
    for a, b in sorted(links):
        out[a] += 1
        if out[a] <= 2:
            chosen.append((a, b))
    return found, chosen


def as_tracks(graph: Graph) -> Tracks:
    """Name the paths between divisions and merges as tracks."""
    nodes, edges = graph
    followers, before = defaultdict(list), defaultdict(list)
    for a, b in edges:
        followers[a].append(b)
        before[b].append(a)
    track, parents = np.full(len(nodes), -1, dtype=np.int64), {}
    for node in sorted(range(len(nodes)), key=lambda node: nodes[node][0]):
        mothers = before[node]
        if len(mothers) == 1 and len(followers[mothers[0]]) == 1:
            track[node] = track[mothers[0]]
            continue
        track[node] = track.max(initial=-1) + 1
        if mothers:
            parents[int(track[node])] = track[mothers].tolist()
    table = pd.DataFrame(nodes, columns=["frame", "z", "y", "x"]).assign(track_id=track)
    return Tracks(table, parents=parents)
