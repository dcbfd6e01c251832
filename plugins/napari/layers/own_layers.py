"""The plugin's own layers in the viewer, by role: handed to napari one in each turn of the event loop, painted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from qtpy.QtCore import QObject, Signal  # pyright: ignore[reportPrivateImportUsage]

from ..threads.connections import Connections
from ..threads.timers import single_shot
from .depth import Depth
from .edits import Edits, done_between, edits_between
from .geometry import PLACED_BY, lay_over, placed_like
from .hand_over import fill_layer, make_layer
from .layer_tables import OURS, LayerData
from .main_window import canvas_of, paint_now
from .many_lines import draw_plainly

if TYPE_CHECKING:
    from napari import Viewer
    from napari.layers import Layer

_BEGUN = ("adding", "removing", "changing")
"""What napari calls edits of points that are still going on."""
_DRAWN = "drawn"
"""Key in a layer's metadata of its role, and of the layer that it is drawn over."""
_MARKS = ("chosen", "link", "clicked")
"""Roles of layers that mean nothing without the widget."""
_PAUSE_MS = 15  # between two layers, in which the window listens


class OwnLayers(QObject):
    """Signals.

    `announced(sentence)` before napari takes layers up, `taken()` once it has all of them; `moved()` once they lie
    again over a layer whose voxels were given another size, or that was put elsewhere; `edited(HandEdits)` when the
    user has done something in the layer of particles, which `take_edits` takes note of; else the next link takes it.
    """

    announced = Signal(str)
    taken = Signal()
    moved = Signal()
    edited = Signal(object)

    def __init__(self, viewer: Viewer, connections: Connections, depth: Depth, parent: QObject) -> None:
        super().__init__(parent)
        self._viewer = viewer
        self._connections = connections
        self._depth = depth
        self._layers: dict[str, Layer] = {}
        self._void: dict[str, bool] = {}
        self._named: WeakKeyDictionary[Layer, str] = WeakKeyDictionary()
        self._over: Layer | None = None
        self._of_layer: WeakKeyDictionary[Layer, tuple[dict[str, Layer], dict[str, bool]]] = WeakKeyDictionary()
        self._queue: list[tuple[str, LayerData]] = []
        self._edits = Edits()
        self._particles: np.ndarray | None = None
        self._spent: list[str] = []
        self._turn = single_shot(self, _PAUSE_MS, self._take_turn)
        self._sweep = single_shot(self, _PAUSE_MS, self._remove_spent)

    @property
    def is_busy(self) -> bool:
        """Whether a layer is still to be handed over, to be painted, or to be taken away."""
        return self._turn.isActive() or self._sweep.isActive()

    def draw_over(self, layer: Layer) -> None:
        """Fill from now on the layers that lie over a layer; those over another one stay, its tracks to be taken up.

        Where both lie in the same place they are put out of sight until they are filled again, or the user shows them.
        """
        if layer == self._over:
            return
        if "tracks" in self._layers:
            self._layers["tracks"].metadata[OURS]["overlay"] = False
        self._over = layer
        if layer not in self._of_layer:
            self._of_layer[layer] = self._left_over(layer), {}
            for name in PLACED_BY:
                self._connections.add(getattr(layer.events, name), self._follow_place)
        self._layers, self._void = self._of_layer[layer]
        self._put_others_aside()
        self._queue, self._edits, self._particles = [], Edits(), None

    def _put_others_aside(self) -> None:
        """Put out of sight what lies over other layers where the one drawn over now is: rings and tails of two runs."""
        for other, (layers, void) in self._of_layer.items():
            if other is self._over or not _overlap(other, self._over):
                continue
            for role, layer in layers.items():
                if layer.visible:
                    void[role] = True
                    layer.visible = False

    def _left_over(self, layer: Layer) -> dict[str, Layer]:
        """Return by role what a widget that was closed since has drawn over a layer."""
        left: dict[str, Layer] = {}
        for one in self._viewer.layers:
            role, over = one.metadata.get(OURS, {}).get(_DRAWN, ("", None))
            if over is not None and over() is layer and role not in left:  # those after it are the user's copies
                left[role] = one
                lay_over(one, layer)
        if "particles" in left:
            self._connections.add(left["particles"].events.data, self._tell_edits)
        return left

    def _follow_place(self, event: Any) -> None:
        """Keep what is drawn over a layer on its particles."""
        layers, _ = self._of_layer[event.source]
        for layer in layers.values():
            lay_over(layer, event.source)
        if "particles" in layers:
            self._depth.show(layers["particles"])
        self.moved.emit()

    def layer(self, role: str) -> Layer | None:
        """Return the layer of a role ("tracks", "particles", "chosen") while it is in the viewer."""
        layer = self._layers.get(role)
        return layer if layer is not None and layer in self._viewer.layers else None

    def placing(self, role: str) -> Layer | None:
        """Return the layer of a role, in the viewer or deleted by the user: it tells where what is in it lies."""
        return self._layers.get(role)

    def hand_over(self, layers: Mapping[str, LayerData]) -> None:
        """Announce layers, then give them to napari; what was still waiting is forgotten."""
        self._queue = list(layers.items())
        most = max(len(data) for data, _, _ in layers.values())
        self.announced.emit(f"napari draws {most:,} points…")
        self._turn.start()

    def let_go(self) -> None:
        """Hand nothing over any more, and leave the particles and tracks to the user."""
        self._turn.stop()
        self._sweep.stop()
        self._queue = []
        for role in _MARKS:
            self._remove(role)
        if "tracks" in self._layers:
            self._layers["tracks"].metadata[OURS]["overlay"] = False
        self._set_painting(True)

    def edits(self) -> Edits:
        """Return what the user has changed in the layer of particles and no link has taken yet."""
        layer: Any = self.layer("particles")
        if layer is not None and self._particles is not None:
            self._edits = self._edits.then(edits_between(self._particles, layer.data))
            self._particles = np.array(layer.data)
        return self._edits

    def forget_edits(self) -> None:
        """Take the particles, as they are now, for unchanged."""
        self.edits()
        self._edits = Edits()

    def take_edits(self) -> None:
        """Take the particles for unchanged that `edited` reported: something else has taken note of them."""
        layer: Any = self.layer("particles")
        assert layer is not None  # it was edited
        self._particles = np.array(layer.data)

    def _tell_edits(self, event: Any) -> None:
        """Tell of what the user has done; what nothing takes note of is kept for the next link."""
        layer: Any = self.layer("particles")
        if layer is None or self._particles is None or event.action in _BEGUN:
            return
        if done := done_between(self._particles, layer.data):
            self.edited.emit(done)
            self.edits()

    def put(self, role: str, layer_data: LayerData) -> None:
        """Show layer data in the layer of a role, which is made if need be; the user's choice of layer stays.

        It lies as the layer does that it is drawn over.
        """
        assert self._over is not None  # nothing is drawn before
        if role == "particles":
            layer_data = self.edits().of_layer(layer_data)
            self._particles = np.array(layer_data[0])
        data, given, kind = layer_data
        layer = self.layer(role)
        if len(data) == 0:
            self._remove(role)
            return
        if layer is not None and layer.ndim == self._over.ndim:
            with layer.events.data.blocker() if role in _MARKS else nullcontext():
                fill_layer(layer, layer_data)  # marks lie among the tracks: no slider is to reach farther
            if role in self._void:
                layer.visible = self._void[role]
        else:
            self._remove(role)
            active = self._viewer.layers.selection.active
            layer = make_layer((data, given | placed_like(self._over), kind))
            self._layers[role] = layer
            self._viewer.add_layer(layer)
            if active is not None:
                self._viewer.layers.selection.active = active
            if role == "particles":
                self._connections.add(layer.events.data, self._tell_edits)
        if role == "particles":
            self._depth.show(layer)
        layer.metadata[OURS][_DRAWN] = role, ref(self._over)
        if kind == "tracks":
            draw_plainly(layer)
        self._void.pop(role, None)
        self._name(layer, given["name"])
        self._raise(layer)

    def _raise(self, layer: Layer) -> None:
        """Put a layer above the one that it is drawn over, which may have been opened since."""
        layers = self._viewer.layers
        if self._over in layers and layers.index(layer) < layers.index(self._over):
            layers.move(layers.index(layer), layers.index(self._over) + 1)

    def hide(self, role: str, prefix: str = "") -> None:
        """Put a layer whose content is void out of sight; taking it away and making another would cost napari 0.5 s.

        `prefix` is put before its name until it is filled again.
        """
        layer = self.layer(role)
        if layer is not None and role not in self._void:
            self._void[role] = layer.visible
            layer.visible = False
            self._name(layer, f"{prefix}{layer.name}")

    def _name(self, layer: Layer, name: str) -> None:
        """Name a layer, unless the user has given it another name since."""
        if layer.name == self._named.get(layer, layer.name):
            layer.name = name
            self._named[layer] = layer.name  # napari numbers names that are taken

    def take_away(self, *roles: str) -> None:
        """Put layers of no further use out of sight at once, and take one away in each turn of the event loop."""
        for role in roles:
            self.hide(role)
        self._spent = [*roles]
        self._sweep.start()

    def _remove_spent(self) -> None:
        self._spent = [role for role in self._spent if role in self._void]  # another may have come to be of use
        if self._spent:
            self._remove(self._spent.pop())
            self._sweep.start()

    def _take_turn(self) -> None:
        """Give one layer to napari, or paint once it has them all: taking up and painting are a tick each."""
        if self._queue:
            self._turn.start()  # first: the next turn comes even if napari refuses this layer
            self._set_painting(False)
            self.put(*self._queue.pop(0))
        else:
            self._set_painting(True)
            self.taken.emit()

    def _set_painting(self, on: bool) -> None:
        """Let the canvas paint, or hold it; panels and menus are painted all the time."""
        canvas_of(self._viewer).setUpdatesEnabled(on)

    def _remove(self, role: str) -> None:
        """Take a layer away, and have the rest painted: where two go before that, Mesa's software GL crashes."""
        layer = self.layer(role)
        if layer is not None:
            self._viewer.layers.remove(layer)
            paint_now(self._viewer)
        self._layers.pop(role, None)
        self._void.pop(role, None)


def is_in_use(layer: Layer, layers: Iterable[Layer]) -> bool:
    """Whether a layer is drawn over one of others, or is a mark; tracks over none that is there may be taken up."""
    ours = layer.metadata.get(OURS, {})
    role, over = ours.get(_DRAWN, ("", None))
    return bool(ours.get("overlay")) and (role != "tracks" or over() in layers)


def _overlap(one: Any, other: Any) -> bool:
    """Whether two layers lie, in part at least, in the same place, whatever their frames are."""
    ndim = min(one.ndim, other.ndim) - 1  # without time
    (low, high), (other_low, other_high) = (layer.extent.world[:, -ndim:] for layer in (one, other))
    return bool((np.maximum(low, other_low) <= np.minimum(high, other_high)).all())
