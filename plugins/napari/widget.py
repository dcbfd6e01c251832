"""The widget: input, three steps, and what each button sets going. All work is done elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from qtpy.QtCore import QEvent, QSize, Qt, QTimer
from qtpy.QtGui import QGuiApplication
from qtpy.QtWidgets import QFileDialog, QScrollArea, QTabWidget, QVBoxLayout, QWidget

from ...matching.errors import AuctrackError
from ...tracker.points import Points
from .connections import Connections
from .detect_panel import DetectPanel
from .devices import find_devices
from .drawing import Drawing
from .filters import MeasuredTracks
from .geometry import placed_like
from .input_panel import InputPanel
from .job import Desk, Failure
from .link_panel import LinkPanel
from .overlay import Overlay
from .preferences import read_preferences, remember
from .preview import Preview
from .results_panel import ResultsPanel
from .run_bar import RunBar
from .session import Session
from .steps import Advance, Detected, Linked, Tracked

if TYPE_CHECKING:
    from napari import Viewer

_PATIENCE_MS = 800
"""After this long a cancelled piece of work that has not stopped yet is left to end by itself."""
_WHILE_WORKING = 20_000


class _WideScroll(QScrollArea):
    """A scroll area that is never narrower than what it holds."""

    def minimumSizeHint(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the least size (called by Qt)."""
        inside = self.widget()
        wide = 0 if inside is None else inside.minimumSizeHint().width()
        return QSize(wide + self.verticalScrollBar().sizeHint().width() + 4, 300)


