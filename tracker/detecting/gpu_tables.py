"""Small tables that kernels read for every frame, copied to a GPU once.

A copy from the host waits behind those of whole frames, whichever stream it is in.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...matching.device import cuda


def there(table: np.ndarray) -> Any:
    """Return a table on the current device, the same array for the same content; not to be written to."""
    cp = cuda.cupy()
    return _copied(cp, cp.cuda.Device().id, table.tobytes(), table.dtype.str, table.shape)


@functools.lru_cache(maxsize=256)
def _copied(cp: Any, device: int, content: bytes, dtype: str, shape: tuple[int, ...]) -> Any:
    del device  # the current one, by which copies are told apart
    copy = cp.asarray(np.frombuffer(content, dtype).reshape(shape))
    cp.cuda.get_current_stream().synchronize()
    return copy
