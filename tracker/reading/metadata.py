"""Voxel size, frame interval and channel names as OME-XML and ImageJ headers state them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from ..calibrating.stated import AXES, Stated, usable
from ..calibrating.units import MICROMETRE, SECOND, in_seconds, is_pixel, micrometres_of
from ..errors import InvalidInput

if TYPE_CHECKING:
    from tifffile import TiffFile

# tifffile signs its ImageJ files with this version, and fills in a resolution of 1 where it was given none.
_TIFFFILE_AS_IMAGEJ = "1.11a"
_UNITS_OF_TAGS = {2: 25_400.0, 3: 10_000.0}
"""µm in the inch and the centimetre that resolution tags count by; 1 is no unit."""


_SEVERAL_IMAGES = re.compile(r"<(?:\w+:)?Image\b.*<(?:\w+:)?Image\b", re.DOTALL)


def stated_by(tif: TiffFile, series: int = 0) -> tuple[Stated, tuple[str, ...]]:
    """Return what a TIFF file states of its calibration, and the names of its channels (empty when it has none).

    Of several images of an OME-XML header the one of the number `series` counts.

    Resolution tags outside ImageJ files are left alone: they are the dots per inch of a printer far more often than
    the size of a voxel.
    """
    if tif.ome_metadata:
        return ome_stated(tif.ome_metadata, series)
    if tif.imagej_metadata:
        tags = tif.pages.first.tags
        resolution = {axis: tags.valueof(f"{axis.upper()}Resolution") for axis in ("y", "x")}
        if tif.imagej_metadata.get("ImageJ") == _TIFFFILE_AS_IMAGEJ and set(resolution.values()) == {(1, 1)}:
            resolution = {}
        return imagej_stated(tif.imagej_metadata, resolution), ()
    summary = (tif.micromanager_metadata or {}).get("Summary")
    if summary is not None:
        return micro_manager_stated(summary)
    return Stated(source=_without_header(tif)), ()


def _without_header(tif: TiffFile) -> str:
    """Return what is there in place of a header that states sizes, with the resolution that a printer would take."""
    tags = tif.pages.first.tags
    per_pixel, unit = _per_pixel(tags.valueof("XResolution")), _UNITS_OF_TAGS.get(tags.valueof("ResolutionUnit"))
    none = "no OME-XML or ImageJ header"
    if per_pixel is None or unit is None:
        return none
    return f"{none}, and resolution tags of {per_pixel * unit:.4g} µm a pixel are a printer's as a rule"


def micro_manager_stated(summary: Mapping[str, Any]) -> tuple[Stated, tuple[str, ...]]:
    """Read the summary of a Micro-Manager stack, all that a file of one has that is not the first."""
    pixel, depth = _number(summary.get("PixelSize_um")), _number(summary.get("z-step_um"), sign_matters=False)
    sizes = {"z": depth, "y": pixel, "x": pixel}
    milliseconds = _number(summary.get("Interval_ms"))
    stated = Stated(
        sizes={axis: size for axis, size in sizes.items() if size is not None},
        unit=MICROMETRE,
        frame_interval=None if milliseconds is None else milliseconds / 1000,
        time_unit=SECOND,
        source="Micro-Manager header",
    )
    return stated, tuple(map(str, summary.get("ChNames") or ()))


def ome_image_names(xml: str) -> list[str]:
    """Return the names of the images in an OME-XML header where there are several, "" for those without one."""
    if _SEVERAL_IMAGES.search(xml) is None:  # nearly all: not worth to parse what may be megabytes
        return []
    return [image.get("Name", "") for image in _root(xml).iterfind("{*}Image")]


def ome_stated(xml: str, series: int = 0) -> tuple[Stated, tuple[str, ...]]:
    """Read an image of an OME-XML header, by its number, or the only one.

    Lengths without a unit are µm and times without a unit are s, as the OME schema says. Sizes in "pixel" or
    "reference frame" state nothing.

    Raises
    ------
    InvalidInput
        If the XML is damaged.
    """
    images = _root(xml).findall(".//{*}Image/{*}Pixels")
    if not images:
        return Stated(source="OME-XML"), ()
    pixels = images[series if series < len(images) else 0]
    sizes = {axis: _ome_length(pixels, f"PhysicalSize{axis.upper()}") for axis in AXES}
    names = [channel.get("Name") or f"channel {number}" for number, channel in enumerate(pixels.findall("{*}Channel"))]
    interval, odd = in_seconds(_number(pixels.get("TimeIncrement")), pixels.get("TimeIncrementUnit", SECOND))
    stated = Stated(
        sizes={axis: size for axis, size in sizes.items() if size is not None},
        unit=MICROMETRE,
        frame_interval=interval,
        time_unit=SECOND,
        source="OME-XML",
        odd_interval=odd,
    )
    return stated, tuple(names)


def _root(xml: str) -> ET.Element:
    try:
        return ET.fromstring(xml)
    except ET.ParseError as error:
        raise InvalidInput(f"its OME-XML header is damaged ({error}).") from error


def _ome_length(pixels: ET.Element, name: str) -> float | None:
    size, factor = _number(pixels.get(name)), micrometres_of(pixels.get(f"{name}Unit", MICROMETRE))
    return size * factor if size is not None and factor is not None else None


def imagej_stated(header: Mapping[str, Any], resolution: Mapping[str, Any]) -> Stated:
    """Read an ImageJ header and the resolution tags beside it.

    Parameters
    ----------
    header : mapping
        Keys of the ImageDescription: "unit", "yunit", "zunit", "spacing", "finterval", "tunit".
    resolution : mapping
        The tags XResolution and YResolution under "x" and "y": (pixels, units) or None.

    Notes
    -----
    A `unit` of inch is a print resolution and states nothing, no more than one of pixels; the source names it then.
    ImageJ leaves out a `spacing` of exactly 1, and so does everyone who never set one; a missing spacing therefore
    stays unknown.
    """
    unit = _plain(header.get("unit"))
    sizes: dict[str, float | None] = {axis: _per_pixel(resolution.get(axis)) for axis in ("y", "x")}
    sizes["z"] = _number(header.get("spacing"), sign_matters=False)
    interval, odd = in_seconds(_number(header.get("finterval")), _plain(header.get("tunit")) or SECOND)
    known = {
        axis: size * factor
        for axis, size in sizes.items()
        if size is not None and (factor := _imagej_factor(_plain(header.get(f"{axis}unit")) or unit)) is not None
    }
    says_no_length = not known and unit is not None
    return Stated(
        sizes=known,
        unit=None if unit is None else MICROMETRE,
        frame_interval=interval,
        time_unit=SECOND,
        source=f"ImageJ header, whose unit is {unit}" if says_no_length else "ImageJ header",
        odd_interval=odd,
    )


def _imagej_factor(unit: str | None) -> float | None:
    """Return µm per `unit`; 1 when the header names no unit (the number is kept), None when it is not a length."""
    if unit is None:
        return 1.0
    return None if is_pixel(unit) else micrometres_of(unit)


def _plain(text: object) -> str | None:
    r"""Return a header's text without its Java escapes (ImageJ writes µm as \u00B5m); None when there is none."""
    if not isinstance(text, str) or not text.strip():
        return None
    name = text.strip()
    return name.encode("ascii", "backslashreplace").decode("unicode_escape") if "\\u" in name else name


def _per_pixel(tag: Any) -> float | None:
    """Return units per pixel from a resolution tag, which counts pixels per unit."""
    if tag is None:
        return None
    pixels, units = tag
    return units / pixels if pixels and usable(units / pixels) else None


def _number(value: object, *, sign_matters: bool = True) -> float | None:
    """Return a header's number, None when it is absent, unreadable or not above zero."""
    try:
        number = float(value)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError):
        return None
    number = number if sign_matters else math.fabs(number)
    return number if usable(number) else None
