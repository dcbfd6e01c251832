"""What a correction came to, in words: what was joined, how far apart it is, and which other links changed."""

from __future__ import annotations

from collections.abc import Callable

from ....tracker.calibrating.digits import in_unit
from ....tracker.editing.change import Change
from ....tracker.editing.session import Session as EditSession
from .placing import apart

TrackOf = Callable[[int], int]
"""Returns the number of the track that a detection is in."""


def joined_words(change: Change, track_of: TrackOf) -> str:
    """Return which tracks an added particle was joined to; empty after any other act."""
    if change.act["act"] != "add_detection":
        return ""
    (added,) = change.added
    before = [f"track {track_of(source)}" for source, target in change.made if target == added]
    after = [f"track {track_of(target)}" for source, target in change.made if source == added]
    if len(before) == 1 and before == after:
        return f" within {before[0]}"
    ends = [f"{' and '.join(tracks)} {side} it" for tracks, side in ((before, "before"), (after, "after")) if tracks]
    return f", joined to {' and '.join(ends) or 'no track'}"


def far_words(change: Change, edits: EditSession) -> str:
    """Return how far apart the particles are that the user linked, where no link that was found is as long."""
    act = change.act
    links = {
        "add_link": lambda: [(act["source"], act["target"])],
        "mark_division": lambda: [(act["mother"], daughter) for daughter in act["daughters"]],
    }.get(act["act"], list[tuple[int, int]])()
    length = max((apart(edits, *map(edits.position, link)) for link in links), default=0.0)
    longest, unit = edits.begun.links["length"].max(), edits.begun.tracks.calibration.unit
    if not length > longest:
        return ""
    return f", {in_unit(unit, length)} apart (the longest link found: {in_unit(unit, longest)})"


def others_words(change: Change, *, can_keep: bool) -> str:
    """Return which other links changed, and what can be done about it, as the end of a sentence and one after it."""
    counts = (len(change.others_gone), "gone (dashed)"), (len(change.others_made), "new (solid)")
    changed = [(count, what) for count, what in counts if count]
    if not changed:
        return "no other link changed."
    (first, what), *more = changed
    said = f"{first} other {'link' if first == 1 else 'links'} {what}"
    said += "".join(f", {count} {what}" for count, what in more)
    return f"{said}. {'K undoes that, U' if can_keep else 'U undoes'} all."
