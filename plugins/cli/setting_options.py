"""The options that are settings, one declaration each: which setting each one is, and how its text is read.

What they are is said by `tracker.setting_words`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from ...tracker.errors import InvalidSetting
from ...tracker.setting_words import WORDS
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


def _gigabytes(text: str, setting: str) -> float:
    digits, unit = text.strip().upper().removesuffix("B"), 1.0
    if digits.endswith(("G", "M")):
        digits, unit = digits[:-1], 1e-3 if digits.endswith("M") else 1.0
    try:
        return unit * float(digits)
    except ValueError:
        raise InvalidSetting(f"needs GB, such as 16, 16GB or 500MB; got {text!r}.", setting=setting) from None


def _count(text: str, setting: str) -> int | str:
    try:
        return AUTO if text == AUTO else int(text)
    except ValueError:
        raise InvalidSetting(f"needs a whole number, or auto; got {text!r}.", setting=setting) from None


def _sizes(text: str, setting: str) -> list[float]:
    from ...tracker.calibrating.lengths import is_above_zero

    try:
        sizes = [float(part) for part in text.split(",")]
    except ValueError:
        sizes = []
    if len(sizes) not in (2, 3) or not all(map(is_above_zero, sizes)):
        message = f"needs sizes above 0 along z,y,x (or y,x), such as 2,0.5,0.5; got {text!r}."
        raise InvalidSetting(message, setting=setting)
    return sizes


def _columns(text: str, setting: str) -> dict[str, str]:
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(ours and theirs for ours, _, theirs in pairs):
        raise InvalidSetting(f"needs OURS=THEIRS pairs, such as frame=Time,z=Pos_Z; got {text!r}.", setting=setting)
    return {ours.strip(): theirs.strip() for ours, _, theirs in pairs}


def _weights(text: str, setting: str) -> dict[str, float]:
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        return {name.strip(): float(weight) for name, _, weight in pairs}
    except ValueError:
        message = f"needs NAME=WEIGHT pairs, such as intensity=1; got {text!r}."
        raise InvalidSetting(message, setting=setting) from None


def _names(text: str, setting: str) -> list[str] | str:
    del setting
    return text if text in (AUTO, "none") else [name.strip() for name in text.split(",")]


def _links(path: Path, setting: str) -> Any:
    from ...tracker.linking.given_links import read_links

    return read_links(path, setting)


def _joined_sizes(sizes: Any) -> str:
    return ",".join(str(float(size)) for size in sizes)


def _joined_columns(names: Mapping[str, Any]) -> str:
    return ",".join(f"{ours}={theirs}" for ours, theirs in names.items())


def _joined_names(names: Any) -> str:
    return names if isinstance(names, str) else ",".join(names)


def _option(
    parameter: str,
    metavar: str,
    *,
    key: str = "",
    kind: type[Any] = str,
    read: Callable[[Any, str], Any] = _as_it_is,
    write: Callable[[Any], str] | None = str,
) -> SettingOption:
    key = key or parameter
    return SettingOption(parameter, key, metavar, _help(key), kind, read, write)


def _flag(parameter: str, help_: str = "", *, key: str = "", value: Any = True) -> SettingOption:
    key = key or parameter
    return SettingOption(parameter, key, "", help_ or _help(key), bool, lambda *_: value, None)


def _help(key: str) -> str:
    words = WORDS[key]
    unit = ", in µm" if words.is_length else ""
    default = f"Default: {words.auto}." if words.auto else ""
    return " ".join(part for part in (f"{words.what}{unit}.", words.more, words.written, default) if part)


def _named(section: str, panel: str, *options: SettingOption) -> Mapping[str, SettingOption]:
    return {option.parameter: replace(option, section=section, panel=panel) for option in options}


INPUT = _named(
    "input",
    "Input",
    _option("axes", "LETTERS"),
    _option("voxel", "Z,Y,X", key="scale", read=_sizes, write=_joined_sizes),
    _option("unit", "UNIT"),
    _option("frame_interval", "TIME", kind=float),
    _option("time_unit", "UNIT"),
    _option("frame_step", "N", kind=int),
    _option("channel", "NAME|NUMBER"),
    _option("frames", "FROM:TO[:STEP]"),
    _option("roi", "RANGES"),
    _flag(
        "labels",
        "The image holds labels (Cellpose, StarDist, CTC masks): each label is one particle; nothing is detected.",
        key="kind",
        value="labels",
    ),
    _option("intensity", "MOVIE"),
    _option("columns", "OURS=THEIRS,…", read=_columns, write=_joined_columns),
)
DETECT = _named(
    "detect",
    "Detection",
    _option("diameter", "LENGTH", read=_number),
    _option("threshold", "QUALITY", read=_number),
    _option("separation", "LENGTH", kind=float),
    _option("method", "log|dog"),
    _flag("dark", "Particles are dark on a bright background.", key="bright_on_dark", value=False),
)
LINK = _named(
    "link",
    "Linking",
    _option("motion", "NAME"),
    _option("features", "NAME,…", read=_names, write=_joined_names),
    _option("max_missed_frames", "N", read=_count),
    _flag("divisions"),
    _flag("merges"),
    _option("search_range", "LENGTH", read=_number),
    _option("unmatched_cost", "LENGTH", read=_number),
    _option("cost", "squared|distance"),
    _option("pinned", "FILE", kind=Path, read=_links, write=None),
    _option("forbidden", "FILE", kind=Path, read=_links, write=None),
    _option("linking", "auctrack|jaqaman"),
    _option("gap_closing_range", "LENGTH", read=_number),
    _option("division_range", "LENGTH", read=_number),
    _option("merge_range", "LENGTH", read=_number),
    *(
        _option(name, "NAME=WEIGHT,…", read=_weights, write=_joined_columns)
        for name in WORDS
        if name.endswith("_penalties")
    ),
    _option("solver", "NAME"),
    _option("device", "auto|cpu|cuda[:N]"),
    _option("memory_budget", "GB", key="memory_budget_gb", read=_gigabytes, write="{}GB".format),
)
REST = _named("", OUTPUT, _option("min_length", "N", kind=int))
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
