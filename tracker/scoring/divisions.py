"""Divisions found within some frames of the real ones.

A division is right when its cell is the real one and both daughters are. One that comes some frames early or late is
right when, walked back to the frame of the earlier one, the mothers are the same cell and both daughters of the earlier
one lead to descendants of the other's mother (as traccuracy's `DivisionMetrics` has it).
"""

from __future__ import annotations

from .agreement import Agreement
from .comparison import Comparison
from .lineages import Lineages


def score_divisions(comparison: Comparison, frame_tolerance: int = 0) -> Agreement:
    """Count divisions: real, found, and found within `frame_tolerance` frames of the real ones."""
    found, real = comparison.found, comparison.real
    correct = sum(_is_right(comparison, mother) for mother in real.dividing.tolist())
    dividing, really = set(found.dividing.tolist()), set(real.dividing.tolist())
    spurious = [mother for mother in sorted(dividing) if int(comparison.match[mother]) not in really]
    missed = [mother for mother in sorted(really) if int(comparison.inverse[mother]) not in dividing]
    shifted = _pair_shifted(comparison, spurious, missed, frame_tolerance)
    return Agreement(real=len(really), predicted=len(dividing), correct=correct + shifted)


def _is_right(comparison: Comparison, mother: int) -> bool:
    """Whether the cell of a real division divides where it was found, with both daughters."""
    twin = int(comparison.inverse[mother])
    if twin < 0 or comparison.found.out_degree[twin] < 2:
        return False
    daughters = set(comparison.found.successors(twin))
    return all(int(comparison.inverse[daughter]) in daughters for daughter in comparison.real.successors(mother))


def _pair_shifted(comparison: Comparison, spurious: list[int], missed: list[int], frame_tolerance: int) -> int:
    """Pair spurious divisions with missed ones, the nearest in time first, and count the pairs."""
    turned, when, truly_when = comparison.turned(), comparison.found.frame, comparison.real.frame
    shifts = sorted(
        (abs(int(when[mother] - truly_when[twin])), mother, twin)
        for mother in spurious
        for twin in missed
        if 0 < abs(int(when[mother] - truly_when[twin])) <= frame_tolerance
    )
    paired: set[int] = set()
    explained: set[int] = set()
    for _, mother, twin in shifts:
        if mother in paired or twin in explained:
            continue
        early = when[mother] < truly_when[twin]
        if _is_same(comparison, mother, twin) if early else _is_same(turned, twin, mother):
            paired.add(mother)
            explained.add(twin)
    return len(paired)


def _is_same(comparison: Comparison, early: int, late: int) -> bool:
    """Whether a division of `found` is the later one of `real`."""
    mother = int(comparison.match[early])
    if mother < 0 or mother not in _ancestors(comparison.real, late, int(comparison.found.frame[early])):
        return False
    return all(_leads_to(comparison, daughter, mother) for daughter in comparison.found.successors(early))


def _leads_to(comparison: Comparison, daughter: int, mother: int) -> bool:
    """Whether a daughter, followed to her own division or end, is once found to descend from `mother`."""
    while True:
        twin = int(comparison.match[daughter])
        if twin >= 0 and mother in _ancestors(comparison.real, twin, int(comparison.real.frame[mother])):
            return True
        after = comparison.found.successors(daughter)
        if len(after) != 1:
            return False
        daughter = after[0]


def _ancestors(lineages: Lineages, node: int, since: int) -> set[int]:
    """Return a node and all that it descends from, back to a frame."""
    seen, waiting = {node}, [node]
    while waiting:
        for before in lineages.predecessors(waiting.pop()):
            if before not in seen and lineages.frame[before] >= since:
                seen.add(before)
                waiting.append(before)
    return seen
