"""How several processes fill one folder of compiled code: each saves while it holds a lock.

numba holds none, so that two that save code of one function at the same time mix it up (numba issue 4807). It does load
what NUMBA_CACHE_LOCATOR_CLASSES names, in the workers of a test run and in the programs that tests start.
"""

from __future__ import annotations

import fcntl
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile, UserProvidedCacheLocator


class Folder(UserProvidedCacheLocator):
    """The folder that NUMBA_CACHE_DIR names."""


def _in_turn(save: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(save)
    def save_in_turn(self: Any, key: Any, data: Any) -> None:
        with Path(self._cache_path, "lock").open("w") as turn:
            fcntl.flock(turn, fcntl.LOCK_EX)
            save(self, key, data)

    return save_in_turn


if not hasattr(IndexDataCacheFile.save, "__wrapped__"):  # pytest knows this module by another name than numba does
    IndexDataCacheFile.save = _in_turn(IndexDataCacheFile.save)
