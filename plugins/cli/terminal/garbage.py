"""Garbage in a command's process: looked for rarely, and not where the process ends anyway."""

from __future__ import annotations

import gc

_NEW = 1_000_000
"""New objects after which garbage is looked for: more than a first run makes, most of them numba's, some 65 MB. To look
through them took .5 of its 9 CPU-s every 20,000 objects; at Python's own 700 the libraries are looked through 400 times
as they are loaded, which takes as long as loading a third of them."""


def collect_rarely() -> None:
    """Look for garbage once in many objects; arrays go at once, as nothing that holds them is in a circle."""
    gc.set_threshold(_NEW, *gc.get_threshold()[1:])


def leave_garbage() -> None:
    """Have Python not look through all objects again as it ends; the system takes all of their memory at once."""
    gc.disable()
    gc.freeze()
