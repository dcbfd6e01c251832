"""What is loaded by its name, when it is asked for: the solvers, and the papers' algorithms."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def named(place: str) -> Any:
    """Return what `place` names: `.module:object`, the module relative to `auctrack.matching`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module, __package__), name)
