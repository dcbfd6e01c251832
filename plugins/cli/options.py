"""The options that commands share: one declaration each, and how their text becomes settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from ...tracker.errors import InvalidSetting

_INPUT, _DETECT, _LINK, _OUTPUT = "Input", "Detection", "Linking", "Output"

Axes = Annotated[
    str | None,
    typer.Option(
        metavar="LETTERS",
        rich_help_panel=_INPUT,
        help="Dimensions of the file, one letter each: T time, Z depth, C channel, Y, X. Example: TZYX. Asked for when "
        "the file does not say.",
    ),
]
Voxel = Annotated[
    str | None,
    typer.Option(
        metavar="Z,Y,X",
        rich_help_panel=_INPUT,
        help="Voxel size along z, y, x (or y, x) in µm. Example: 2,1,1. Asked for when the file does not say.",
    ),
]
Unit = Annotated[
    str | None,
    typer.Option(rich_help_panel=_INPUT, help="Unit of length; 'pixel' measures everything in pixels."),
]
FrameInterval = Annotated[
    float | None, typer.Option(metavar="SECONDS", rich_help_panel=_INPUT, help="Time between two frames.")
]
Channel = Annotated[
    str | None,
    typer.Option(metavar="NAME|NUMBER", rich_help_panel=_INPUT, help="Channel to read, by name or number (from 0)."),
]
Frames = Annotated[
    str | None,
    typer.Option(
        metavar="FROM:TO[:STEP]", rich_help_panel=_INPUT, help="Frames to use, TO left out. Example: 0:20, or ::5 for every fifth."
    ),
]
Roi = Annotated[
    str | None,
    typer.Option(
        metavar="Z,Y,X RANGES",
        rich_help_panel=_INPUT,
        help="Region of interest in voxels, one from:to an axis. Example: 0:10,100:300,: (everything along x).",
    ),
]
Labels = Annotated[
    bool,
    typer.Option(
        "--labels",
        rich_help_panel=_INPUT,
        help="The image holds labels (Cellpose, StarDist, CTC masks): one particle a label, nothing is detected.",
    ),
]
Intensity = Annotated[
    str | None,
    typer.Option(
        metavar="MOVIE", rich_help_panel=_INPUT, help="With --labels: movie whose intensity is measured under each label."
    ),
]
Columns = Annotated[
    str | None,
    typer.Option(
        metavar="OURS=THEIRS,…",
        rich_help_panel=_INPUT,
        help="Columns of a point table. Example: frame=Time,z=Pos_Z. Known without it: trackpy, laptrack, TrackMate, napari.",
    ),
]
Diameter = Annotated[
    float | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_DETECT,
        help="Diameter of a particle in µm. Left out: suggested from the movie (auctrack info shows it with the reason).",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        metavar="QUALITY",
        rich_help_panel=_DETECT,
        help="Least quality (contrast in grey levels) of a particle. Left out: found from the movie.",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="log|dog", rich_help_panel=_DETECT, help="Laplacian of Gaussian, or its faster difference of Gaussians."
    ),
]
Dark = Annotated[
    bool, typer.Option("--dark", rich_help_panel=_DETECT, help="Particles are dark on a bright background.")
]
SearchRange = Annotated[
    float | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="Longest possible link in µm (TrackMate: linking max distance). Left out: 1.3 times the mean distance "
        "between neighbours.",
    ),
]
UnmatchedCost = Annotated[
    float | None,
    typer.Option(
        metavar="LENGTH",
        rich_help_panel=_LINK,
        help="Price of leaving a particle alone, in µm: no link becomes longer than twice this. Left out: measured from "
        "the particles' own steps.",
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(metavar="squared|distance", rich_help_panel=_LINK, help="Cost of a link: its squared length, or its length."),
]
Solver = Annotated[
    str | None,
    typer.Option(rich_help_panel=_LINK, help="Assignment solver; 'auto' picks one. All give the same optimal links."),
]
Device = Annotated[
    str | None,
    typer.Option(metavar="auto|cpu|cuda[:N]", rich_help_panel=_LINK, help="Where the assignment is solved."),
]
MinLength = Annotated[
    int | None,
    typer.Option(metavar="N", rich_help_panel=_OUTPUT, help="Keep tracks of at least N detections."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE.toml",
        rich_help_panel=_OUTPUT,
        help="Settings from a TOML file; options given here override it.",
    ),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", rich_help_panel=_OUTPUT, help="Replace results that stand in the way.")
]


def settings_mapping(config: Path | None, **options: Any) -> dict[str, Any]:
    """Return the settings that a TOML file and the given options state, as `Settings.from_mapping` takes them.

    Options that are None state nothing.
    """
    from ...tracker.settings import merged

    base = read_toml(config) if config is not None else {}
    stated = {
        "input": {
            "kind": "labels" if options.get("labels") else None,
            "axes": options.get("axes"),
            "scale": _maybe(sizes, options.get("voxel")),
            "unit": options.get("unit"),
            "frame_interval": options.get("frame_interval"),
            "channel": options.get("channel"),
            "frames": _maybe(frame_range, options.get("frames")),
            "roi": _maybe(region, options.get("roi")),
            "columns": _maybe(column_names, options.get("columns")),
            "intensity": options.get("intensity"),
        },
        "detect": {
            "diameter": options.get("diameter"),
            "threshold": options.get("threshold"),
            "method": options.get("method"),
            "bright_on_dark": False if options.get("dark") else None,
        },
        "link": {
            "search_range": options.get("search_range"),
            "unmatched_cost": options.get("unmatched_cost"),
            "cost": options.get("cost"),
            "solver": options.get("solver"),
            "device": options.get("device"),
        },
        "min_length": options.get("min_length"),
    }
    return merged(base, _stated_only(stated))


def read_toml(path: Path) -> dict[str, Any]:
    """Return a settings file as nested values.

    Raises
    ------
    InvalidSetting
        If it is not there or not TOML.
    """
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidSetting(f"--config {path}: cannot be read ({error.strerror or error}).") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidSetting(f"--config {path}: is not TOML ({error}).") from None


def sizes(text: str) -> tuple[float, ...]:
    """Read "2,1,1" as sizes."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidSetting(f"--voxel needs sizes along z,y,x (or y,x), such as 2,1,1; got {text!r}.") from None


