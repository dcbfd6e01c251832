"""The image that particles lie over: their own, or one that is shown where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....tracker.errors import InvalidInput
from .layer_input import read_layer
from .layer_movie import LayerMovie

if TYPE_CHECKING:
    from napari import Viewer


def image_under(viewer: Viewer, chosen: Any) -> Any:
    """Return the layer chosen as input if it is an image, else the topmost one shown in its place; None without one."""
    if chosen is None or type(chosen).__name__ == "Image":
        return chosen
    images: list[Any] = [layer for layer in viewer.layers if type(layer).__name__ == "Image" and layer.visible]
    return next((image for image in reversed(images) if _is_placed_like(image, chosen)), None)


def movie_of(image: Any) -> LayerMovie | None:
    """Return the whole movie of an image layer; None where it has none, or its axes are not known."""
    if image is None:
        return None
    try:
        source = read_layer(image).source
    except InvalidInput:
        return None
    return source if isinstance(source, LayerMovie) else None


def _is_placed_like(image: Any, chosen: Any) -> bool:
    return (
        not image.rgb
        and image.ndim == chosen.ndim
        and all(np.allclose(getattr(image, name), getattr(chosen, name)) for name in ("scale", "translate"))
    )
