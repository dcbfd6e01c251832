"""The part of a layer that is tracked: some frames, a region, and for labels the movie that they were made from."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ....tracker.errors import InvalidInput
from .layer_input import LayerInput, read_layer
from .layer_movie import LayerMovie, Restriction

if TYPE_CHECKING:
    from napari.layers import Layer


def restricted(whole: LayerInput, part: Restriction) -> LayerInput:
    """Return the part of an input that is to be tracked.

    Raises
    ------
    InvalidInput
        If it is not more than one frame.
    """
    source = whole.source
    if part.frames is not None:
        first, last = part.frames
        numbers = [number for number in whole.frame_numbers if first <= number <= last]
        if len(numbers) < 2:
            raise InvalidInput(
                f"Tracking needs two frames or more; from frame {first} to frame {last} there are {len(numbers)}."
            )
        if isinstance(source, LayerMovie):
            source = replace(source, frame_numbers=tuple(numbers))
        else:
            source = source.cut(frames=slice(first, last + 1))
    if part.region is not None:
        if isinstance(source, LayerMovie):
            source = replace(source, region=part.region)
        else:
            source = source.cut(roi=part.region)
            if len(source) == 0:
                raise InvalidInput("no point lies in the region; draw it over the points.")
    return replace(whole, source=source, part=part, summary=whole.summary + _said(part))


def _said(part: Restriction) -> str:
    frames = "" if part.frames is None else f"; only frames {part.frames[0]} to {part.frames[1]}"
    if part.region is None:
        return frames
    box = " × ".join(f"{axis.start}:{axis.stop}" for axis in part.region)
    return f"{frames}; only the region {box}"


def with_intensity(labels: LayerInput, layer: Layer) -> LayerInput:
    """Return labels whose intensity is measured in an Image layer of the same shape.

    Raises
    ------
    InvalidInput
        If the layer is no movie, or has another shape or other frames than the labels.
    """
    movie = read_layer(layer)
    mask, source = labels.source, movie.source
    if not isinstance(source, LayerMovie) or not isinstance(mask, LayerMovie):
        raise InvalidInput(f"the intensity of labels is measured in an Image layer; {layer.name} is not one.")
    if source.whole_shape != mask.whole_shape or len(source) < len(mask.data):
        raise InvalidInput(
            f"{layer.name} ({len(source)} frames of {source.whole_shape}) does not fit the labels "
            f"({len(mask.data)} frames of {mask.whole_shape})."
        )
    return replace(labels, intensity=restricted(movie, labels.part))


def region_of(shapes: Any, layer: Layer, shape: tuple[int, ...]) -> tuple[slice, ...]:
    """Return the box around all shapes of a Shapes layer in y and x, whole in z, in the steps of a layer's data.

    Parameters
    ----------
    shapes : napari.layers.Shapes
    layer : Layer
        The one that is tracked.
    shape : tuple of int
        (z, y, x) or (y, x) of its frames, which the box is cut to.

    Raises
    ------
    InvalidInput
        If there is no shape, or none over the layer.
    """
    if len(shapes.data) == 0:
        raise InvalidInput(f"{shapes.name} has no shapes yet; draw a rectangle around what is to be tracked.")
    corners: list[np.ndarray] = []
    for vertices in shapes.data:
        for vertex in np.asarray(vertices, dtype=np.float64):
            world = np.zeros(layer.ndim)
            world[-2:] = np.asarray(shapes.data_to_world(vertex))[-2:]
            corners.append(np.asarray(layer.world_to_data(world))[-2:])
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    box = [
        (max(math.ceil(a), 0), min(math.floor(b) + 1, size)) for a, b, size in zip(low, high, shape[-2:], strict=True)
    ]
    if any(end - start < 1 for start, end in box):
        raise InvalidInput(f"the shapes of {shapes.name} do not lie over {layer.name}; draw them over its particles.")
    return (*(slice(0, size) for size in shape[:-2]), *(slice(start, end) for start, end in box))
