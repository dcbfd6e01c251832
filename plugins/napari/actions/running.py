"""The buttons that set work going, and what becomes of it: progress, partial results, the end, Cancel, errors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QWidget

from ....matching.errors import AuctrackError
from ....tracker.calibrating.digits import counted
from ..layers.image_under import image_under
from ..layers.series_shown import show_series
from ..session.filters import MeasuredTracks
from ..session.steps import Linked, Particles, ProgressUpdate, TakenUp, Tracked
from ..threads.job import Desk, Failure, sentence_of
from ..threads.responsive import responsive
from ..threads.timers import single_shot
from .parts import Parts
from .showing import Showing
from .suggesting import Suggesting

_LONGEST_WAIT_MS = 800
"""After this long a cancelled piece of work that has not stopped yet is left to end by itself."""
_NEW_LINKS = "These links are new: the saved ones, and corrections of them, are shown by Check and correct its links."


class Running(QObject):
    """One run at a time. Its buttons ask before corrections are lost; its methods do not.

    Signals: `began()` once a run is under way, `linked()` once links are shown.
    """

    began = Signal()
    linked = Signal()

    def __init__(
        self,
        parts: Parts,
        work: Desk,
        showing: Showing,
        suggesting: Suggesting,
        before: Callable[[Callable[[], None]], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._parts = parts
        self._work = work
        self._showing = showing
        self._suggesting = suggesting
        self._asked = parts.detect.settings, parts.link.settings
        self._are_found = False
        self._edited: list[str] = []
        self._kept = ""
        self._wait = single_shot(self, _LONGEST_WAIT_MS, self._wait_no_longer)
        for asked_for, run in (
            (parts.detect.run, self.run_detect),
            (parts.link.run, self.run_link),
            (parts.bar.run_all, self.run_all),
            (parts.input.take_up, self.take_up),
        ):
            asked_for.connect(partial(self._ask_and, run, before))
        parts.bar.cancel.connect(self.cancel)
        work.reported.connect(self._advanced)
        work.compiling.connect(parts.bar.tell_compiling)
        work.returned.connect(self._finished)
        work.failed.connect(self._failed)
        work.stopped.connect(self._stopped)
        work.late.connect(self._keep)

    def _ask_and(self, run: Callable[[], None], before: Callable[[Callable[[], None]], None]) -> None:
        if not self._work.is_busy:
            before(run)

    def run_detect(self) -> None:
        """Find the particles."""
        self._drop_edits()
        self._run(self._parts.session.detecting, self._parts.detect)

    def run_link(self) -> None:
        """Link the particles found, as edited in their layer; where none were found yet, find them first."""
        self._take_edits()
        self._run(self._parts.session.linking, self._parts.link)

    def run_all(self) -> None:
        """Find and link."""
        self._drop_edits()
        self._run(self._parts.session.tracking, self._parts.results)

    def take_up(self) -> None:
        """Show the tracks of the input with the links that they have."""
        self._drop_edits()
        self._run(self._parts.session.taking_up, self._parts.results)

    def _take_edits(self) -> None:
        """Have particles linked as they were edited and corrected, and say so beside the result."""
        edits, has_corrected = self._parts.overlay.edits(), self._parts.session.has_corrected_particles
        if self._work.is_busy:
            return
        self._edited = [f"Particles edited in their layer: {edits}."] if edits else []
        self._kept = ", except for what they changed in the particles" if has_corrected else ""
        if edits or has_corrected:
            self._parts.session.take_edits(edits)
            self._parts.overlay.forget_edits()

    def _drop_edits(self) -> None:
        """Begin from the input again, and say beside the result that edits are not part of it."""
        edits = self._parts.overlay.edits()
        if self._work.is_busy:
            return
        left_out = f"Edits of particles ({edits}) are not part of these tracks: run Link to use them."
        self._edited = [left_out] if edits else []
        self._kept = ""
        self._parts.overlay.forget_edits()

    def cancel(self) -> None:
        """Stop the work at its next report; what was done until then is kept."""
        if self._work.is_busy:
            self._parts.bar.say("Stopping…")
            self._parts.bar.cancel_button.setEnabled(False)
            self._work.stop()
            self._wait.start()

    def abandon(self) -> None:
        """Forget the work: it was about another input than there is now, of another layer or of the same one."""
        is_old = self._parts.session.data is not None and self._showing.shown_on is self._parts.input.layer
        said = "The input has changed: the tracks in the viewer are of how it was before." if is_old else ""
        self._parts.bar.say("Stopped: the input has changed." if self._work.is_busy else said)
        self._work.let_go()
        self._end()

    def _run(self, plan: Callable[..., Any], page: QWidget) -> None:
        if self._work.is_busy:
            return
        with responsive():  # from the click on: a collection that was put off must not fall between it and the work
            self._parts.input.refresh()
            try:
                self._asked = self._parts.detect.settings, self._parts.link.settings
                work = plan(*self._asked)
            except AuctrackError as error:
                self._parts.bar.fail(Failure(sentence_of(error), ""))
                return
            self._are_found = False
            self._parts.session.chosen = None
            self._parts.overlay.forget_track()
            self._parts.steps.setCurrentWidget(page)
            self._parts.bar.set_running(True)
            self.began.emit()
            self._work.start(work)

    def _end(self) -> None:
        self._parts.turns.forget()  # it was about other tracks
        self._wait.stop()
        self._parts.bar.set_running(False)

    def _advanced(self, update: ProgressUpdate) -> None:
        self._are_found = update.stage == "link" or update.done == update.total
        self._parts.bar.advance(update.stage, update.done, update.total)
        if update.partial is not None:
            self._showing.show_partial(update.partial)

    def _finished(self, result: Particles | Linked | TakenUp | Tracked) -> None:
        self._end()
        lost = self._lost(result)
        self._parts.session.keep(result)
        detected, linked = self._parts.session.detected, self._parts.session.linked
        if detected is not None and detected.settings is not None:
            self._parts.detect.show_settings(detected.settings, self._asked[0])
            self._parts.detect.preview.setChecked(False)  # its rings would lie over those of what was found
            self._suggesting.look_at_qualities()
        layer = self._parts.input.layer
        if isinstance(result, TakenUp) and layer is not None:
            image = image_under(self._parts.viewer, layer, result.series)
            if image is not None:
                show_series(self._parts.viewer, image)
            if result.place is not None:
                self._parts.overlay.show_place(result.place, layer)
        if isinstance(result, TakenUp):
            self._asked = self._asked[0], result.linked.linking.settings  # those of its file: nothing was auto here
        if linked is not None:
            self._show_linked(linked, [*self._edited, *lost])
            return
        assert detected is not None  # a run ends with particles at least
        points = detected.points
        self._parts.link.forget()
        said = f"{len(points):,} particles in {len(points.frame_numbers)} frames."
        self._parts.bar.say(said, [*self._edited, *detected.notes])
        self._showing.show_points(points)
        self._suggesting.show_distances()

    def _lost(self, result: Particles | Linked | TakenUp | Tracked) -> list[str]:
        """Return that corrections made before are not part of a result; those of a session's file come back with it."""
        session = self._parts.session
        if isinstance(result, TakenUp):
            n = session.n_unsaved
            return [f"Discarded: {counted(n, 'correction', ',')} that the file did not contain."] if n else []
        n = session.n_corrections
        return [f"Corrections made before ({n}) are not part of these tracks{self._kept}."] if n else []

    def _show_linked(self, linked: Linked, lost: list[str]) -> None:
        self._parts.link.show_settings(linked.linking.settings, self._asked[1])
        self._parts.link.show_reason(self._parts.session.reason())
        self._parts.link.show_links(linked.linking.links["length"].to_numpy())
        self._suggesting.show_distances()
        self._showing.show_tracks()
        are_back = self._parts.session.n_corrections
        said = f" Corrections so far: {are_back}." if are_back else ""
        if self._parts.input.has_links and not linked.is_given:
            lost = [*lost, _NEW_LINKS]
        doubts = [*lost, *self._parts.session.doubts()]
        session = self._parts.session
        self._parts.bar.say(f"{session.report()}{said}", doubts, session.report_details())
        self._parts.steps.setCurrentWidget(self._parts.results)
        if linked.is_given:
            self._parts.results.tabs.setCurrentWidget(self._parts.results.doubtful)
        self.linked.emit()

    def _failed(self, failure: Failure) -> None:
        self._end()
        self._parts.bar.say("")
        self._parts.bar.fail(failure)

    def _stopped(self, done: Particles | MeasuredTracks | None) -> None:
        self._end()
        self._keep(done)

    def _keep(self, done: Particles | MeasuredTracks | None) -> None:
        """Keep what was done until Cancel, and say how far that is."""
        if done is None:
            links = "the links were made; the particles are kept"
            self._parts.bar.say(f"Cancelled before {links if self._are_found else 'the first frame was done'}.")
            return
        self._showing.show_partial(done)
        points = done.tracks if isinstance(done, MeasuredTracks) else done.points
        what = "tracks" if isinstance(done, MeasuredTracks) else "particles"
        until = f"up to frame {points.frame_numbers[-1]} " if len(points) else ""
        self._parts.bar.say(f"Cancelled; the {what} {until}are kept.")

    def _wait_no_longer(self) -> None:
        """Give the widget back although a long solve has not ended yet: it cannot be interrupted."""
        self._work.wait_no_longer()
        self._parts.bar.set_running(False)
        self._parts.bar.say("Cancelled. The step that is running ends in the background; its result is shown then.")
