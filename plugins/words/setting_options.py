"""The options that are settings, one declaration each: which setting each one is, and how its text is read and written.

What they are is said by `tracker.setting_words`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tracker.errors import InvalidSetting
from ...tracker.setting_words import WORDS
from .likely_number import likely_number

if TYPE_CHECKING:
    from ...tracker.settings import Settings

AUTO, OUTPUT = "auto", "Output"


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


def _as_it_is(value: Any, setting: str) -> Any:
    del setting
    return value


def _number(text: str, setting: str) -> float | str:
    try:
        return AUTO if text == AUTO else float(text)
    except ValueError:
        raise _no_number("a number, or auto", text, setting) from None


def _plain_number(text: str, setting: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise _no_number("a number", text, setting) from None


def _no_number(needed: str, text: str, setting: str) -> InvalidSetting:
    problem = f"needs {needed}; got {text!r}. {likely_number(text, setting)}"
    return InvalidSetting(problem.strip(), setting=setting)


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
    _option("frame_interval", "TIME", read=_plain_number),
    _option("time_unit", "UNIT"),
    _option("frame_step", "N", kind=int),
    _option("channel", "NAME|NUMBER"),
    _option("series", "NAME|NUMBER|all"),
    _option("frames", "FROM:TO[:STEP]"),
    _option("roi", "RANGES"),
    _flag(
        "labels",
        "The image holds labels (Cellpose, StarDist, CTC masks): each label is one particle; nothing is detected.",
        key="kind",
        value="labels",
    ),
    _option("intensity", "MOVIE"),
    _option("intensity_channel", "NAME|NUMBER"),
    _option("columns", "OURS=THEIRS,…", read=_columns, write=_joined_columns),
)
DETECT = _named(
    "detect",
    "Detection",
    _option("diameter", "LENGTH", read=_number),
    _option("threshold", "QUALITY", read=_number),
    _option("separation", "LENGTH", read=_plain_number),
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
OPTIONS: Mapping[str, str] = {of.key: of.parameter for of in SETTINGS.values() if of.parameter != of.key} | {
    "lags": "displacements"
}
"""Options that are called otherwise than their settings."""
_NO_FIELD = ("frame_step",)
"""Settings that no field of a window takes."""


def option_of(setting: str, options: Mapping[str, str] = OPTIONS) -> str:
    """Return the option of a setting.

    Examples
    --------
    >>> option_of("search_range"), option_of("scale")
    ('--search-range', '--voxel')
    """
    return f"--{options.get(setting, setting).replace('_', '-')}"


def in_words(setting: str) -> str:
    """Return the name of a setting as a window has it, or the command that takes one for which there is no field.

    Examples
    --------
    >>> in_words("search_range"), in_words("max_missed_frames"), in_words("frame_step")
    ('search range', 'missed frames', 'in a terminal auctrack track FILE --frame-step')
    """
    if setting in _NO_FIELD:
        return f"in a terminal auctrack track FILE {option_of(setting)}"
    own = WORDS[setting].field if setting in WORDS else ""
    return own or setting.replace("_", " ")


def as_options(settings: Settings) -> list[str]:
    """Return settings as options of `auctrack track`, those at their defaults left out: what "copy as command" copies.

    Links that are given are no part of it: they stand in files.

    Examples
    --------
    >>> from auctrack.tracker.settings import Settings
    >>> as_options(Settings.from_mapping({"link": {"search_range": 2.5}}))
    ['--search-range', '2.5']
    """
    from ...tracker.settings import Settings

    mapping, default = settings.to_mapping(), Settings().to_mapping()
    words: list[str] = []
    for option in SETTINGS.values():
        value, usual = (
            (of.get(option.section, {}) if option.section else of).get(option.key) for of in (mapping, default)
        )
        if value is None or value == usual:
            continue
        if option.write is not None:
            words += [option.name, option.write(value)]
        elif option.is_flag and value == option.read(True, option.key):
            words.append(option.name)
    return words