def frame_range(text: str) -> list[int | None]:
    """Read "0:20" or "::5" as start, stop, step."""
    parts = text.split(":")
    if not 2 <= len(parts) <= 3:
        raise InvalidSetting(f"--frames needs FROM:TO or FROM:TO:STEP, such as 0:20; got {text!r}.")
    return [_whole(part, "--frames") for part in parts]


def region(text: str) -> list[list[int | None]]:
    """Read "0:10,100:300,:" as (from, to) along each axis."""
    ranges = [part.split(":") for part in text.split(",")]
    if any(len(ends) != 2 for ends in ranges):
        raise InvalidSetting(f"--roi needs one from:to an axis, such as 0:10,100:300,:; got {text!r}.")
    return [[_whole(end, "--roi") for end in ends] for ends in ranges]


def column_names(text: str) -> dict[str, str]:
    """Read "frame=Time,z=Pos_Z" as our names and theirs."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise InvalidSetting(f"--columns needs OURS=THEIRS pairs, such as frame=Time,z=Pos_Z; got {text!r}.")
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _whole(text: str, option: str) -> int | None:
    if not text.strip():
        return None
    try:
        return int(text)
    except ValueError:
        raise InvalidSetting(f"{option} needs whole numbers; got {text!r}.") from None


def _maybe(read: Any, text: str | None) -> Any:
    return None if text is None else read(text)


def _stated_only(values: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in values.items():
        inner = _stated_only(value) if key in ("input", "detect", "link") else value
        if inner is not None and inner != {}:
            out[key] = inner
    return out
