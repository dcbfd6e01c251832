"""The image that particles lie over: their own, or one that is shown where they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ....tracker.errors import InvalidInput
from .layer_input import read_layer
from .layer_movie import LayerMovie
from .series_shown import series_of

if TYPE_CHECKING:
    from napari import Viewer


def image_under(viewer: Viewer, chosen: Any, series: int | str | None = None) -> Any:
    """Return the layer chosen as input if it is an image, else the topmost one shown in its place; None without one.

    One of the `series` that the particles are of, by number or name, goes before all others, though it is hidden.
    """
    if chosen is None or type(chosen).__name__ == "Image":
        return chosen
    images: list[Any] = [layer for layer in reversed(viewer.layers) if type(layer).__name__ == "Image"]
    images = [image for image in images if _is_placed_like(image, chosen)]
    shown = [image for image in images if image.visible]
    own = [image for image in (*shown, *images) if series in series_of(image)]
    return next(iter([*own, *shown]), None)


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
