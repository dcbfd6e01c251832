"""Names that are no setting: refused, with the one that was meant."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from inspect import Parameter, signature
from itertools import takewhile
from types import FunctionType
from typing import Any, Self, TypeVar

from .errors import InvalidSetting
from .setting_words import SECTIONS, WORDS

S = TypeVar("S")
_SCALE, _GAPS, _RANGE, _COLUMNS = ("scale",), ("max_missed_frames", "memory"), ("search_range",), ("columns",)
_OTHER_WORDS: Mapping[str, tuple[str, ...]] = {
    "dark": ("bright_on_dark=False",),
    "labels": ("kind='labels'",),
    "dt": ("frame_interval",),
    "fps": ("frame_interval",),
    "voxel": _SCALE,
    "voxel_size": _SCALE,
    "pixel_size": _SCALE,
    "spacing": _SCALE,
    "mpp": _SCALE,
    "position": ("series",),
    "scene": ("series",),
    "pos_columns": _COLUMNS,
    "t_column": _COLUMNS,
    "coordinate_cols": _COLUMNS,
    "frame_col": _COLUMNS,
    "max_gap": _GAPS,
    "max_frame_gap": _GAPS,
    "gap_closing_max_frame_count": _GAPS,
    "memory": _GAPS,
    "max_missed_frames": _GAPS,
    "max_distance": _RANGE,
    "linking_max_distance": _RANGE,
    "max_search_radius": _RANGE,
    "gap_closing_max_distance": ("gap_closing_range",),
    "max_displacement": _RANGE,
    "track_cost_cutoff": _RANGE,
    "cutoff": _RANGE,
    "minmass": ("threshold",),
    "min_quality": ("threshold",),
}
"""What the command line or other programs call a setting, or a value of it, whose own name is too different to be found
by it."""
_NEEDLESS = ("adaptive_stop", "adaptive_step", "link_strategy", "neighbor_strategy")
"""What trackpy asks for where groups of particles become too large for it."""


def other_words(name: str) -> list[str]:
    """Return our names of a setting that the command line or another program calls so; none where nobody does.

    Examples
    --------
    >>> other_words("track_cost_cutoff")
    ['search_range']
    """
    return [said.partition("=")[0] for said in _OTHER_WORDS.get(name, ())]


class KnownByName:
    """A dataclass of settings: a name that is none of its fields is refused with the one that was meant."""

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Make an empty one, which the dataclass fills."""
        own: Any = cls
        refuse_unknown(given, [each.name for each in fields(own)], cls.__name__)
        return super().__new__(cls)


def required_settings(
    kind: type[S], given: S | None, misplaced: Mapping[str, object], function: FunctionType, *, such_as: str
) -> S:
    """Return the settings that a function was given, the defaults for none.

    Parameters
    ----------
    kind : type
        A class of settings.
    given : object, optional
    misplaced : mapping
        Settings, or what is none, that the function was given by themselves.
    function : callable
        Takes what it works on, if anything, then settings of this kind.
    such_as : str
        A setting, for an example.

    Raises
    ------
    InvalidSetting
        If `given` is of another kind, or anything is misplaced.
    """
    of: Any = kind
    known = [each.name for each in fields(of)]
    works_on = "".join(f"{name}, " for name in takewhile("settings".__ne__, _arguments(function)))
    call = f"{function.__name__}({works_on}{kind.__name__}({{}}=…))"
    for name in misplaced:
        refuse_unknown([name], [*known, *_arguments(function)], f"{function.__name__}()")
        raise InvalidSetting(
            f"needs to be given in {kind.__name__}; got it by itself.",
            in_python=f"Say {call.format(name)}.",
            setting=name,
        )
    if given is not None and not isinstance(given, kind):
        raise InvalidSetting(
            f"needs {kind.__name__}; got {type(given).__name__}.",
            in_python=f"Say what is to be set, such as {call.format(such_as)}.",
            setting="settings",
        )
    return given or kind()


def refuse_unknown_arguments(given: Mapping[str, object], function: FunctionType) -> None:
    """Refuse names that are none of a function's arguments; raises `InvalidSetting`."""
    refuse_unknown(given, _arguments(function), f"{function.__name__}()")


def _arguments(function: FunctionType) -> list[str]:
    """Return the arguments that a function names."""
    return [each.name for each in signature(function).parameters.values() if each.kind is not Parameter.VAR_KEYWORD]


def refuse_unknown(
    given: Collection[str], known: Sequence[str], where: str, homes: Mapping[str, str] | None = None
) -> None:
    """Refuse names of settings that are not known.

    Parameters
    ----------
    given, known : str
        Names.
    where : str
        What has the known ones.
    homes : mapping of str to str, optional
        What classes of settings are called there, where it is not by their names.

    Raises
    ------
    InvalidSetting
    """
    unknown = [str(name) for name in given if name not in known]
    if unknown:
        none = f"{where} has no setting {', '.join(map(repr, unknown))}."
        meant = dict.fromkeys(_meant(name, known, homes or {}) for name in unknown)
        raise InvalidSetting(" ".join(filter(None, [none, *meant, f"It has {', '.join(known)}."])))


def _meant(unknown: str, known: Sequence[str], homes: Mapping[str, str]) -> str:
    """Return a sentence on which setting was meant, as far as can be told."""
    if "points" in known and "columns" in (unknown, *_OTHER_WORDS.get(unknown, ())):
        return 'Names of columns are for auctrack.read_points(…, columns={"frame": "…"}), whose points go here.'
    if unknown in _NEEDLESS:
        return "It is not needed: groups of any size are solved exactly."
    for home, words in SECTIONS.items():
        if unknown in words and not set(known) >= set(words):
            other = _other_word(unknown, known)
            if not other:
                return f"{unknown} is a setting of {homes.get(home, home)}."
            return f"Did you mean {_explained([other])}"
    if unknown in _OTHER_WORDS:
        found = [other] if (other := _other_word(unknown, known)) else []
    else:
        found = get_close_matches(unknown, known, n=1) or _named_in_words(unknown, known)
    return f"Did you mean {_explained(found)}" if found else ""


def _other_word(unknown: str, known: Sequence[str]) -> str:
    """Return what of the known ones has this name elsewhere, with its value where the name says that too."""
    return next((said for said in _OTHER_WORDS.get(unknown, ()) if said.partition("=")[0] in known), "")


def _named_in_words(unknown: str, known: Sequence[str]) -> list[str]:
    """Return the one or two settings whose description has this word."""
    word = re.compile(rf"\b{re.escape(unknown.replace('_', ' '))}\b", re.IGNORECASE)
    found = [name for name in known if name in WORDS and word.search(WORDS[name].what)]
    return found if len(found) <= 2 else []


def _explained(names: Sequence[str]) -> str:
    """Return settings as a question's end, and what the only one is."""
    question = f"{' or '.join(names)}?"
    words = WORDS.get(names[0].partition("=")[0]) if len(names) == 1 else None
    return f"{question} ({words.what}.)" if words else question