class TrackWidget(QWidget):
    """Track particles: Input, 1 Detect, 2 Link, 3 Results.

    Parameters
    ----------
    napari_viewer : Viewer
        The viewer it belongs to (napari gives it).
    """

    def __init__(self, napari_viewer: Viewer) -> None:
        super().__init__()
        self._viewer = napari_viewer
        self._connections = Connections()
        self.destroyed.connect(self._connections.drop)
        self.preferences = read_preferences()
        self.session = Session()
        self.input = InputPanel(napari_viewer, self._connections)
        self.detect = DetectPanel()
        self.link = LinkPanel(self.preferences)
        self.results = ResultsPanel()
        self.bar = RunBar()
        self.overlay = Overlay(napari_viewer, self._connections, self)
        self.preview = Preview(napari_viewer, self._connections, self)
        self.work = Desk(self)
        self.advice = Desk(self)
        self.devices = Desk(self)
        self.exports = Desk(self)
        self.plots = Desk(self)
        self.qualities = Desk(self)
        self.patience = QTimer(self)
        self.patience.setSingleShot(True)
        self.patience.setInterval(_PATIENCE_MS)
        self._lay_out()
        self._connect()
        self._take_input()
        self.devices.start(find_devices)

    def _lay_out(self) -> None:
        self.steps = QTabWidget()
        for page, name in ((self.detect, "1 Detect"), (self.link, "2 Link"), (self.results, "3 Results")):
            self.steps.addTab(page, name)
        page = QWidget()
        column = QVBoxLayout(page)
        column.addWidget(self.input)
        column.addWidget(self.steps)
        scroll = _WideScroll()
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(4, 4, 4, 4)
        whole.addWidget(scroll)
        whole.addWidget(self.bar)

    def _connect(self) -> None:
        pairs: list[tuple[Any, Callable[..., Any]]] = [
            (self.input.chosen, self._take_input),
            (self.detect.edited, self._detect_edited),
            (self.detect.suggest, self.suggest_detection),
            (self.detect.run, self.run_detect),
            (self.link.edited, self._link_edited),
            (self.link.suggest, self.suggest_linking),
            (self.link.run, self.run_link),
            (self.bar.run_all, self.run_all),
            (self.bar.cancel, self.cancel),
            (self.work.reported, self._advanced),
            (self.work.returned, self._finished),
            (self.work.failed, self._failed),
            (self.work.stopped, self._stopped),
            (self.patience.timeout, self._lose_patience),
            (self.advice.returned, self._advised),
            (self.advice.failed, self.bar.fail),
            (self.qualities.returned, self._advised),
            (self.qualities.failed, self.bar.fail),
            (self.devices.returned, self.link.show_devices),
            (self.exports.returned, self.bar.say),
            (self.exports.failed, self.bar.fail),
            (self.plots.returned, self.results.show_plots),
            (self.plots.failed, self.bar.fail),
            (self.preview.found, self.detect.show_found),
            (self.preview.failed, self.bar.fail),
            (self.overlay.drawn, self._drawn),
            (self.overlay.failed, self.bar.fail),
            (self.overlay.picked, self.choose_track),
            (self.results.filtered, self._draw_soon),
            (self.results.coloured, self._draw_soon),
            (self.results.track_chosen, self.choose_track),
            (self.results.link_chosen, self._go_to_link),
            (self.results.follow, self._follow),
            (self.results.export, self._ask_export),
            (self.results.copy_command, self.copy_command),
            (self.results.copy_toml, self.copy_toml),
        ]
        for signal, slot in pairs:
            signal.connect(slot)
        self._connections.add_key(self._viewer, "n", self._next_link)
        self._connections.add_key(self._viewer, "Shift-N", self._previous_link)

    def event(self, event: QEvent) -> bool:
        """Let go of the viewer when the dock is closed: napari takes the widget out, but does not destroy it."""
        if event.type() == QEvent.Type.ParentChange and self.parent() is None:
            self._connections.drop()
            for desk in self.findChildren(Desk):
                desk.let_go()
        return super().event(event)

    # --- input ---------------------------------------------------------------------------------------------------

    def _take_input(self) -> None:
        """Begin anew with another layer or calibration; results of the one before stay drawn until the next run."""
        source = self.input.source
        if self.work.is_busy:
            self.cancel()
        self.session.begin(source)
        unit = "pixel" if source is None else source.calibration.unit
        self.detect.set_unit(unit)
        self.link.set_unit(unit)
        is_movie = source is not None and source.kind == "movie"
        self.steps.setTabEnabled(0, is_movie)
        self.bar.run_button.setEnabled(source is not None)
        self.detect.run_button.setEnabled(is_movie)
        self.link.run_button.setEnabled(source is not None)
        self.results.set_result(has_command=False)
        self._seen_diameter: float | None = None
        self._detect_edited()

    def _detect_edited(self) -> None:
        self._look_at_qualities()
        self.preview.want(
            self.input.layer, self.input.source, self._detect_settings(), on=self.detect.preview.isChecked()
        )

    def _detect_settings(self) -> Any:
        try:
            return self.detect.settings
        except AuctrackError as error:
            self.bar.fail(Failure(str(error), ""))
            return None

    def _link_edited(self) -> None:
        remember(
            solver=self.link.solver.currentData(),
            device=self.link.device.currentData(),
            cost=self.link.cost.currentData(),
        )

    # --- the steps -----------------------------------------------------------------------------------------------

    def run_detect(self) -> None:
        """Find the particles."""
        self._run(self.session.detecting, self.detect)

    def run_link(self) -> None:
        """Link the particles found; where none were found yet, find them first."""
        self._run(self.session.linking, self.link)

    def run_all(self) -> None:
        """Find and link."""
        self._run(self.session.tracking, self.results)

    def cancel(self) -> None:
        """Stop the work at its next report; what was done until then is kept."""
        if self.work.is_busy:
            self.bar.say("Stopping…")
            self.bar.cancel_button.setEnabled(False)
            self.work.stop()
            self.patience.start()

    def _run(self, plan: Callable[..., Any], page: QWidget) -> None:
        if self.work.is_busy:
            return
        self.input.refresh()
        try:
            work = plan(self.detect.settings, self.link.settings)
        except AuctrackError as error:
            self.bar.fail(Failure(str(error), ""))
            return
        self.steps.setCurrentWidget(page)
        self.bar.set_running(True)
        self.work.start(work)

    def _advanced(self, advance: Advance) -> None:
        self.bar.advance(advance.stage, advance.done, advance.total)
        if advance.partial is not None:
            self._show_partial(advance.partial)

    def _finished(self, result: Detected | Linked | Tracked) -> None:
        self.patience.stop()
        self.bar.set_running(False)
        self.session.keep(result)
        detected, linked = self.session.detected, self.session.linked
        if detected is not None and detected.settings is not None:
            self.detect.show_settings(detected.settings)
            self._look_at_qualities()
        if linked is None:
            assert detected is not None  # a run ends with particles at least
            self.bar.say(f"{len(detected.points):,} particles in {len(detected.points.frame_numbers)} frames.")
            self._show_points(detected.points)
            self.suggest_linking(take=False)
            return
        self.link.show_settings(linked.linking.settings)
        self.link.show_links(linked.linking.links["distance"].to_numpy())
        self._show_tracks()
        self.bar.say(self.session.report())
        self.steps.setCurrentWidget(self.results)

    def _failed(self, failure: Failure) -> None:
        self.patience.stop()
        self.bar.set_running(False)
        self.bar.say("")
        self.bar.fail(failure)

    def _stopped(self, done: Points | MeasuredTracks | None) -> None:
        self.patience.stop()
        self.bar.set_running(False)
        if done is None:
            self.bar.say("Cancelled before the first frame was done.")
            return
        self._show_partial(done)
        points = done.tracks if isinstance(done, MeasuredTracks) else done
        what = "tracks" if isinstance(done, MeasuredTracks) else "particles"
        until = f"up to frame {points.frame_numbers[-1]} " if len(points) else ""
        self.bar.say(f"Cancelled; the {what} {until}are kept.")

    def _lose_patience(self) -> None:
        """Give the widget back although a long solve has not ended yet."""
        self.work.let_go()
        self.bar.set_running(False)
        self.bar.say("Cancelled; what is shown is kept. The frame in work ends in the background.")

    # --- showing -------------------------------------------------------------------------------------------------

    def _show_partial(self, done: Points | MeasuredTracks) -> None:
        self.session.keep_partial(done)
        if isinstance(done, MeasuredTracks):
            self._show_tracks()
        else:
            self._show_points(done)

    def _show_points(self, points: Points) -> None:
        layer = self.input.layer
        if layer is not None:
            self.overlay.show_particles(points, placed_like(layer), layer.name, self._particle_size(), self._most())

    def _show_tracks(self) -> None:
        if self.session.data is not None:
            self.results.show_tracks(self.session.data)
            self.results.set_result(has_command=self.session.is_complete)
            self.results.show_suspicious(self.session.suspicious, self.session.margin_unit)
            self._draw()

    def _draw_soon(self) -> None:
        self._draw(soon=True)

    def _draw(self, *, soon: bool = False) -> None:
        data, kept, layer = self.results.data, self.results.kept, self.input.layer
        if data is None or kept is None or layer is None:
            return
        feature, percentiles = self.results.colour_by
        drawing = Drawing(
            data=data,
            kept=kept,
            feature=feature,
            percentiles=percentiles,
            placed=placed_like(layer),
            name=layer.name,
            frame=self.overlay.frame_of(layer),
            most=self._most(),
            size=self._particle_size(),
            tail=self.preferences.tail_frames,
        )
        self.results.show_window("Drawing…")
        self.overlay.show(drawing, soon=soon)

    def _drawn(self, drawn: Any) -> None:
        self.results.show_legend(drawn.colouring)
        self.results.show_window(drawn.window.describe(len(drawn.tracks)))

    def _most(self) -> int:
        """Return how many vertices are drawn: fewer while it works, so that the window does not wait for napari."""
        most = self.preferences.drawn_vertices
        return min(most, _WHILE_WORKING) if self.work.is_busy else most

    def _particle_size(self) -> float | None:
        """Return the diameter at which a particle is drawn, in steps of x; None where no diameter is known."""
        source = self.session.source
        if source is None or source.kind != "movie" or self.detect.diameter.number is None:
            return None
        return self.detect.diameter.number / source.calibration.scale[2]

    # --- advice --------------------------------------------------------------------------------------------------

    def suggest_detection(self) -> None:
        """Suggest diameter and threshold from the image, with the reasons."""
        work = self.session.detection_advice(bright_on_dark=not self.detect.dark.isChecked())
        if work is not None:
            self.detect.show_found("Looking at a few frames…")
            self.advice.start(work)

    def _look_at_qualities(self) -> None:
        """Show the qualities that the threshold divides, for a diameter that has not been looked at yet."""
        diameter = self.detect.diameter.number
        if diameter is None or diameter == self._seen_diameter:
            return
        bright = not self.detect.dark.isChecked()
        work = self.session.detection_advice(bright_on_dark=bright, diameter=diameter)
        if work is not None:
            self._seen_diameter = diameter
            self.qualities.start(work)

    def suggest_linking(self, *, take: bool = True) -> None:
        """Suggest the search range from the particles found, with the reasons."""
        work = self.session.linking_advice(take=take)
        if work is None:
            self.bar.say("Detect first: the suggestion is read from the particles.")
        else:
            self.advice.start(work)

    def _advised(self, given: tuple[str, Any, bool]) -> None:
        kind, advice, take = given
        if kind == "detect":
            self.detect.show_found("")
            self.detect.show_advice(advice, take=take)
            if take:
                self._seen_diameter = self.detect.diameter.number
                self._detect_edited()
        else:
            self.link.show_advice(advice, take=take)

    # --- one track, one link -------------------------------------------------------------------------------------

    def choose_track(self, track_id: int) -> None:
        """Show the plots of a track, and draw it bright."""
        if self.session.data is None:
            return
        self.session.chosen = track_id
        self.plots.start(partial(self.session.plots, track_id))
        self.results.tabs.setCurrentIndex(2)
        self.steps.setCurrentWidget(self.results)
        self.overlay.choose(track_id)
        self._follow(self.results.follow_box.isChecked())

    def _follow(self, on: bool) -> None:
        self.overlay.follow(self.session.chosen if on else None)

    def _go_to_link(self, position: int) -> None:
        links = self.session.suspicious
        if links is not None and position < len(links):
            link = links.iloc[position]
            track_id, frame = int(link["track_id"]), int(link["frame"])
            self.session.chosen = track_id
            self.plots.start(partial(self.session.plots, track_id))
            self.overlay.go_to(track_id, frame)
            self.overlay.choose(track_id)

    def _next_link(self, viewer: object = None) -> None:
        del viewer
        self.results.suspicious.step(1)

    def _previous_link(self, viewer: object = None) -> None:
        del viewer
        self.results.suspicious.step(-1)

    # --- taking it away ------------------------------------------------------------------------------------------

    def _ask_export(self) -> None:
        name, _ = QFileDialog.getSaveFileName(
            self, "Export tracks", "tracks.csv", "CSV (*.csv);;napari CSV (*.napari.csv);;Parquet (*.parquet)"
        )
        if name:
            self.export(name)

    def export(self, path: str) -> None:
        """Write the tracks that pass the filters; what stood there is replaced (the dialog has asked)."""
        data, kept = self.results.data, self.results.kept
        if data is not None and kept is not None:
            self.exports.start(partial(self.session.write, data, kept, path, self.results.shortest))

    def copy_command(self) -> None:
        """Copy the `auctrack track` line that gives these tracks."""
        self._copy(self.session.command, "Copied: this line gives the same tracks.")

    def copy_toml(self) -> None:
        """Copy the settings file that gives these tracks."""
        self._copy(self.session.toml, "Copied: auctrack track FILE --config this.toml gives the same tracks.")

    def _copy(self, text_of: Callable[[int], str], said: str) -> None:
        try:
            text = text_of(self.results.shortest)
        except AuctrackError as error:
            self.bar.fail(Failure(str(error), ""))
            return
        clipboard = QGuiApplication.clipboard()
        assert clipboard is not None  # there is one while the application runs
        clipboard.setText(text)
        others = self.results.other_filters
        self.bar.say(said + (f" The filters {', '.join(others)} are not part of it." if others else ""))
