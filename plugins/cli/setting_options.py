"""The options that are settings, one declaration each: their help, and which setting each one is."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ...tracker.errors import InvalidSetting
from .options import OUTPUT

AUTO = "auto"


@dataclass(frozen=True)
class SettingOption:
    """Which setting an option is.

    Attributes
    ----------
    parameter : str
        Its name in commands.
    key, section, panel : str
        The setting, its section (none: the top), and where help shows it.
    metavar, help : str
    kind : type
        Of the value that typer reads.
    read : callable
        Takes that value and the name of the setting; returns the setting.
    write : callable or None
        The text of the option for a setting; None where settings are never options again.
    """

    parameter: str
    key: str
    metavar: str
    help: str
    kind: type[Any]
    read: Callable[[Any, str], Any]
    write: Callable[[Any], str] | None
    section: str = ""
    panel: str = ""

    @property
    def is_flag(self) -> bool:
        """Whether it takes no value."""
        return self.kind is bool

    @property
    def name(self) -> str:
        """As users write it."""
        return f"--{self.parameter.replace('_', '-')}"

    @property
    def option(self) -> Any:
        """What typer takes for it."""
        return typer.Option(
            self.name, metavar=self.metavar, rich_help_panel=self.panel, help=self.help, show_default=False
        )

    def as_parameter(self) -> inspect.Parameter:
        """Return the parameter of a command that takes it."""
        wanted, default = (bool, False) if self.is_flag else (self.kind | None, None)
        return inspect.Parameter(
            self.parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[wanted, self.option]
        )


def taking(*settings: SettingOption) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options that are settings, before its own; it finds them in its context."""

    def with_them(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in signature.parameters.values()]
        first = sum(one.default is one.empty for one in own)
        own[first:first] = [one.as_parameter() for one in settings]

        @wraps(command)
        def taking_them(**given: Any) -> None:
            command(**{name: given[name] for name in signature.parameters})

        taking_them.__signature__ = signature.replace(parameters=own)  # pyright: ignore[reportAttributeAccessIssue]
        return taking_them

    return with_them


def chosen(*groups: Mapping[str, SettingOption], without: str = "") -> list[SettingOption]:
    """Return the options of some groups, without those named."""
    return [option for group in groups for name, option in group.items() if name not in without.split()]


def _as_it_is(value: Any, setting: str) -> Any:
    del setting
    return value


def _number(text: str, setting: str) -> float | str:
    try:
        return AUTO if text == AUTO else float(text)
    except ValueError:
        raise InvalidSetting(f"needs a number, or auto; got {text!r}.", setting=setting) from None


def _count(text: str, setting: str) -> int | str:
    try:
        return AUTO if text == AUTO else int(text)
    except ValueError:
        raise InvalidSetting(f"needs a whole number, or auto; got {text!r}.", setting=setting) from None


