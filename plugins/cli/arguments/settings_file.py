"""A settings file to be edited: every setting with what it is, those without a value behind a `#`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from dataclasses import Field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ....tracker.kinds import wanted_of
from ....tracker.linking.settings import HOOKS
from ....tracker.setting_words import WORDS
from ...words.toml import to_toml

if TYPE_CHECKING:
    from ....tracker.settings import Settings

WIDTH = 110


def settings_file(settings: Settings) -> str:
    """Return settings as a TOML file; `Settings.from_mapping` of what `tomllib` reads in it gives them back."""
    values = settings.to_mapping()
    sections = {
        declared.name: of for declared in fields(settings) if is_dataclass(of := getattr(settings, declared.name))
    }
    own = [declared for declared in fields(settings) if declared.name not in sections]
    parts = [_table(own, values)]
    for name, section in sections.items():
        parts.append(f"[{name}]\n\n{_table(fields(section), values.get(name, {}), f'{name}.')}")
    return "\n".join(parts)


def _table(settings: Iterable[Field[Any]], values: dict[str, Any], section: str = "") -> str:
    """Return the lines of one table: values, then tables within it, as TOML orders them."""
    plain = [_said(declared, values) for declared in settings if not isinstance(values.get(declared.name), dict)]
    inner = [
        f"{_comment(declared.name)}[{section}{declared.name}]\n{to_toml(values[declared.name])}"
        for declared in settings
        if isinstance(values.get(declared.name), dict)
    ]
    return "\n".join(part for part in (*plain, *inner) if part)


def _said(declared: Field[Any], values: dict[str, Any]) -> str:
    """Return a setting with its words; one without a value as a comment, if a file can state it at all."""
    name = declared.name
    if name in values:
        return _comment(name) + to_toml({name: values[name]})
    wanted = wanted_of(declared)
    return f"{_comment(name)}# {name} =    # {wanted}\n" if wanted and name not in HOOKS else ""


def _comment(name: str) -> str:
    words = WORDS[name]
    default = f"Left out: {words.auto}." if words.auto else ""
    said = " ".join(part for part in (f"{words.what}.", words.more, default) if part)
    return textwrap.fill(said, WIDTH, initial_indent="# ", subsequent_indent="# ") + "\n"
