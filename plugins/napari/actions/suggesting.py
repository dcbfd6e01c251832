"""Suggestions for the settings, at the press of a button and beside what a run gave."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from qtpy.QtCore import QObject

from ....tracker.detecting.settings import DetectSettings
from ..threads.job import Desk
from .parts import Parts


class Suggesting(QObject):
    """Reads diameter, threshold and search range from the data; shows the qualities that a threshold divides."""

    def __init__(self, parts: Parts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._seen: DetectSettings | None = None
        self._advice = Desk(self)
        self._qualities = Desk(self)
        for desk in (self._advice, self._qualities):
            desk.returned.connect(self._advised)
            desk.failed.connect(parts.bar.fail)
        parts.detect.suggest.connect(self.suggest_detection)
        parts.link.suggest.connect(self.suggest_linking)

    def forget(self) -> None:
        """Drop what is being read of the earlier input, and look at the qualities again."""
        self._seen = None
        for desk in (self._advice, self._qualities):
            desk.let_go()

    def suggest_detection(self) -> None:
        """Suggest diameter and threshold from the image, with the reasons."""
        settings = replace(self._parts.detect.settings, diameter="auto", threshold=None)
        work = self._parts.session.detection_advice(settings)
        if work is not None:
            self._parts.detect.show_found("Looking at a few frames…")
            self._advice.start(work)

    def look_at_qualities(self) -> None:
        """Show the qualities that the threshold divides, where they have not been looked at yet."""
        detect = self._parts.detect
        if detect.diameter.shown is None or self._looked_at() == self._seen:
            return
        work = self._parts.session.detection_advice(self._looked_at())
        if work is not None:
            self._seen = self._looked_at()
            self._qualities.start(work)

    def _looked_at(self) -> DetectSettings:
        """Return what the qualities depend on."""
        return replace(self._parts.detect.found_settings, threshold=None)

    def suggest_linking(self) -> None:
        """Suggest the search range from the particles found, with the reasons."""
        self._advise_linking(take=True)

    def show_distances(self) -> None:
        """Show the histograms and the reasons without taking the range that they suggest."""
        self._advise_linking(take=False)

    def _advise_linking(self, *, take: bool) -> None:
        work = self._parts.session.linking_advice(take=take)
        if work is None:
            self._parts.bar.say("Detect first: the suggestion is read from the particles.")
            return
        if take:
            self._parts.bar.say("Measuring distances…")
        self._advice.start(work)

    def _advised(self, given: tuple[str, Any, bool]) -> None:
        kind, advice, take = given
        detect = self._parts.detect
        if kind == "link":
            self._parts.link.show_advice(advice, take=take)
            if take and not self._parts.bar.error.text():  # one that came since
                self._parts.bar.say(self._parts.link.reason.text())  # on a small screen it stands below the fold there
            return
        detect.show_found("")
        detect.show_advice(advice, take=take)
        if take:
            self._seen = self._looked_at()
            detect.edited.emit()