def _sizes(text: str, setting: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidSetting(
            f"needs sizes along z,y,x (or y,x), such as 2,0.5,0.5; got {text!r}.", setting=setting
        ) from None


def _columns(text: str, setting: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise InvalidSetting(f"needs OURS=THEIRS pairs, such as frame=Time,z=Pos_Z; got {text!r}.", setting=setting)
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _names(text: str, setting: str) -> list[str] | str:
    del setting
    return text if text in (AUTO, "none") else [name.strip() for name in text.split(",")]


def _links(path: Path, setting: str) -> Any:
    from ...tracker.linking.given_links import read_links

    return read_links(path, setting)


def _joined_sizes(sizes: Any) -> str:
    return ",".join(str(float(size)) for size in sizes)


def _joined_columns(names: Mapping[str, str]) -> str:
    return ",".join(f"{ours}={theirs}" for ours, theirs in names.items())


def _joined_names(names: Any) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _option(
    parameter: str,
    metavar: str,
    help_: str,
    *,
    key: str = "",
    kind: type[Any] = str,
    read: Callable[[Any, str], Any] = _as_it_is,
    write: Callable[[Any], str] | None = str,
) -> SettingOption:
    return SettingOption(parameter, key or parameter, metavar, help_, kind, read, write)


def _flag(parameter: str, help_: str, *, key: str = "", value: Any = True) -> SettingOption:
    return SettingOption(parameter, key or parameter, "", help_, bool, lambda *_: value, None)


def _named(section: str, panel: str, *options: SettingOption) -> Mapping[str, SettingOption]:
    return {option.parameter: replace(option, section=section, panel=panel) for option in options}


INPUT = _named(
    "input",
    "Input",
    _option(
        "axes",
        "LETTERS",
        "Dimensions of the file, one letter each: T time, Z depth, C channel, Y, X. Example: TZYX. Needed only if "
        "the file does not say. For a folder, the first letters stand for the numbers in its file names.",
    ),
    _option(
        "voxel",
        "Z,Y,X",
        "Voxel size along z,y,x (or y,x) in µm. Example: 2,0.5,0.5. Needed only if the file does not say.",
        key="scale",
        read=_sizes,
        write=_joined_sizes,
    ),
    _option("unit", "UNIT", "Unit of all lengths, such as µm, nm or mm. 'pixel' measures everything in pixels."),
    _option("frame_interval", "TIME", "Time between two frames, in seconds.", kind=float),
    _option("time_unit", "UNIT", "Unit of time, such as min; --frame-interval is given in it."),
    _option(
        "frame_step",
        "N",
        "Step between consecutive frame numbers of a table: 5 if it holds frames 0, 5, 10, …. Default: what the "
        "settings beside the table say, else 1. Not for movies.",
        kind=int,
    ),
    _option(
        "channel",
        "NAME|NUMBER",
        "Channel to read, by name or number (from 0), where there are several. For a colour image: red, green, "
        "blue, or grey (their mean).",
    ),
    _option(
        "frames",
        "FROM:TO[:STEP]",
        "Frames to use, counted from 0; TO itself is not one of them. Example: 0:20, or ::5 for every fifth.",
    ),
    _option(
        "roi",
        "RANGES",
        "Region to use, in voxels: one from:to per axis, in the order z,y,x. Example: 0:10,100:300,: (all of x).",
    ),
    _flag(
        "labels",
        "The image holds labels (Cellpose, StarDist, CTC masks): each label is one particle; nothing is detected.",
        key="kind",
        value="labels",
    ),
    _option("intensity", "MOVIE", "With --labels: the movie whose intensity is measured under each label."),
    _option(
        "columns",
        "OURS=THEIRS,…",
        "Columns of a table that have other names. Example: frame=Time,z=Pos_Z,y=Pos_Y,x=Pos_X. Those of "
        "trackpy, laptrack, TrackMate, Imaris and napari are known.",
        read=_columns,
        write=_joined_columns,
    ),
)
DETECT = _named(
    "detect",
    "Detection",
    _option(
        "diameter",
        "LENGTH",
        "Diameter of a particle in µm. Default: suggested from the movie (auctrack info says why).",
        read=_number,
    ),
    _option(
        "threshold",
        "QUALITY",
        "Lowest quality of a particle (roughly its contrast, in grey levels). Default: found from the movie.",
        read=_number,
    ),
    _option(
        "separation",
        "LENGTH",
        "Of two particles closer together than this, in µm, only the better one is kept. Default: half the diameter.",
        kind=float,
    ),
    _option(
        "method",
        "log|dog",
        "Laplacian of Gaussian (the default), or difference of Gaussians as in other programs; equally fast.",
    ),
    _flag("dark", "Particles are dark on a bright background.", key="bright_on_dark", value=False),
)
LINK = _named(
    "link",
    "Linking",
    _option(
        "motion",
        "NAME",
        "How steps are predicted, learned from the movie: diffusion (how far particles move), velocity (also from "
        "each particle's steps before and after), flow (also from its neighbours' steps), flow+velocity; auto (the "
        "default) uses what helps. none links each pair of frames by distance alone.",
    ),
    _option(
        "features",
        "NAME,…",
        "Columns of the detections, with values above 0, whose change along a link says how likely it is, such as "
        "intensity,snr: learned, and used where it tells links apart. auto: the usual ones that are there. "
        "[default: none]",
        read=_names,
        write=_joined_names,
    ),
    _option(
        "max_missed_frames",
        "N",
        "Frames a particle may be missing inside a track (trackpy: memory). auto (the default): as many as the "
        "movie makes worthwhile.",
        read=_count,
    ),
    _flag("divisions", "A particle may be followed by two."),
    _flag("merges", "Two particles may be followed by one."),
    _option(
        "search_range",
        "LENGTH",
        "Longest step a particle can take between two frames, in µm (TrackMate: linking max distance). Default: "
        "as far as the learned steps reach; with --motion none 1.3 times the mean distance between neighbours.",
        read=_number,
    ),
    _option(
        "unmatched_cost",
        "LENGTH",
        "What it costs to leave a particle unlinked, in µm: no link is longer than twice this. Default: learned, or "
        "with --motion none measured, from the particles' own steps, which suits most movies.",
        read=_number,
    ),
    _option(
        "cost",
        "squared|distance",
        "Cost of a link with --motion none: its squared length (the default; as trackpy and TrackMate), or its "
        "length. Learned motion has its own, the likelihood.",
    ),
    _option(
        "pinned",
        "FILE",
        "CSV of links that are always made: columns source, target (rows of the points, counted from "
        "0), or source_frame, source_z, source_y, source_x, target_frame, … (places, in voxels).",
        kind=Path,
        read=_links,
        write=None,
    ),
    _option(
        "forbidden",
        "FILE",
        "CSV of links that are never made; columns as for --pinned.",
        kind=Path,
        read=_links,
        write=None,
    ),
    _option(
        "linking",
        "auctrack|jaqaman",
        "jaqaman reproduces TrackMate's LAP tracker: frame by frame, then gaps, divisions and merges at "
        "its costs, without learned motion. Its max frame gap is --max-missed-frames + 1.",
    ),
    _option(
        "gap_closing_range",
        "LENGTH",
        "With --linking jaqaman: longest link across a gap, in µm. Default: the search range.",
        read=_number,
    ),
    _option(
        "division_range",
        "LENGTH",
        "With --linking jaqaman: longest link to a second daughter (TrackMate: splitting). Default: the search range.",
        read=_number,
    ),
    _option(
        "merge_range",
        "LENGTH",
        "With --linking jaqaman: longest link from a second parent (TrackMate: merging). Default: the search range.",
        read=_number,
    ),
    _option(
        "solver",
        "NAME",
        "Assignment solver, such as auction, jv or sparse-jv; auto (the default) picks one. All reach the same, "
        "optimal cost.",
    ),
    _option(
        "device",
        "auto|cpu|cuda[:N]",
        "Where frames are filtered and the assignment is solved: cuda uses a GPU. auto (the default) uses one"
        " where there is one and the movie (2^27 voxels) or the problem (200,000 candidate links at a time) is large.",
    ),
)
REST = _named("", OUTPUT, _option("min_length", "N", "Keep only tracks of at least N detections.", kind=int))
SETTINGS: Mapping[str, SettingOption] = {**INPUT, **DETECT, **LINK, **REST}
"""Every setting that has an option, by the name of its parameter."""
_TABLE_VOXEL = replace(
    INPUT["voxel"],
    help="Size in µm of one coordinate step along z,y,x (or y,x), for a table in voxels. Example: 2,0.5,0.5.",
)
OF_TABLE = (
    INPUT["columns"],
    _TABLE_VOXEL,
    *(INPUT[name] for name in ("unit", "frame_interval", "time_unit", "frame_step")),
)
"""What tables may not say."""
