"""Very many lines of tracks are drawn without what napari adds to them: it costs most of a step of the time slider.

Without a GPU, smoothing a million lines takes longer than all else, and making a thumbnail of them a fifth of the rest.
"""

from __future__ import annotations

from typing import Any

_MANY = 200_000
"""Vertices, of which no eye tells whether their lines are smooth."""


def draw_plainly(layer: Any) -> None:
    """Draw the lines of a Tracks layer smoothly, and renew its thumbnail, only while they are not very many."""
    are_many = len(layer.data) > _MANY
    visual = _visual_of(layer)
    if visual is not None:  # of a layer in a viewer
        visual.node._subvisuals[0].antialias = not are_many  # noqa: SLF001 - the one way to napari's lines
    if are_many:
        layer._update_thumbnail = _leave_as_it_is  # noqa: SLF001 - napari makes one at each step of a slider
    else:
        vars(layer).pop("_update_thumbnail", None)


def _visual_of(layer: Any) -> Any:
    """Return what draws a layer: it listens to how wide its lines are to be."""
    listening = (listener for listener in layer.events.tail_width.callbacks if isinstance(listener, tuple))
    return next((owner() for owner, _ in listening if hasattr(owner(), "node")), None)


def _leave_as_it_is() -> None:
    """Leave the thumbnail as it is."""
