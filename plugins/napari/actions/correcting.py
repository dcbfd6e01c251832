"""Corrections at the press of a key or a button: each is proven again in another thread, and shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]
from qtpy.QtWidgets import QFileDialog

from ....matching.errors import AuctrackError
from ....tracker.editing.change import Link
from ....tracker.editing.session import Session as EditSession
from ...words.compiling import COMPILED
from ..layers.edits import HandEdits
from ..layers.image_under import image_under, movie_of
from ..layers.series_shown import series_of
from ..session.act_subject import ActSubject
from ..session.clicked import CLICKED_ACTS, MOST, Clicked, ClickedAct
from ..session.corrections import Act, Acted, CorrectedTracks, Corrections, break_link
from ..session.placing import Ground, Place, add_particle, edit_particles, move_particle
from ..session.session import Work
from ..threads.job import Desk, Failure
from ..threads.timers import single_shot
from .parts import Parts
from .showing import Showing

_PAINT_MS = 60  # in which napari paints the links that a correction changed


class Correcting(QObject):
    """Confirms and breaks the link chosen, acts on the particles clicked, adds and moves particles, undoes, redoes.

    Signals: `followed()` once tracks, table and list hold all corrections.
    """

    followed = Signal()

    def __init__(
        self,
        parts: Parts,
        showing: Showing,
        before: Callable[[Callable[[], None]], None],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._parts = parts
        self._showing = showing
        self._clicked: dict[Clicked, str] = {}
        self._spent: tuple[int, ...] = ()
        self._goes_on = False
        self._said = self._details = ""
        self._acted_on: Link | None = None
        self._subject: ActSubject | None = None
        self._is_by_hand = False
        self._followed: Corrections | None = None
        self._desk, self._following = Desk(self), Desk(self)
        self._soon = single_shot(self, _PAINT_MS, self._follow)
        self._desk.compiling.connect(lambda: parts.bar.say(f"Compiling {COMPILED}…"))
        self._desk.reported.connect(parts.bar.tell_preparing)
        self._desk.returned.connect(self._show_act)
        self._desk.failed.connect(self._fail)
        self._following.returned.connect(self._take_on)
        self._following.failed.connect(self._fail_to_follow)
        results = parts.results
        parts.overlay.picked.connect(self._note_click)
        parts.overlay.edited.connect(self._take_by_hand)
        results.open_corrections.connect(partial(before, self._ask_file))
        for key, signal, act in (
            ("c", results.confirm_link, self.confirm_link),
            ("b", results.break_link, self.break_link),
            ("k", results.keep_others, self.keep_others),
            ("u", results.undo, self.undo),
            ("Shift-U", results.redo, self.redo),
        ):
            signal.connect(act)
            parts.keys.add(key, act)
        for act in CLICKED_ACTS:
            parts.keys.add(act.key, partial(self.act_on_clicked, act))
        for key, act in (("l", results.link_button.click), ("i", self.add_particle), ("p", self.move_particle)):
            parts.keys.add(key, act)
        results.act_on_clicked.connect(self.act_on_clicked)
        results.link_chosen.connect(self._turn_to_link)
        results.link_button.toggled.connect(self._switch_clicks)

    def confirm_link(self) -> None:
        """Keep the link chosen, whatever else changes."""
        self._correct_link(EditSession.confirm_link)

    def break_link(self) -> None:
        """Forbid the link chosen."""
        self._correct_link(break_link)

    def keep_others(self) -> None:
        """Refuse what the last correction changed besides, if anything; else what is chosen stays chosen."""
        self._parts.turns.take(self._keep_others)

    def _keep_others(self) -> None:
        session = self._parts.session
        if session.can_keep_others:
            self._start(session.correcting(EditSession.keep_others), self._take_clicks())
        else:
            self._parts.bar.say("No other links changed that K could put back.")

    def undo(self) -> None:
        """Take the last correction back."""
        self._correct(EditSession.undo)

    def redo(self) -> None:
        """Make the correction taken back last again."""
        self._correct(EditSession.redo)

    def act_on_clicked(self, act: ClickedAct) -> None:
        """Do something with the particles that were clicked last."""
        rows = act.take([*self._clicked])
        if rows is None:
            self._parts.bar.say(act.what_to_click([*self._clicked]))
            return
        do = partial(act.act, ground=self._ground()) if act.is_told_ground else act.act
        self._correct(do, *rows)

    def add_particle(self) -> None:
        """Add a particle under the mouse, in the frame that is shown."""
        place = self._under_mouse()
        if place is None:
            self._parts.bar.say("Put the mouse where a particle is missing, in 2D or over a volume in 3D, and press I.")
            return
        self._correct(partial(add_particle, ground=self._ground(), place=place))

    def move_particle(self) -> None:
        """Put the particle clicked last where the mouse is, in its frame."""
        row = [*self._clicked][-1][1] if self._clicked else None
        near = None if row is None else self._parts.session.place_of(row)
        at = None if near is None else self._under_mouse(near)
        if row is None or near is None or at is None or at[0] != near[0]:
            self._parts.bar.say("Click a particle, point at where it belongs in the same frame, and press P.")
            return
        self._correct(partial(move_particle, ground=self._ground(), position=at[1]), row)

    def _take_by_hand(self, done: HandEdits) -> None:
        """Record what was done in the layer of particles, once the correction before it is done."""
        session = self._parts.session
        if session.linked is None:
            return  # the next link takes it
        gone, moved = (session.rows_at(_places(places)) for places in (done.gone, done.moved[:, 0]))
        if gone is None or moved is None:
            self._parts.bar.say("The next run of Link uses these particles as they are now.")
            return
        moved_to, placed = [position for _, position in _places(done.moved[:, 1])], _places(done.placed)
        act = partial(edit_particles, ground=self._ground(), moved_to=moved_to, placed=placed)
        self._parts.overlay.take_edits()
        self._correct(act, *gone, *moved, by_hand=True)

    def _under_mouse(self, near: Place | None = None) -> Place | None:
        linked = self._parts.session.linked
        return None if linked is None else self._parts.overlay.cursor(linked.linking.tracks.ndim, self._image, near)

    def _ground(self) -> Ground:
        return self._parts.session.ground(movie_of(self._image), series_of(self._image))

    @property
    def _image(self) -> Any:
        """The image that the particles lie over; None without."""
        return image_under(self._parts.viewer, self._parts.input.layer, self._parts.session.series)

    def replay(self, path: str, *, is_saved: bool = True) -> None:
        """Make the corrections of a file; `is_saved`: it holds them for good."""
        self._in_turn(lambda: self._parts.session.replaying(path, is_saved=is_saved))

    def _correct(self, act: Act, *rows: int, by_hand: bool = False) -> None:
        """Make a correction in its turn, of the particles that are in some rows now."""
        self._in_turn(lambda: self._parts.session.correcting(act, *rows), by_hand=by_hand)

    def _in_turn(self, plan: Callable[[], Work], *, by_hand: bool = False) -> None:
        """Plan work now, for what is shown now, and begin it once the corrections before it are done."""
        try:
            work = plan()
        except AuctrackError as error:
            self._parts.bar.fail(Failure(str(error), ""))
        else:
            clicked = self._take_clicks()
            self._parts.turns.take(lambda: self._start(work, clicked, by_hand=by_hand))

    def _correct_link(self, act: Act) -> None:
        """Correct the link chosen, once it is: after a correction the next one of the list may still have to be."""
        self._parts.turns.take(lambda: self._correct_chosen(act), lambda: not self._is_choosing)

    @property
    def _is_choosing(self) -> bool:
        return self._goes_on and self._parts.session.link is None

    def _correct_chosen(self, act: Act) -> None:
        link = self._parts.session.link
        if link is None:
            self._parts.bar.say("Choose a link first: press N, or click a link or the particle where it ends.")
            return
        if act is EditSession.confirm_link and self._parts.session.is_judged(link):
            self._parts.bar.say("This link is confirmed already: it stays until you break it (B).")
            return
        goes_on = self._parts.results.suspicious.selectionModel().hasSelection()
        self._start(self._parts.session.correcting(act, *link), self._take_clicks(), goes_on=goes_on)

    @property
    def is_busy(self) -> bool:
        """Whether tracks and list are still to follow a correction."""
        return self._desk.is_busy or self._following.is_busy or self._soon.isActive()

    def _start(self, work: Work, clicked: tuple[int, ...], *, goes_on: bool = False, by_hand: bool = False) -> None:
        """Begin a correction; the link chosen before is chosen no longer then.

        `clicked`: detections that are clicked again where it fails; `goes_on`: to the next link of the list.
        """
        self._parts.turns.hold()
        self._parts.bar.clear_error()
        self._soon.stop()
        self._following.stop()  # what it would show lacks this correction
        self._spent, self._goes_on, self._is_by_hand = clicked, goes_on, by_hand
        self._acted_on, self._parts.session.link = self._parts.session.link, None
        self._desk.start(work)

    def _show_act(self, acted: Acted) -> None:
        """Draw the links that a correction changed; tracks, table and list follow once that is painted."""
        self._parts.overlay.show_changes(acted.made, acted.gone)
        self._subject = acted.subject if acted.is_again else None
        if acted.subject is not None:
            self._go_to(acted.subject, is_again=acted.is_again)
        self._said, self._details = acted.said, acted.details
        self._parts.bar.say(acted.said, details=acted.details)
        self._goes_on &= not acted.has_others
        self._soon.start()
        self._parts.turns.release()

    def _go_to(self, subject: ActSubject, *, is_again: bool) -> None:
        """Go where a correction was made, unless the user looks there or has made it by hand there."""
        overlay = self._parts.overlay
        if is_again or not (self._is_by_hand or overlay.shows(subject.places)):
            overlay.go_back_to(subject.places[-1])
        if is_again:
            self._parts.session.choose_link(subject.link)

    def _follow(self) -> None:
        session = self._parts.session
        if session.is_behind:
            self._followed = session.corrections
            self._following.start(session.following())
        else:
            self._go_no_further()

    def _go_no_further(self) -> None:
        """Choose no next link, and do what waited for it."""
        self._goes_on = False
        self._parts.turns.go_on()

    def _fail_to_follow(self, failure: Failure) -> None:
        self._parts.bar.fail(failure)
        self._go_no_further()

    def _take_on(self, corrected: CorrectedTracks) -> None:
        """Show tracks and list as they stand, and the link chosen meanwhile, or the first that nobody has looked at."""
        session, results = self._parts.session, self._parts.results
        if session.corrections is not self._followed:
            self._go_no_further()  # there was another run meanwhile
            return
        clicked = self._take_clicks()
        session.keep_corrected(corrected)
        self._click_again(clicked)
        self._click_subject()
        self._showing.show_tracks()
        results.mark(() if session.chosen is None else (session.chosen,))
        self.followed.emit()
        if session.link is not None:
            results.mark_link(session.link)
        elif self._goes_on:
            is_left = results.choose_open()
            end = "" if is_left else " You have looked at every link of the list."
            said = f"{self._said}{end}"  # and not what can be done with the next one
            self._parts.bar.say(said, details=self._details)
        self._go_no_further()

    def _click_subject(self) -> None:
        """Have the particles that an act was about, which was undone or made again, be those clicked last."""
        subject, session = self._subject, self._parts.session
        if subject is None:
            return
        session.choose_track_of(subject.link or subject.particles)
        if not self._clicked and len(subject.particles) <= MOST:
            self._click_again(subject.particles)

    def _click_again(self, detections: Sequence[int]) -> None:
        """Have some detections, by the rows of the table shown now, be the particles clicked last."""
        self._clicked = {}
        for row, (track_id, frame) in self._parts.session.seen(detections).items():
            self._add_click(track_id, frame, row)
        self._show_clicks()

    def _fail(self, failure: Failure) -> None:
        """Say what could not be done; what was corrected before it may still have to be shown."""
        session = self._parts.session
        self._parts.bar.say("")
        self._parts.bar.fail(failure)
        self._goes_on = False
        if session.is_behind:
            self._soon.start()
        elif session.link is None:
            session.link = self._acted_on
        if not self._clicked and not self._parts.results.link_button.isChecked():  # there the next one begins a pair
            self._click_again(self._spent)
        if self._is_by_hand:
            self._showing.show_again()
        self._parts.turns.release()

    def _note_click(self, track_id: int, frame: int) -> None:
        row = self._parts.session.row_of(track_id, frame)
        if row is None:
            return
        self._add_click(track_id, frame, row)
        self._clicked = dict([*self._clicked.items()][-MOST:])
        self._show_clicks()
        if not self._parts.results.link_button.isChecked():
            return
        link_them = CLICKED_ACTS[0]
        if link_them.take([*self._clicked]) is None:
            self._clicked = dict([*self._clicked.items()][-1:])  # of two of one frame the second begins the pair
            self._show_clicks()
            self._parts.bar.say("Now click the particle that it is linked to, in another frame.")
        else:
            self.act_on_clicked(link_them)

    def _turn_to_link(self) -> None:
        """Forget the particles clicked elsewhere, as a link of the list is chosen; half a pair waits."""
        if not self.has_half_a_pair:
            self.forget_clicks()

    def _add_click(self, track_id: int, frame: int, row: int) -> None:
        self._clicked.pop((frame, row), None)  # clicked again it is the last one
        self._clicked[frame, row] = f"track {track_id} in frame {frame}"

    def _show_clicks(self) -> None:
        """Mark what was clicked on the canvas, and name it in the panel."""
        self._parts.results.show_clicked([*self._clicked.values()])
        self._parts.overlay.show_clicked([self._parts.session.place_of(row) for _, row in self._clicked])

    def _take_clicks(self) -> tuple[int, ...]:
        """Return the detections that were clicked; what is clicked from now on is for the next act."""
        detections = self._parts.session.ids_of([row for _, row in self._clicked])
        self.forget_clicks()
        return detections

    def forget_clicks(self) -> None:
        """Forget which particles were clicked: of other tracks, others stand in their rows."""
        self._clicked = {}
        self._show_clicks()

    @property
    def has_clicks(self) -> bool:
        """Whether there are clicked particles for the next act."""
        return bool(self._clicked)

    @property
    def has_half_a_pair(self) -> bool:
        """Whether one of two particles that are to be linked by clicks is clicked."""
        return self.has_clicks and self._parts.results.link_button.isChecked()

    def ask_for_the_other(self) -> None:
        """Say that no particle was hit, and which one waits for it."""
        (first,) = self._clicked.values()
        self._parts.bar.say(f"No particle is here: click the one that {first} is linked to, or let go of it by Escape.")

    def let_go_of_clicks(self) -> None:
        """Forget the clicked particles, and choose no next link after what is being done."""
        self._goes_on = False
        self.forget_clicks()

    def _switch_clicks(self, on: bool) -> None:
        """Begin or end linking by clicks."""
        self.forget_clicks()
        begun = "Linking by clicks: click a particle, then the same one in another frame. L ends it."
        self._parts.bar.say(begun if on else "Linking by clicks has ended.")

    def _ask_file(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self._parts.results, "Corrections", "", "Corrections (*.json)")
        if name:
            self.replay(name)


def _places(rows: np.ndarray) -> list[Place]:
    return [(round(frame), position) for frame, *position in rows.tolist()]
