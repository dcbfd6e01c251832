"""The widget: input, three steps, and what works with them. All work is done elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from qtpy.QtCore import QEvent
from qtpy.QtWidgets import QVBoxLayout, QWidget

from ...matching.errors import AuctrackError
from ...tracker.calibrating.digits import plural
from .actions.correcting import Correcting
from .actions.letting_go import LettingGo
from .actions.looking import Looking
from .actions.parts import Parts
from .actions.recovering import Recovering
from .actions.running import Running
from .actions.showing import Showing
from .actions.suggesting import Suggesting
from .actions.taking_away import TakingAway
from .actions.unsaved import Unsaved
from .draw.overlay import Overlay
from .draw.preview import Preview
from .layers.depth import Depth
from .layers.main_window import canvas_of
from .layers.preferences import read_preferences, remember
from .panels.detect_panel import DetectPanel
from .panels.input_panel import InputPanel
from .panels.link_panel import LinkPanel
from .panels.pages import Pages
from .panels.results_panel import ResultsPanel
from .panels.run_bar import RunBar
from .panels.scroll import PanelScroll
from .panels.wheel import WheelGuard
from .session.devices import Devices, find_devices
from .session.session import WidgetSession
from .threads.connections import Connections
from .threads.job import Desk, Failure
from .threads.keys import Keys
from .threads.turns import Turns

if TYPE_CHECKING:
    from napari import Viewer


class TrackWidget(QWidget):
    """Track particles: Input, 1 Detect, 2 Link, 3 Results.

    Parameters
    ----------
    napari_viewer : Viewer
        The viewer it belongs to (napari gives it).

    Attributes
    ----------
    parts : Parts
        Panels, overlay and session.
    running, suggesting, looking, correcting, taking_away, unsaved
        Who works with them: runs, suggestions, one track at a time, corrections, export, what is not saved.
    """

    def __init__(self, napari_viewer: Viewer) -> None:
        super().__init__()
        self._connections = Connections()
        self.destroyed.connect(self._connections.drop)
        self._depth = Depth(napari_viewer, self._connections)
        self.parts = self._make_parts(napari_viewer)
        self.preview = Preview(napari_viewer, self._connections, self._depth, self)
        self.work = Desk(self)
        self.suggesting = Suggesting(self.parts, self)
        showing = Showing(self.parts, self.work, self)
        self.taking_away = TakingAway(self.parts, self)
        self.unsaved = Unsaved(self.parts, self.taking_away, self)
        self.running = Running(self.parts, self.work, showing, self.suggesting, self.unsaved.before, self)
        self.looking = Looking(self.parts, self)
        self.correcting = Correcting(self.parts, showing, self.unsaved.before, self)
        self.correcting.followed.connect(self.looking.plot_again)
        for other_tracks in (self.running.began, self.running.linked):
            other_tracks.connect(self.correcting.forget_clicks)
        LettingGo(self.parts, self.looking, self.correcting, self)
        Recovering(self.parts, self.running, self.correcting, self.unsaved, self)
        self._devices = Desk(self)
        self._desks = self.findChildren(Desk)
        self._lay_out()
        self._connect()
        self._take_input()
        self._devices.start(find_devices)

    def _make_parts(self, viewer: Viewer) -> Parts:
        preferences = read_preferences()
        return Parts(
            viewer=viewer,
            preferences=preferences,
            session=WidgetSession(),
            input=InputPanel(
                viewer,
                self._connections,
                before=lambda *acts: self.unsaved.before(*acts),
                would_lose=lambda: self.parts.session.n_unsaved > 0,
            ),
            detect=DetectPanel(),
            link=LinkPanel(preferences),
            results=ResultsPanel(canvas_of(viewer)),
            steps=Pages(),
            bar=RunBar(),
            overlay=Overlay(viewer, self._connections, self._depth, self),
            keys=Keys(viewer, self._connections, self),
            turns=Turns(),
        )

    def _lay_out(self) -> None:
        parts = self.parts
        for page, name in ((parts.detect, "1 Detect"), (parts.link, "2 Link"), (parts.results, "3 Results")):
            parts.steps.addTab(page, name)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(4, 4, 4, 4)
        column.addWidget(parts.input)
        column.addWidget(parts.steps, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(4, 4, 4, 4)
        whole.setSpacing(3)
        whole.addWidget(PanelScroll(page, least=300))
        whole.addWidget(parts.bar)
        WheelGuard(self)

    def _connect(self) -> None:
        parts = self.parts
        parts.input.chosen.connect(self._take_input)
        for other_page in (parts.steps.currentChanged, self.running.began):
            other_page.connect(lambda: parts.input.fold(parts.steps.currentWidget() is parts.results))
        parts.detect.edited.connect(self._detect_edited)
        parts.link.edited.connect(self._remember)
        self.preview.found.connect(parts.detect.show_found)
        self.preview.failed.connect(parts.bar.fail)
        self._devices.returned.connect(self._take_devices)
        self._devices.failed.connect(parts.bar.fail)

    @property
    def is_busy(self) -> bool:
        """Whether something was asked for that is not done or not shown yet."""
        return any(part.is_busy for part in (self.parts.overlay, self.preview, self.correcting, *self._desks))

    def event(self, event: QEvent) -> bool:
        """Let go of the viewer when the dock is closed: napari takes the widget out, but does not destroy it."""
        if event.type() == QEvent.Type.ParentChange and hasattr(self.parent(), "destroyOnClose"):
            self.unsaved.watch(self.parent())
        elif event.type() == QEvent.Type.ParentChange and self.parent() is None:
            self._connections.drop()
            self.parts.session.discard()  # no crash: the user was asked, and scripts are not
            self.preview.let_go()
            self.parts.overlay.let_go()
            self._depth.let_go()
            self.unsaved.let_go()
            self.parts.results.help.let_go()
            for desk in self._desks:
                desk.let_go()
        return super().event(event)

    def _take_input(self) -> None:
        """Start over with another layer or calibration: what the user typed stays, nothing that was found does.

        The layers drawn for the input before stay in the viewer until the next run.
        """
        parts, source = self.parts, self.parts.input.source
        self.running.abandon()
        parts.bar.offer_recovery(0)  # what was found is of the tracks of another input
        parts.overlay.forget_edits()
        parts.session.begin(source)
        if source is not None:
            self._take_unit(source.calibration.unit)
        is_movie = source is not None and source.kind == "movie"
        could_detect = parts.steps.isTabEnabled(0)
        parts.steps.setTabEnabled(0, is_movie)
        if is_movie and not could_detect:
            parts.steps.setCurrentWidget(parts.detect)
        parts.bar.run_button.setEnabled(source is not None)
        for button in (parts.detect.run_button, parts.detect.suggest_button):
            button.setEnabled(is_movie)
        for button in (parts.link.run_button, parts.link.suggest_button):
            button.setEnabled(source is not None)
        self.looking.forget()
        self.correcting.forget_clicks()
        self.suggesting.forget()
        parts.detect.forget()
        parts.link.forget()
        self._detect_edited()

    def _take_unit(self, unit: str) -> None:
        put_back = [panel.set_unit(unit) for panel in (self.parts.detect, self.parts.link)]
        if any(put_back):
            self.parts.bar.say(
                f"Lengths are in {plural(unit)} now: those that were typed in another unit are auto again."
            )

    def _detect_edited(self) -> None:
        self.suggesting.look_at_qualities()
        parts, settings = self.parts, self._detect_settings()
        self.preview.want(parts.input.layer, parts.input.source, settings, on=parts.detect.preview.isChecked())

    def _detect_settings(self) -> Any:
        try:
            return self.parts.detect.found_settings
        except AuctrackError as error:
            self.parts.bar.fail(Failure(str(error), ""))
            return None

    def _take_devices(self, devices: Devices) -> None:
        missing = self.parts.link.show_devices(devices)
        if missing is not None:
            self.parts.bar.say(f"{missing}, the device chosen before, is not on this machine: the device is auto now.")

    def _remember(self) -> None:
        link = self.parts.link
        remember(solver=link.solver.currentData(), device=link.device.currentData(), cost=link.cost.currentData())
