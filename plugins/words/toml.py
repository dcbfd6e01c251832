"""Settings files: TOML, or the record that stands beside a result."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...tracker.errors import InvalidSetting

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def to_toml(mapping: Mapping[str, Any]) -> str:
    """Return nested plain values as TOML; `tomllib.loads` gives them back.

    Parameters
    ----------
    mapping : mapping
        Texts, numbers, booleans, lists of these, and mappings of all this: what `Settings.to_mapping` returns.

    Raises
    ------
    TypeError
        If a value has no TOML form (None has none: leave it out).

    Examples
    --------
    >>> print(to_toml({"min_length": 3, "link": {"search_range": 2.5}}))
    min_length = 3
    <BLANKLINE>
    [link]
    search_range = 2.5
    <BLANKLINE>
    """
    return "\n".join(_lines(mapping, ())) + "\n"


def _lines(mapping: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    tables = {key: value for key, value in mapping.items() if isinstance(value, Mapping)}
    lines = [f"{_key(key)} = {_value(value)}" for key, value in mapping.items() if key not in tables]
    for key, table in tables.items():
        inner = _lines(table, (*path, key))
        only_tables = bool(table) and all(isinstance(value, Mapping) for value in table.values())
        header = [] if only_tables else [f"[{'.'.join(map(_key, (*path, key)))}]"]
        lines += ([""] if lines and header else []) + header + inner
    return lines


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else json.dumps(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(float(value))
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    raise TypeError(f"{value!r} of type {type(value).__name__} has no TOML form")


def read_config(path: Path) -> dict[str, Any]:
    """Return the settings in a TOML file, or those in force that stand beside a result (`NAME.settings.json`).

    Raises
    ------
    InvalidSetting
        If it is not there, not TOML, or holds no settings of a run.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")  # some editors write a mark before the text
        return _recorded(path, json.loads(text)) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise InvalidSetting(f"{path}: cannot be read ({error.strerror or error}).") from None
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise InvalidSetting(f"{path}: is not {kind} ({error}).") from None


def _recorded(path: Path, content: Any) -> dict[str, Any]:
    record = content.get("settings", {}) if isinstance(content, dict) else {}
    if not isinstance(record, dict) or not isinstance(record.get("effective"), dict):
        raise InvalidSetting(f"{path}: holds no settings of auctrack track, detect or link.")
    return record["effective"]
