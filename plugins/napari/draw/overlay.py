"""What is drawn over the movie (particles, tracks, the chosen track), and what the user does there: pick, follow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]

from ....tracker.editing.change import Link
from ....tracker.points import Points, Tracks
from ..layers.depth import Depth
from ..layers.edits import Edits, HandEdits
from ..layers.layer_tables import LayerData
from ..layers.main_window import is_dark
from ..layers.own_layers import OwnLayers
from ..session.placing import Place
from ..threads.connections import Connections, has_own_keys
from ..threads.job import Desk, Report
from ..threads.timers import single_shot
from .drawing import Drawing, Drawn, draw, draw_particles, draw_some
from .in_sight import come_near, is_in_slice, is_on_canvas
from .links import draw_clicked, draw_links
from .picking import Click, drawn_links, link_under, particle_under
from .tails import Tails
from .under_mouse import under_mouse

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_DEBOUNCE_MS = 200
_LINK_PIXELS = 6  # a click so near to a link means it
_CLICK_PIXELS = 3  # a mouse that moves farther is turning the view


class Overlay(QObject):
    """Signals.

    `announced(sentence)` before napari draws, `drawn(Drawn)`, `failed(Failure)`, `picked(track id, frame)`,
    `edited(HandEdits)` when the user has deleted, moved or added particles in their layer (noted by `take_edits`),
    `clicked_beside(Click)` where no particle is under a click, or it means a link (Shift), and `frame_shown(frame)`
    when tracks were drawn or the viewer shows another frame.
    """

    announced = Signal(str)
    drawn = Signal(object)
    failed = Signal(object)
    picked = Signal(int, int)
    edited = Signal(object)
    clicked_beside = Signal(object)
    frame_shown = Signal(int)

    def __init__(self, viewer: Viewer, connections: Connections, depth: Depth, parent: QObject) -> None:
        super().__init__(parent)
        self._viewer = viewer
        self._layers = OwnLayers(viewer, connections, depth, self)
        self._layers.edited.connect(self._tell_edits)
        self._layers.announced.connect(self.announced)
        self._layers.taken.connect(self._taken)
        self._tails = Tails(viewer, connections)
        self._layers.moved.connect(self._tails.look_again)
        self._shown: Drawn | None = None
        self._wanted: Drawing | None = None
        self._followed: int | None = None
        self._desk = Desk(self)
        self._desk.returned.connect(self._add)
        self._desk.failed.connect(self.failed)
        self._timer = single_shot(self, _DEBOUNCE_MS, self._begin)
        connections.add(viewer.dims.events.current_step, self._stepped)
        connections.add_to_list(viewer.mouse_drag_callbacks, self._clicked)

    # --- drawing -------------------------------------------------------------------------------------------------

    @property
    def shown(self) -> Drawn | None:
        """What is drawn now."""
        return self._shown

    @property
    def is_busy(self) -> bool:
        """Whether something is still to be drawn."""
        return self._desk.is_busy or self._timer.isActive() or self._layers.is_busy

    def layer(self, role: str) -> Layer | None:
        """Return the layer of a role ("tracks", "particles", "chosen", "link", "clicked") while it is in the viewer."""
        return self._layers.layer(role)

    def edits(self) -> Edits:
        """Return what the user has changed in the layer of particles and no link has taken yet."""
        return self._layers.edits()

    def forget_edits(self) -> None:
        """Take the particles, as they are now, for unchanged."""
        self._layers.forget_edits()

    def let_go(self) -> None:
        """Draw nothing any more: the widget goes."""
        self._timer.stop()
        self._layers.let_go()

    def draw_over(self, layer: Layer) -> None:
        """Draw what follows over a layer, in layers of its own: those that were drawn over another one stay."""
        self._layers.draw_over(layer)

    def show_particles(self, points: Points, n_axes: int, name: str, size: float | None, most: int) -> None:
        """Draw particles that are not linked yet, in place of all else."""
        self._wanted = None
        self._desk.start(partial(_draw_particles, points, n_axes, name, size, most))

    def show(self, drawing: Drawing, *, soon: bool = False) -> None:
        """Draw tracks and their particles; `soon` waits until the user has stopped dragging."""
        self._wanted = drawing
        if soon:
            self._timer.start()
        else:
            self._begin()

    def _begin(self) -> None:
        if self._wanted is not None:
            self._desk.start(partial(_draw, self._wanted, self._shown))

    def _add(self, result: Drawn | LayerData) -> None:
        """Hand a drawing to napari."""
        if isinstance(result, Drawn):
            self._shown = result
            self._layers.hand_over(result.layers)
        else:
            self._shown = None
            self._layers.hide("tracks", "older ")
            self._layers.take_away("chosen", "link", "clicked")
            self._layers.hand_over({"particles": result})

    def _taken(self) -> None:
        if self._shown is not None:
            drawing = self._shown.drawing
            tracks = self.layer("tracks")
            if tracks is not None:  # napari may have refused it
                self._tails.show(tracks, drawing.tail_depth * _diameter(self._shown))
                self.frame_shown.emit(self.frame_of(tracks))
            self.drawn.emit(self._shown)

    # --- one track -----------------------------------------------------------------------------------------------

    def choose(self, track_ids: Sequence[int]) -> None:
        """Draw some tracks bright, and no others."""
        if self._shown is not None:
            shown = self._shown
            n_axes, tail = shown.drawing.n_axes, shown.drawing.tail
            self._put("chosen", draw_some(shown.tracks, track_ids, n_axes, tail, self._ink()))

    def _put(self, role: str, layer_data: LayerData) -> None:
        """Draw something small, or put out of sight what was drawn before."""
        if len(layer_data[0]):
            self._layers.put(role, layer_data)
        else:
            self._layers.hide(role)

    def _ink(self) -> str:
        """Return what is seen on the canvas: images are dark, and so is the canvas of a dark theme."""
        has_image = any(type(layer).__name__ == "Image" and layer.visible for layer in self._viewer.layers)
        return "white" if has_image or is_dark(self._viewer.theme, "canvas") else "black"

    def show_link(self, link: np.ndarray, rivals: np.ndarray) -> None:
        """Mark a link, and dashed those that would be made in its place; see `draw_links`."""
        if self._shown is not None:
            n_axes = self._shown.drawing.n_axes
            self._put("link", draw_links(link, rivals, "link looked at", n_axes, self._ink()))

    def show_changes(self, made: np.ndarray, gone: np.ndarray) -> None:
        """Mark links that came, and dashed those that went; see `draw_links`."""
        if self._shown is not None:
            n_axes = self._shown.drawing.n_axes
            self._put("link", draw_links(made, gone, "links changed", n_axes, self._ink()))

    def show_clicked(self, places: Sequence[Place]) -> None:
        """Mark the particles that were clicked, and no others."""
        if not places:
            self._layers.hide("clicked")
        elif self._shown is not None:
            y, x = self._shown.tracks.calibration.scale_for(2)
            radius = _diameter(self._shown) / 2 * np.array([x / y, 1.0])
            rows = np.array([[frame, *position] for frame, position in places])
            self._put("clicked", draw_clicked(rows, radius, self._shown.drawing.n_axes, self._ink()))

    def forget_link(self) -> None:
        """Mark no link any longer."""
        self._layers.hide("link")

    def forget_track(self) -> None:
        """Neither draw nor follow the chosen track and link any longer, nor mark what was clicked."""
        self._followed = None
        self._layers.take_away("chosen", "link", "clicked")

    def take_keys(self) -> None:
        """Select the tracks in place of a layer whose own keys would come before those that correct them.

        While it is painted in, it stays selected.
        """
        layer, selection = self.layer("tracks"), self._viewer.layers.selection
        selected: Any = selection.active
        if layer is not None and has_own_keys(selected) and selected.mode == "pan_zoom":
            selection.active = layer

    def follow(self, track_id: int | None) -> None:
        """Keep the camera, and in 2D the plane, on a track while the movie plays; None lets go."""
        self._followed = track_id
        self._look_at_followed()

    def show_frame(self, frame: int) -> None:
        """Show a frame, counted in the data of the tracks."""
        layer = self._placing
        if layer is not None:
            time = float(np.asarray(layer.data_to_world((frame, *[0] * (layer.ndim - 1))))[0])
            self._viewer.dims.set_point(self._viewer.dims.ndim - layer.ndim, time)

    def place(self) -> list[float] | None:
        """Return frame and position that the sliders show, in the data of the tracks; None where there are none."""
        layer: Any = self._placing
        if layer is None or self._shown is None:
            return None
        point = np.asarray(self._viewer.dims.point)[-layer.ndim :]
        at = np.asarray(layer.world_to_data(point), dtype=np.float64)
        return [at[0], *at[-self._shown.tracks.ndim :]]

    def show_place(self, place: Sequence[float], layer: Layer) -> tuple[float, float, float]:
        """Show frame and position, counted in the data of a layer, and return where in the world it is."""
        world, dims = _world(place, layer), self._viewer.dims
        if dims.ndim >= len(world):  # else all layers are deleted
            dims.set_point(range(dims.ndim - len(world), dims.ndim), world.tolist())
        return _last_three(world)

    def go_to(self, track_id: int, frame: int) -> None:
        """Show a frame with one of a track's particles in the middle, or the frame nearest to it that has one."""
        layer, position = self._placing, self._nearest(track_id, frame)
        if layer is not None and position is not None:
            self._viewer.scene.camera.center = self.show_place(position.tolist(), layer)

    def go_to_link(self, track_id: int, frame: int, ends: Sequence[Sequence[float]]) -> None:
        """Show a frame as `go_to` does, and come nearer where particles are too small on the canvas to be judged."""
        self.go_to(track_id, frame)
        layer, shown = self._placing, self._shown
        if layer is not None and shown is not None:
            source, target = (_last_three(_world(end, layer)) for end in ends)
            size = _diameter(shown) * float(layer.scale[-1])
            seen = np.subtract(source, target)[-self._viewer.dims.ndisplay :]
            come_near(self._viewer, size, float(np.linalg.norm(seen)))

    def go_back_to(self, place: Sequence[float]) -> None:
        """Show frame and plane of a place (frame, z, y, x or y, x), with it in the middle where it was out of sight."""
        layer = self._placing
        center = None if layer is None else self.show_place(place, layer)
        if center is not None and not is_on_canvas(self._viewer, center):
            self._viewer.scene.camera.center = center

    def shows(self, places: Sequence[Sequence[float]]) -> bool:
        """Whether one of some places (frame, z, y, x or y, x), or the tail between them, is where the user looks."""
        layer = self._placing
        if layer is None:
            return False
        worlds = [_world(place, layer) for place in places]
        seen = [world for world in worlds if is_in_slice(self._viewer, world)]
        if places[0][0] < places[-1][0] and self._is_in_tail(worlds[-1], layer):
            seen.append(worlds[-1])
        return any(is_on_canvas(self._viewer, _last_three(world)) for world in seen)

    def _is_in_tail(self, world: np.ndarray, layer: Layer) -> bool:
        """Whether a link that ends in a place is seen as part of a tail."""
        if self._shown is None or self.layer("tracks") is None:
            return False
        end = np.asarray(layer.world_to_data(world))
        since = self.frame_of(layer) - end[0]
        return 0 <= since < self._shown.drawing.tail and bool(self._tails.are_seen(end[None])[0])

    @property
    def _placing(self) -> Layer | None:
        """What tells where tracks lie, whether or not the user has deleted their layer."""
        return self._layers.placing("tracks")

    def _nearest(self, track_id: int, frame: int) -> np.ndarray | None:
        """Return (frame, z, y, x) of a track's particle nearest in time, in the data's steps; None if it has none."""
        if self._shown is None:
            return None
        tracks = self._shown.tracks
        rows = tracks.table[tracks.table["track_id"] == track_id]
        if not len(rows):
            return None
        positions = rows[["frame", *tracks.axes]].to_numpy(dtype=np.float64)
        return positions[np.argmin(np.abs(positions[:, 0] - frame))]

    def _look_at_followed(self) -> None:
        layer = self._placing
        if self._followed is None or layer is None:
            return
        frame = self.frame_of(layer)
        position = self._nearest(self._followed, frame)
        if position is not None and position[0] == frame:
            world = np.asarray(layer.data_to_world(position))
            if len(world) > 3 and self._viewer.dims.ndisplay == 2:
                self._viewer.dims.set_point(self._viewer.dims.ndim - 3, float(world[-3]))
            self._viewer.scene.camera.center = _last_three(world)

    def _shows_time(self, layer: Layer) -> bool:
        """Whether the frames of a layer are all shown, along one of the axes of the picture."""
        return self._viewer.dims.ndim - layer.ndim in self._viewer.dims.displayed

    # --- what the user does in the viewer ------------------------------------------------------------------------

    def frame_of(self, layer: Layer) -> int:
        """Return the frame that the viewer shows, counted in the layer's data."""
        point = np.asarray(self._viewer.dims.point)[-layer.ndim :]
        return round(float(np.asarray(layer.world_to_data(point))[0]))

    def _stepped(self, event: object = None) -> None:
        """Follow, and move the window of time when the frame shown has left it."""
        del event
        self._look_at_followed()
        layer, shown = self.layer("tracks"), self._shown
        if layer is None or shown is None:
            return
        frame = self.frame_of(layer)
        self.frame_shown.emit(frame)
        if shown.window.rows is not None and not shown.window.shows(frame):
            self.show(replace(shown.drawing, frame=frame), soon=True)

    def _clicked(self, viewer: Any, event: Any) -> Iterator[None]:
        """Pick the particle under a click (napari's mouse callback: press, moves, release)."""
        del viewer
        pressed = np.asarray(event.pos, dtype=float)
        yield
        while event.type == "mouse_move":
            yield
        if np.abs(np.asarray(event.pos, dtype=float) - pressed).max() <= _CLICK_PIXELS:
            where = event.position, event.view_direction, tuple(event.dims_displayed)
            if "Shift" in event.modifiers:
                self.clicked_beside.emit(Click(*where))
            else:
                self.pick(*where)

    def pick(self, position: Any, view_direction: Any, dims_displayed: Any) -> None:
        """Tell which track the particle at a place of the world is of, seen along a direction, and its frame."""
        layer: Any = self.layer("particles")
        if layer is None or self._shown is None:
            return
        click = Click(position, view_direction, tuple(dims_displayed))
        row = particle_under(click, layer)
        if row is None:
            self.clicked_beside.emit(click)
            return
        track_id = float(layer.features["track_id"].iloc[row])
        if not math.isnan(track_id):  # a particle placed by hand is of no track yet
            self.picked.emit(int(track_id), round(float(layer.data[row, 0])))

    def _tell_edits(self, done: HandEdits) -> None:
        """Tell of edits of tracked particles, by their places in the steps of the tracks."""
        if self._shown is not None:
            axes = [0, *range(-self._shown.tracks.ndim, 0)]
            self.edited.emit(HandEdits(done.gone[..., axes], done.moved[..., axes], done.placed[..., axes]))

    def take_edits(self) -> None:
        """Take note of what `edited` last reported: it is no edit for the next link."""
        self._layers.take_edits()

    def link_under(self, click: Click, tracks: Tracks, links: pd.DataFrame) -> Link | None:
        """Return the drawn link under a click, None where there is none."""
        layer = self.layer("tracks")
        if layer is None or self._shown is None:
            return None
        rows, ends = drawn_links(tracks, links, self.frame_of(layer), self._shown.drawing.tail, layer)
        seen = self._tails.are_seen(ends[:, 1])
        reach = _LINK_PIXELS / float(self._viewer.scene.camera.zoom)
        return link_under(click, links.iloc[rows[seen]], ends[seen], layer, reach)

    def cursor(self, ndim: int, image: Any, near: Place | None = None) -> Place | None:
        """Return frame and place (the last `ndim` axes) under the mouse, in steps; None where there is none.

        Off the canvas there is none: napari's cursor stays where the mouse has left the picture. In 3D it is the
        brightest voxel of an image along the line of sight, or what is nearest to the place `near`; of a 2D movie,
        whose frames 3D shows one behind the other, there is none.
        """
        layer = self._placing
        if layer is None or not self._viewer.mouse_over_canvas or self._shows_time(layer):
            return None
        at = None if near is None else np.array([near[0], *[0.0] * (layer.ndim - 1 - ndim), *near[1]])
        place = under_mouse(self._viewer, layer, image, at)
        return None if place is None else (self.frame_of(layer), place[-ndim:].tolist())


def _draw(drawing: Drawing, before: Drawn | None, report: Report) -> Drawn:
    del report
    return draw(drawing, before)


def _draw_particles(points: Points, n_axes: int, name: str, size: float | None, most: int, report: Report) -> LayerData:
    del report
    return draw_particles(points, n_axes, name, size, most)


def _world(place: Sequence[float], layer: Layer) -> np.ndarray:
    """Return where in the world a place (frame, z, y, x or y, x) in the data of a layer is."""
    at = np.zeros(layer.ndim)
    at[0], at[1 - len(place) :] = place[0], place[1:]
    return np.asarray(layer.data_to_world(at))


def _diameter(drawn: Drawn) -> float:
    """Return how wide particles are drawn, in steps of x."""
    return drawn.layers["particles"][1]["size"]


def _last_three(world: np.ndarray) -> tuple[float, float, float]:
    """Return z, y, x; of a 2D movie time is where z is, as napari has it in 3D."""
    z, y, x = world[-3:].tolist()
    return z, y, x
