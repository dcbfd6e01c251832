"""Corrections of the links that are shown: each proven again at once, taken back, kept in a file. No Qt here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....tracker.editing.change import Change
from ....tracker.editing.session import Session as EditSession
from ....tracker.linking.result import Linking
from .filters import measured
from .steps import Linked
from .suspicious import suspicious_links

Act = Callable[[EditSession], Change | None]
"""One correction; None where there was nothing to undo or redo."""

_NAMES = {
    "break_link": "broken link",
    "confirm_link": "confirmed link",
    "add_link": "joined particles",
}


@dataclass(frozen=True)
class Corrected:
    """Tracks and links after a correction, and what it changed, in a sentence or two."""

    linked: Linked
    said: str


class Corrections:
    """Corrections of one run; particles are named by their rows in its table.

    Parameters
    ----------
    linking : Linking
        Of a run. Before the first correction it is linked once more, for what corrections need is too much to keep for
        those who make none.
    is_given : bool
        Whether it is of tracks that were taken up. What it pins is to be looked at like any other link.
    """

    def __init__(self, linking: Linking, *, is_given: bool = False) -> None:
        self._linking = linking
        self._is_given = is_given
        self._held = {(int(source), int(target)) for source, target in linking.settings.pinned or ()}
        self._edits: EditSession | None = None

    @property
    def count(self) -> int:
        """How many corrections are in effect."""
        return 0 if self._edits is None else len(self._edits.acts)

    def make(self, act: Act, report: Callable[[Any], None]) -> Corrected:
        """Make a correction (work).

        Raises
        ------
        InvalidEdit
            If it cannot be made; nothing has changed then.
        """
        del report
        change = act(self._opened())
        return Corrected(self._linked(), f"{_said(change)} Corrections in effect: {self.count}.")

    def replay(self, path: str, report: Callable[[Any], None]) -> Corrected:
        """Make the corrections of a file, in place of those there are (work); errors as of `editing.Session.load`."""
        del report
        self._edits = EditSession.load(path, self._linking)
        return Corrected(self._linked(), f"Corrections of {path} in effect: {self.count}.")

    def save(self, path: str) -> None:
        """Write the corrections in effect, for `replay`."""
        self._opened().save(path)

    def _opened(self) -> EditSession:
        if self._edits is None:
            self._edits = EditSession(self._linking)
        return self._edits

    def _linked(self) -> Linked:
        """Return tracks and links as they stand; what was confirmed needs no second look."""
        edits = self._opened()
        linking = edits.linking()
        margins = linking.links["margin"].to_numpy()
        held = self._held - {(act["source"], act["target"]) for act in edits.acts if act["act"] == "confirm_link"}
        doubtful = suspicious_links(linking, margins, held=[*held])
        ends = zip(doubtful["source"].tolist(), doubtful["row"].tolist(), strict=True)
        open_ones = np.array([link in held or not edits.is_pinned(*link) for link in ends], dtype=bool)
        data = measured(linking.tracks, linking.links, margins)
        return Linked(linking, data, doubtful[open_ones], is_given=self._is_given)


def _said(change: Change | None) -> str:
    if change is None:
        return "Nothing to take back or to make again."
    what = _NAMES.get(change.act["act"], str(change.act["act"]).replace("_", " "))
    gone, made = len(change.others_gone), len(change.others_made)
    if not gone and not made:
        return f"Proven again after: {what}. Nothing else changed."
    return f"Proven again after: {what}. Of the other links {gone} are gone and {made} are new; U takes it back."
