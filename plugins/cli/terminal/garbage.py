"""Garbage in a command's process: looked for rarely, and not where the process ends anyway."""

from __future__ import annotations

import gc

_NEW = 20_000
"""New objects after which garbage is looked for. Python's own 700 has the libraries looked through 400 times as they
are loaded, which takes as long as loading a third of them."""


def collect_rarely() -> None:
    """Look for garbage once in many objects; arrays go at once, as nothing that holds them is in a circle."""
    gc.set_threshold(_NEW, *gc.get_threshold()[1:])


def leave_garbage() -> None:
    """Have Python not look through all objects again as it ends; the system takes all of their memory at once."""
    gc.disable()
    gc.freeze()
