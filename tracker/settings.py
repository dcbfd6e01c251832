"""Every setting of a run in one value, as a TOML file states it and as it stands beside each result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from .calibrating.lengths import is_above_zero
from .detecting.settings import DetectSettings
from .errors import InvalidSetting
from .formats.columns.dialects import require_roles
from .formats.registry import holds_points
from .kinds import TEXT, declared_as, one_of, require_kinds, text_such_as, whole_number
from .linking.settings import HOOKS, LinkSettings
from .ranges import parse_frames, parse_roi
from .unknown_settings import KnownByName, refuse_unknown

InputKind = Literal["auto", "movie", "labels", "table"]
_TABLES: Mapping[str, str] = {"InputSettings": "[input]", "DetectSettings": "[detect]", "LinkSettings": "[link]"}
"""What classes of settings are called in a file."""


def _are_sizes(values: object) -> bool:
    plain = _as_sizes(values)
    return isinstance(plain, (list, tuple)) and len(plain) in (2, 3) and all(map(is_above_zero, plain))


def _as_sizes(values: Any) -> Any:
    """Return sizes as plain numbers: those of a layer of napari, or of a column, come as an array."""
    if isinstance(values, (list, tuple)):
        return tuple(value.item() if isinstance(value, np.generic) else value for value in values)
    return tuple(values.tolist()) if isinstance(values, (np.ndarray, pd.Series)) and values.ndim == 1 else values


def _are_names(names: object) -> bool:
    return isinstance(names, Mapping) and all(isinstance(name, str) for name in (*names, *names.values()))


_SIZES = declared_as("two or three sizes above 0 such as [2, 1, 1]", _are_sizes, stored=_as_sizes)
_TIME = declared_as("a time above 0", is_above_zero)
_NUMBER_OR_NAME = declared_as(
    "a number or a name in quotes",
    lambda value: isinstance(value, (int, np.integer, str)) and not isinstance(value, bool),
)
_NAMES = declared_as('names such as {frame = "Time"}', _are_names)


@dataclass(frozen=True)
class InputSettings(KnownByName):
    """How the input is read; None takes what the file states, and an error asks for what it does not.

    Parameters
    ----------
    kind : {"auto", "movie", "labels", "table"}
        "auto": a point table by its suffix (.csv, .tsv, .parquet, .xml, …), else a movie. A label image must be named
        as one.
    axes : str, optional
        One letter a dimension of the file, such as "TZYX".
    scale : sequence of float, optional
        Voxel size along z, y, x (or y, x).
    unit, time_unit : str, optional
    frame_interval : float, optional
        Time between two frames whose numbers differ by one, in `time_unit`, which is s unless given. Where only every
        fifth frame is there, it is a fifth of the time between those.
    channel : int or str, optional
    series : int or str, optional
        Which of several images in a file, such as the positions of a stage.
    frames : str, optional
        Frames to use, "from:to" or "from:to:step", `to` left out: "0:20", "::5".
    roi : str, optional
        Region of interest in voxels, one "from:to" an axis along z, y, x (or y, x): "0:10,100:300,:".
    columns : mapping of str to str, optional
        Table: our column names to those in the file.
    intensity : str, optional
        Labels: the movie whose intensity is measured under each label. Its axes are those given where they fit it, else
        those that it states.
    intensity_channel : int or str, optional
        The channel of that movie; unless given, that of the labels.
    frame_step : int, optional
        Table: difference between the numbers of two consecutive frames. A movie knows its frames.
    """

    kind: InputKind = field(default="auto", metadata=one_of(*get_args(InputKind)))
    axes: str | None = field(default=None, metadata=text_such_as("TZYX"))
    scale: Sequence[float] | None = field(default=None, metadata=_SIZES)
    unit: str | None = field(default=None, metadata=TEXT)
    frame_interval: float | None = field(default=None, metadata=_TIME)
    time_unit: str | None = field(default=None, metadata=TEXT)
    channel: int | str | None = field(default=None, metadata=_NUMBER_OR_NAME)
    series: int | str | None = field(default=None, metadata=_NUMBER_OR_NAME)
    frames: str | None = field(default=None, metadata=text_such_as("0:20"))
    roi: str | None = field(default=None, metadata=text_such_as("0:10,100:300,:"))
    columns: Mapping[str, str] | None = field(default=None, hash=False, metadata=_NAMES)
    intensity: str | None = field(default=None, metadata=TEXT)
    intensity_channel: int | str | None = field(default=None, metadata=_NUMBER_OR_NAME)
    frame_step: int | None = field(default=None, metadata=whole_number(1))

    def __post_init__(self) -> None:
        require_kinds(self)
        if self.intensity is not None and self.kind != "labels":
            raise InvalidSetting("goes with label images only.", setting="intensity")
        if self.intensity_channel is not None and self.intensity is None:
            raise InvalidSetting(
                "needs the movie that it is a channel of.", setting="intensity_channel", wanted=("intensity", "MOVIE")
            )
        require_roles(self.columns or {})
        _ = self.frame_slice, self.roi_slices

    @property
    def frame_slice(self) -> slice | None:
        """`frames` as a slice."""
        return None if self.frames is None else parse_frames(self.frames)

    @property
    def roi_slices(self) -> tuple[slice, ...] | None:
        """`roi` as slices."""
        return None if self.roi is None else parse_roi(self.roi)

    @property
    def of_table(self) -> dict[str, Any]:
        """What a table does not state itself: keywords of `read_points`, `read_tracks` and `read_either`."""
        names = ("columns", "scale", "unit", "frame_interval", "time_unit", "frame_step")
        return {name: getattr(self, name) for name in names}

    def is_table(self, path: str | Path) -> bool:
        """Whether `path` is read as a point table."""
        if self.kind == "auto":
            return holds_points(Path(path))
        return self.kind == "table"


@dataclass(frozen=True)
class Settings(KnownByName):
    """Everything that decides what tracks come out of an input.

    Parameters
    ----------
    input : InputSettings
    detect : DetectSettings
        Not looked at where nothing is detected (tables, label images).
    link : LinkSettings
    min_length : int
        Shortest track that is kept, in detections.
    """

    input: InputSettings = field(default_factory=InputSettings)
    detect: DetectSettings = field(default_factory=DetectSettings)
    link: LinkSettings = field(default_factory=LinkSettings)
    min_length: int = field(default=1, metadata=whole_number(1))

    def __post_init__(self) -> None:
        require_kinds(self)
        for name, kind in (("input", InputSettings), ("detect", DetectSettings), ("link", LinkSettings)):
            if not isinstance(given := getattr(self, name), kind):
                raise InvalidSetting(f"needs {kind.__name__}; got {type(given).__name__}.", setting=name)

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Settings:
        """Return the settings of a parsed TOML file: tables `input`, `detect`, `link`, and `min_length`.

        Raises
        ------
        InvalidSetting
            If a key is not known or a value out of range.
        """
        if not isinstance(given, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InvalidSetting(f"settings need the tables input, detect and link; got {given!r}.")
        refuse_unknown(given, _known(cls), "a settings file", _TABLES)
        return cls(
            input=_section(InputSettings, given.get("input", {}), "[input]"),
            detect=_section(DetectSettings, given.get("detect", {}), "[detect]"),
            link=_section(LinkSettings, given.get("link", {}), "[link]"),
            min_length=given.get("min_length", 1),
        )

    def replaced(self, **given: Any) -> Settings:
        """Return the same with some settings in place of others, by their own names, whatever section they are of.

        Raises
        ------
        InvalidSetting
            If there is none of that name, or a value is out of range.

        Examples
        --------
        >>> Settings().replaced(diameter=3, min_length=2).detect.diameter
        3
        """
        sections: dict[str, Any] = {f.name: of for f in fields(self) if is_dataclass(of := getattr(self, f.name))}
        homes = {f.name: name for name, section in sections.items() for f in fields(section)}
        own = [f.name for f in fields(self) if f.name not in sections]
        refuse_unknown(given, [*homes, *own], "auctrack")
        changed: dict[str, Any] = {name: value for name, value in given.items() if name in own}
        for name, section in sections.items():
            changed[name] = replace(section, **{key: value for key, value in given.items() if homes.get(key) == name})
        return replace(self, **changed)

    def to_mapping(self) -> dict[str, Any]:
        """Return the settings as nested plain values, those that are None left out: the inverse of `from_mapping`.

        Functions of the user's are named, and refused by `from_mapping`, which cannot know them.
        """
        stored = asdict(replace(self, link=replace(self.link, predict=None, extra_cost=None)))
        stored["link"] |= self.link.named_hooks()
        return {key: value for key, value in _without_none(stored).items() if value != {}}


def merged(base: Mapping[str, Any], override: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `override` in place, section by section."""
    out = dict(base)
    for key, value in override.items():
        out[key] = merged(out.get(key, {}), value) if isinstance(value, Mapping) else value
    return out


def _section(kind: type[Any], given: Mapping[str, Any], name: str) -> Any:
    if not hasattr(given, "items"):
        raise InvalidSetting(f"{name} needs a table of settings; got {given!r}.")
    refuse_unknown([key for key in given if key not in HOOKS], _known(kind), name, _TABLES)
    try:
        return kind(**given)
    except TypeError as error:
        raise InvalidSetting(f"{name} cannot be read: {error}.") from None


def _known(kind: type[Any]) -> list[str]:
    """Return the settings that a file can state."""
    return [each.name for each in fields(kind) if each.name not in HOOKS]


def _without_none(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: _without_none(value) if isinstance(value, Mapping) else value
        for key, value in values.items()
        if value is not None
    }
