"""Parts of a frame that is too large to be filtered as a whole: they overlap by what a filter reaches.

What a peak is and what is seen around it rests on the voxels within that reach alone. So each tile's own peaks are
those of the frame, to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """Some planes of a frame (of a 2D frame, rows).

    Attributes
    ----------
    held : slice
        What is filtered, in the frame.
    own : slice
        Of these the ones whose peaks are the tile's, in the tile: each plane is so of one tile.
    """

    held: slice
    own: slice


def tiles_of(depth: int, most: int | None, overlap: int) -> list[Tile]:
    """Cut a frame into tiles.

    Parameters
    ----------
    depth : int
        Planes of the frame.
    most : int or None
        Planes that are held at a time; more where twice the overlap and one plane are. None: all.
    overlap : int
        Planes on each side of a tile's own that these depend on.
    """
    if most is None or most >= depth:
        return [Tile(slice(0, depth), slice(0, depth))]
    step = max(most - 2 * overlap, 1)
    tiles: list[Tile] = []
    for first in range(0, depth, step):
        last = min(first + step, depth)
        begin, end = max(first - overlap, 0), min(last + overlap, depth)
        tiles.append(Tile(slice(begin, end), slice(first - begin, last - begin)))
    return tiles
