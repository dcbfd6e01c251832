"""What can be done with the particles that were clicked last: how many each act takes, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ....tracker.editing.change import Change
from ....tracker.editing.session import Session as EditSession
from ....tracker.errors import InvalidEdit
from .corrections import Act
from .placing import merge_particles

Clicked = tuple[int, int]
"""Frame of a particle, and its row in the table of tracks."""


@dataclass(frozen=True)
class ClickedAct:
    """An act on the particles that were clicked last.

    Attributes
    ----------
    key : str
        As napari writes it.
    title : str
        In the menu.
    help : str
        What is to be clicked before.
    count : int
        How many it takes.
    take : callable
        Returns the rows that the act takes, in its order, of all clicked ones; None where they do not suit it.
    act : Act
    is_told_ground : bool
        Whether the act is told what particles lie on (`placing.Ground`).
    """

    key: str
    title: str
    help: str
    count: int
    take: Callable[[Sequence[Clicked]], tuple[int, ...] | None]
    act: Act
    is_told_ground: bool = False

    def what_to_click(self, clicked: Sequence[Clicked]) -> str:
        """Return what is to be clicked before, and why those that are clicked will not do."""
        said = f"{self.help}, then press {self.key.upper()}."
        if len(clicked) < self.count:
            return said
        *others, last = sorted({frame for frame, _ in clicked[-self.count :]})
        frames = f"frames {', '.join(map(str, others))} and {last}" if others else f"frame {last}"
        return f"{said} The last {self.count} clicked are in {frames}."


def _last(clicked: Sequence[Clicked]) -> tuple[int, ...] | None:
    return (clicked[-1][1],) if clicked else None


def _of_two_frames(clicked: Sequence[Clicked]) -> tuple[int, ...] | None:
    """Return the two clicked last, the earlier one first."""
    pair = sorted(clicked[-2:])
    return (pair[0][1], pair[1][1]) if len(pair) == 2 and pair[0][0] < pair[1][0] else None


def _of_one_frame(clicked: Sequence[Clicked]) -> tuple[int, ...] | None:
    """Return the two clicked last, the first one first."""
    pair = clicked[-2:]
    return (pair[0][1], pair[1][1]) if len(pair) == 2 and pair[0][0] == pair[1][0] else None


def _mother_first(clicked: Sequence[Clicked]) -> tuple[int, ...] | None:
    """Return the three clicked last, the earliest one first."""
    three = sorted(clicked[-3:])
    return tuple(row for _, row in three) if len(three) == 3 and three[0][0] < three[1][0] else None


def exchange_pasts(edits: EditSession, one: int, other: int) -> Change:
    """Exchange what leads to two detections of a frame: from there on each track goes on as the other one did.

    Raises
    ------
    InvalidEdit
        If no track leads to either, or more than one.
    """
    before, before_other = edits.predecessors(one), edits.predecessors(other)
    if len(before) == len(before_other) == 1:
        return edits.swap_links((before[0], one), (before_other[0], other))
    if {len(before), len(before_other)} != {0, 1}:
        raise InvalidEdit(
            "these two cannot be swapped: one of them needs a link from an earlier frame, and neither may have two."
        )
    (source,), right, wrong = (before, other, one) if before else (before_other, one, other)
    return edits.hold_links([(source, right)], [(source, wrong)])


def _divide(edits: EditSession, mother: int, one: int, other: int) -> Change:
    return edits.mark_division(mother, [one, other])


CLICKED_ACTS = (
    ClickedAct(
        "j",
        "Link them",
        "Click a particle in one frame and the same one in a later frame",
        2,
        _of_two_frames,
        EditSession.add_link,
    ),
    ClickedAct(
        "s",
        "Swap their tracks",
        "Click the two particles in the first frame in which their tracks are mixed up",
        2,
        _of_one_frame,
        exchange_pasts,
    ),
    ClickedAct(
        "d",
        "Mark a division",
        "Click a particle, then, in a later frame, the two that it divides into",
        3,
        _mother_first,
        _divide,
    ),
    ClickedAct("e", "End the track here", "Click the last particle of the track", 1, _last, EditSession.split_track),
    ClickedAct(
        "m",
        "Merge into one",
        "Click two particles of one frame that are really one",
        2,
        _of_one_frame,
        merge_particles,
        is_told_ground=True,
    ),
    ClickedAct("x", "Delete", "Click the particle", 1, _last, EditSession.delete_detection),
)
"""The acts on clicked particles, in the order of the menu."""
MOST = 3
"""Clicked particles that an act takes at most."""
