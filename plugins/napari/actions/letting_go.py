"""Letting go of what was chosen: Escape, or a click on the background."""

from __future__ import annotations

from qtpy.QtCore import QObject

from .correcting import Correcting
from .looking import Looking
from .parts import Parts


class LettingGo(QObject):
    """Has the next key act on nothing: no link is chosen any more, no particle clicked, and no track marked."""

    def __init__(self, parts: Parts, looking: Looking, correcting: Correcting, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._looking = looking
        self._correcting = correcting
        parts.keys.add("Escape", self.let_go)
        looking.missed.connect(self._miss)

    def _miss(self) -> None:
        """Let go of what was chosen; but the first of a pair that is linked by clicks waits for a better aim."""
        if self._correcting.has_half_a_pair:
            self._correcting.ask_for_the_other()
        else:
            self.let_go()

    def let_go(self) -> None:
        """Close the help, or else let go of link, particles and track, and say so if there were any."""
        if self._parts.results.help_button.isChecked():
            self._parts.results.help_button.setChecked(False)
            return
        had_link = self._parts.session.link is not None or self._correcting.has_clicks
        had_any = had_link or bool(self._parts.results.chosen)
        self._looking.let_go_of_link()
        self._looking.let_go_of_track()
        self._correcting.let_go_of_clicks()
        if had_any:
            self._parts.bar.say("Nothing is chosen: click a particle or link, or press N.")
