"""What the widget listens to in the viewer, all let go at once when the widget goes before the viewer does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Connections:
    """Callbacks connected to napari's events, mouse and keys.

    No Qt object, so that it can act while its widget is being destroyed.
    """

    def __init__(self) -> None:
        self._held: list[tuple[Any, Callable[..., Any]]] = []

    def add(self, emitter: Any, callback: Callable[..., Any]) -> None:
        """Connect a callback to an event emitter."""
        emitter.connect(callback)
        self._held.append((emitter, callback))

    def add_to_list(self, callbacks: list[Callable[..., Any]], callback: Callable[..., Any]) -> None:
        """Append a callback to one of napari's lists of mouse callbacks."""
        callbacks.append(callback)
        self._held.append((_Listed(callbacks), callback))

    def add_key(self, viewer: Any, key: str, callback: Callable[..., Any]) -> None:
        """Bind a key of the viewer, and of its layers: the selected layer has its own keys asked first.

        Layers that are painted in keep theirs.
        """
        self._bind(viewer, key, callback)
        for layer in viewer.layers:
            self._bind(layer, key, callback)
        self.add(viewer.layers.events.inserted, lambda event: self._bind(event.value, key, callback))

    def _bind(self, of: Any, key: str, callback: Callable[..., Any]) -> None:
        if not has_own_keys(of):
            of.bind_key(key, callback, overwrite=True)
            self._held.append((_Bound(of, key), callback))

    def drop(self) -> None:
        """Disconnect everything."""
        while self._held:
            emitter, callback = self._held.pop()
            emitter.disconnect(callback)


def has_own_keys(layer: object) -> bool:
    """Whether a layer is painted in, by keys that it keeps while it is selected."""
    return layer.__class__.__name__ in ("Labels", "Shapes")  # napari hands some layers out in proxies


class _Bound:
    def __init__(self, of: Any, key: str) -> None:
        self._of, self._key = of, key

    def disconnect(self, callback: Callable[..., Any]) -> None:
        """Free the key, unless another widget has taken it since."""
        bound = {str(key).upper(): function for key, function in self._of.keymap.items()}
        if bound.get(self._key.upper().replace("-", "+")) == callback:
            self._of.bind_key(self._key, None, overwrite=True)


class _Listed:
    def __init__(self, callbacks: list[Callable[..., Any]]) -> None:
        self._callbacks = callbacks

    def disconnect(self, callback: Callable[..., Any]) -> None:
        if callback in self._callbacks:
            self._callbacks.remove(callback)
