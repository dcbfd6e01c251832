"""What a correction did, in words: of which track and in which frames, by the numbers that the user sees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....tracker.calibrating.digits import counted
from ....tracker.editing.acts import named
from ....tracker.errors import InvalidEdit, InvalidSetting


class Seen(NamedTuple):
    """A particle as the user sees it; one that is not shown yet is of no track."""

    track: int | None
    frame: int


See = Callable[[int], Seen]
"""Returns how the user sees a detection."""
_OF_ONE = {"move_detection": "moved", "delete_detection": "deleted"}
_OF_MANY = {"add_detection": "added", **_OF_ONE}


_FEW = 4
"""Detections of links whose tracks are named."""


class ActWords(NamedTuple):
    """An act in words: "Track 12", "link of frames 3–4 broken"; acts on several places have no subject."""

    subject: str
    what: str

    def __str__(self) -> str:
        """Return both, as the beginning of a sentence."""
        return f"{self.subject}: {self.what}" if self.subject else _capital(self.what)

    def told_again(self, how: str) -> str:
        """Return both as the beginning of a sentence on how it was told again: "Undone", "Redone"."""
        return f"{how}: {self.what}" + (f" ({self.subject[0].lower()}{self.subject[1:]})" if self.subject else "")


def act_words(act: Mapping[str, Any], see: See) -> ActWords:
    """Return an act, as it is recorded, in words."""
    name = act["act"]
    if name == "add_detection":
        return ActWords(f"Frame {act['frame']}", "particle added")
    if name == "together":
        kinds = {one["act"] for one in act["acts"]}
        return ActWords("", f"{len(act['acts'])} particles {_OF_MANY[kinds.pop()] if len(kinds) == 1 else 'edited'}")
    if name == "confirm_links":
        return ActWords("", f"{counted(len(act['links']), 'link', ',')} confirmed")
    if name == "hold_links":
        ends = named(act)
        subject = _tracks([see(end) for end in sorted(ends)]) if len(ends) <= _FEW else ""
        if _turns_aside(act):
            before, after = (see(end).frame for end in act["pinned"][0])
            return ActWords(subject, f"link of frames {before}–{after} moved to the other particle")
        counts = (len(act["pinned"]), "confirmed"), (len(act["forbidden"]), "forbidden")
        return ActWords(subject, ", ".join(f"{counted(n, 'link', ',')} {what}" for n, what in counts if n))
    seen = [see(detection) for detection in named(act)]
    return ActWords(_tracks(seen), _WHAT[name]([one.frame for one in seen]))


def _turns_aside(act: Mapping[str, Any]) -> bool:
    """Whether one link is held in the place of another one from the same particle."""
    pinned, forbidden = act["pinned"], act["forbidden"]
    return len(pinned) == len(forbidden) == 1 and pinned[0][0] == forbidden[0][0]


_WHAT: Mapping[str, Callable[[list[int]], str]] = {
    "break_link": lambda frames: f"link of frames {frames[0]}–{frames[1]} broken",
    "confirm_link": lambda frames: f"link of frames {frames[0]}–{frames[1]} confirmed",
    "release_link": lambda frames: f"link of frames {frames[0]}–{frames[1]} no longer confirmed or broken",
    "add_link": lambda frames: f"particles of frames {frames[0]}–{frames[1]} linked",
    "swap_links": lambda frames: f"swapped from frame {frames[1]} onwards",
    "split_track": lambda frames: f"ended in frame {frames[0]}",
    "mark_division": lambda frames: f"division after frame {frames[0]} marked",
    "merge_detections": lambda frames: f"particles in frame {frames[0]} merged",
    **{name: lambda frames, done=done: f"particle in frame {frames[0]} {done}" for name, done in _OF_ONE.items()},
}


def refusal_words(error: InvalidEdit, track_of: Callable[[int], int | None]) -> str:
    """Return why an act cannot be done, by tracks and frames where the error names detections; tracks as in `Seen`."""
    if error.kind not in _REFUSED:
        return str(error)
    seen = [Seen(track_of(detection), at) for detection, at in zip(error.detections, error.frames, strict=True)]
    return _REFUSED[error.kind](*seen)


_REFUSED: Mapping[str, Callable[..., str]] = {
    "no detection": lambda: "This particle is not there any more.",
    "no link": lambda source, target: f"There is no link from {_place(source)} to {_place(target)}.",
    "order": lambda source, target: f"Links lead forward in time, not from {_place(source)} to {_place(target)}.",
    "no room": lambda source, target: (
        f"A link from {_place(source)} to {_place(target)} cannot be confirmed: one of these two particles already "
        "has a confirmed link. Break that one first (B)."
    ),
    "not given": lambda source, target: (
        f"The link from {_place(source)} to {_place(target)} is neither confirmed nor forbidden."
    ),
    "nothing follows": lambda last: f"{_tracks([last]) or 'The track'} already ends in frame {last.frame}.",
}


def unmakeable_words(error: InvalidSetting, seen: Sequence[Seen]) -> str:
    """Return why links of tracks cannot be taken up, by tracks and frames where the error names rows; `seen` by row."""
    ends = [_place(seen[row]) for row in error.rows]
    if error.kind == "missed frames":
        return f"The link from {ends[0]} to {ends[1]} misses more frames than the settings of 2 Link allow."
    if error.kind == "too many":
        return f"{_capital(ends[0])} has too many links, with {', '.join(ends[1:])}: at most two on a side."
    return error.problem


def _place(seen: Seen) -> str:
    return f"{'the particle' if seen.track is None else f'track {seen.track}'} in frame {seen.frame}"


def _tracks(seen: list[Seen]) -> str:
    """Return the tracks of some particles: "Track 3", "Tracks 3 and 7", "Tracks 3, 7 and 8"."""
    numbers = [str(track) for track in dict.fromkeys(one.track for one in seen) if track is not None]
    if len(numbers) < 2:
        return f"Track {numbers[0]}" if numbers else ""
    return f"Tracks {', '.join(numbers[:-1])} and {numbers[-1]}"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"
