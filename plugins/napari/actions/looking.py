"""One track and one link at a time: its plots, following it, going to the suspicious ones."""

from __future__ import annotations

from functools import partial

import numpy as np
from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]

from ....tracker.editing.change import Link
from ..draw.drawing import BRIGHT
from ..draw.picking import Click
from ..session.corrections import LookedAt
from ..threads.job import Desk
from .parts import Parts


class Looking(QObject):
    """Shows the track that was clicked or chosen, and doubtful links (keys N and Shift+N) beside their rivals.

    Signals: `missed()` where a click hit neither a particle nor a link.
    """

    missed = Signal()

    def __init__(self, parts: Parts, parent: QObject) -> None:
        super().__init__(parent)
        self._parts = parts
        self._plots = Desk(self)
        self._plots.returned.connect(parts.results.show_plots)
        self._plots.failed.connect(parts.bar.fail)
        self._links, self._ready = Desk(self), Desk(self)
        self._links.returned.connect(self._show_link)
        for desk in (self._links, self._ready):
            desk.reported.connect(parts.bar.tell_preparing)
            desk.failed.connect(parts.bar.fail)
        for opened in (parts.results.tabs.currentChanged, parts.overlay.drawn):
            opened.connect(self._make_ready)
        parts.overlay.picked.connect(self._choose_picked)
        parts.overlay.clicked_beside.connect(self._choose_link)
        parts.results.track_chosen.connect(self._choose_listed)
        parts.results.tracks_chosen.connect(self._choose_many)
        parts.results.lineage.chosen.connect(self._choose_line)
        parts.results.lineage.frame_chosen.connect(parts.overlay.show_frame)
        parts.results.link_chosen.connect(self._go_to_link)
        parts.results.follow.connect(self._follow)
        for key, act in (("n", self._next_link), ("Shift-N", self._previous_link)):
            parts.keys.add(key, act)

    def forget(self) -> None:
        """Show no track any longer, nor plots that are still to come: the input is another one."""
        self._plots.let_go()
        self._links.let_go()
        self._ready.let_go()
        self._parts.results.forget(has_saved=self._parts.input.has_links)
        self._parts.overlay.forget_track()

    def _make_ready(self, shown: object) -> None:
        """Prepare corrections once their page is open over tracks: the first link would have to wait for it."""
        del shown
        work = self._parts.session.preparing()
        is_open = self._parts.results.tabs.currentWidget() is self._parts.results.doubtful
        if is_open and self._parts.session.is_complete:
            self._parts.overlay.take_keys()
        if work is not None and is_open and not self._ready.is_busy:
            self._ready.start(work)

    def _choose_picked(self, track_id: int, frame: int) -> None:
        """Choose a track, and the link that leads to its particle which was clicked: what was chosen before is not."""
        self.choose_track(track_id)
        session = self._parts.session
        row = session.row_of(track_id, frame)
        if row is None:
            return
        self.let_go_of_link()
        sources = session.sources_of(row)
        if len(sources) != 1:
            ends = f"Track {track_id} begins here" if not sources else "Several links end here"
            self._parts.bar.say(f"{ends}: click a link to confirm or break it.")
            return
        self._look_at((sources[0], row))

    def let_go_of_link(self) -> None:
        """Choose and mark no link any longer, nor one that is still to come."""
        self._links.let_go()
        self._parts.results.suspicious.clearSelection()
        self._parts.session.link = None
        self._parts.overlay.forget_link()

    def let_go_of_track(self) -> None:
        """Choose no track any longer: none is drawn bright, marked, plotted or followed."""
        self._plots.let_go()
        self._parts.session.chosen = None
        self._parts.results.mark(())
        self._parts.results.clear_plots()
        self._parts.overlay.choose([])
        self._parts.overlay.follow(None)

    def _choose_listed(self, track_id: int) -> None:
        """Choose a track, and go where it begins."""
        self.choose_track(track_id)
        data = self._parts.session.data
        if data is not None:
            begins = data.measures.loc[data.measures["track_id"] == track_id, "first_frame"]
            self._parts.overlay.go_to(track_id, int(begins.iloc[0]))

    def _choose_many(self, track_ids: list[int]) -> None:
        """Draw tracks bright, and stay where the viewer is."""
        if len(track_ids) > BRIGHT:
            self._parts.bar.say(f"{len(track_ids):,} tracks are selected; the first {BRIGHT} are drawn bright.")
        self._parts.overlay.choose(track_ids[:BRIGHT])

    def _choose_line(self, track_id: int, frame: int) -> None:
        """Choose a track among the lineages, and go to the frame that was meant."""
        self.choose_track(track_id)
        self._parts.overlay.go_to(track_id, frame)

    def choose_track(self, track_id: int) -> None:
        """Show the plots of a track, mark it in table and lineages, and draw it bright."""
        if self._parts.session.data is None:
            return
        self._parts.overlay.take_keys()
        self._plot(track_id)
        self._parts.results.show_chosen(track_id)
        self._parts.steps.setCurrentWidget(self._parts.results)
        self._parts.overlay.choose([track_id])
        self._follow(self._parts.results.follow_box.isChecked())

    def plot_again(self) -> None:
        """Show the plots of the track chosen as corrections have left it."""
        if self._parts.session.chosen is None:
            self._parts.results.clear_plots()
        else:
            self._plot(self._parts.session.chosen)

    def _plot(self, track_id: int) -> None:
        self._parts.session.chosen = track_id
        self._plots.start(partial(self._parts.session.plots, track_id))

    def _follow(self, on: bool) -> None:
        self._parts.overlay.follow(self._parts.session.chosen if on else None)

    def _go_to_link(self, position: int) -> None:
        links = self._parts.session.suspicious
        if links is not None and position < len(links):
            link = links.iloc[position]
            ends = int(link["source"]), int(link["target"])
            track_id, frame = int(link["track_id"]), int(link["frame"])
            self._plot(track_id)
            self._parts.results.show_chosen(track_id)
            self._parts.overlay.go_to_link(track_id, frame, self._ends(ends)[0])
            self._parts.overlay.choose([track_id])
            self._look_at(ends)

    def _choose_link(self, click: Click) -> None:
        """Look at the link that was clicked."""
        linked = self._parts.session.linked
        if linked is None:
            return
        link = self._parts.overlay.link_under(click, linked.linking.tracks, linked.linking.links)
        if link is None:
            self.missed.emit()
        else:
            self._parts.results.suspicious.clearSelection()
            self._look_at(link)

    def _say_what_to_do(self, link: Link) -> None:
        """Say which link is chosen, and what can be done with it."""
        linked = self._parts.session.linked
        assert linked is not None  # it has the link
        ends = linked.linking.tracks.table[["track_id", "frame"]].iloc[list(link)].to_numpy().tolist()
        (_, before), (track, frame) = ends
        is_judged = self._parts.session.is_judged(link)
        can = "the link is confirmed, B breaks it" if is_judged else "C confirms the link, B breaks it"
        self._parts.bar.say(f"Track {track}, frames {before}–{frame}: {can}.")

    def _look_at(self, link: Link) -> None:
        """Choose a link: it is marked at once, and again with its rivals when they are known."""
        session, overlay = self._parts.session, self._parts.overlay
        overlay.take_keys()
        session.link = link
        ends = self._ends(link)
        overlay.show_link(ends, np.empty((0, *ends.shape[1:])))
        self._say_what_to_do(link)
        self._links.start(session.looking_at(link))

    def _ends(self, link: Link) -> np.ndarray:
        """Return a link's ends as they are drawn, float64 (1, 2, 1 + d)."""
        return np.array([[(at, *place) for at, place in map(self._parts.session.place_of, link)]])

    def _show_link(self, looked_at: LookedAt) -> None:
        """Draw a link and its rivals, unless a correction has taken it since, and show what is ticked off."""
        corrections = self._parts.session.corrections
        if corrections is not None:
            if self._parts.session.link is not None:
                self._parts.overlay.show_link(looked_at.link, looked_at.rivals)
            self._parts.results.show_looked_at(corrections.ticks(), corrections.progress)

    def _next_link(self) -> None:
        self._parts.turns.take(self._look_at_next)

    def _previous_link(self) -> None:
        self._parts.turns.take(lambda: self._parts.results.suspicious.step(-1))

    def _look_at_next(self) -> None:
        """Look at the next link of the list, or where one was at none, at the first that nobody has looked at."""
        results = self._parts.results
        if not results.suspicious.count:
            self._parts.bar.say(f"There is no link to check. {results.left_out.text()}".strip())
        if results.suspicious.currentIndex().isValid() or not results.choose_open():
            results.suspicious.step(1)
