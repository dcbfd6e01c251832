"""Suggestions for the settings, at the press of a button and beside what a run gave."""

from __future__ import annotations

from typing import Any

from qtpy.QtCore import QObject

from ..threads.job import Desk
from .parts import Parts


class Suggesting(QObject):
    """Reads diameter, threshold and search range from the data; shows the qualities that a threshold divides."""

    def __init__(self, parts: Parts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._seen: tuple[float, bool] | None = None
        self._advice = Desk(self)
        self._qualities = Desk(self)
        for desk in (self._advice, self._qualities):
            desk.returned.connect(self._advised)
            desk.failed.connect(parts.bar.fail)
        parts.detect.suggest.connect(self.suggest_detection)
        parts.link.suggest.connect(self.suggest_linking)

    def forget(self) -> None:
        """Drop what is being read from the input before, and look at the qualities anew."""
        self._seen = None
        for desk in (self._advice, self._qualities):
            desk.let_go()

    def suggest_detection(self) -> None:
        """Suggest diameter and threshold from the image, with the reasons."""
        bright = not self._parts.detect.dark.isChecked()
        work = self._parts.session.detection_advice(bright_on_dark=bright)
        if work is not None:
            self._parts.detect.show_found("Looking at a few frames…")
            self._advice.start(work)

    def look_at_qualities(self) -> None:
        """Show the qualities that the threshold divides, where they have not been looked at yet."""
        detect = self._parts.detect
        diameter, bright = detect.diameter.shown, not detect.dark.isChecked()
        if diameter is None or (diameter, bright) == self._seen:
            return
        work = self._parts.session.detection_advice(bright_on_dark=bright, diameter=diameter)
        if work is not None:
            self._seen = diameter, bright
            self._qualities.start(work)

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
        else:
            self._advice.start(work)

    def _advised(self, given: tuple[str, Any, bool]) -> None:
        kind, advice, take = given
        detect = self._parts.detect
        if kind == "link":
            self._parts.link.show_advice(advice, take=take)
            return
        detect.show_found("")
        detect.show_advice(advice, take=take)
        if take:
            self._seen = advice.diameter, not detect.dark.isChecked()
            detect.edited.emit()
