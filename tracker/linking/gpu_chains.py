"""Links to tracks on a GPU, as `links.track_ids` on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...matching.device.arrays import all_true


def track_ids(cp: Any, frame: Any, before: Any, n_frames: int) -> Any:
    """Number the chains of links as `links.track_ids` does, int64 (n,).

    Who comes first in a chain is found by doubling: each asks the one that it knows to be earlier for the earliest that
    this one knows.

    Parameters
    ----------
    frame : int64 (n,)
    before : int32 (n,)
        Row that each row follows, −1 where it follows none.
    n_frames : int
        From the first to the last.
    """
    begins = before < 0
    root = cp.where(begins, cp.arange(len(begins), dtype=np.int32), before)
    for _ in range(max(n_frames - 1, 1).bit_length()):
        root = root[root]
    if all_true(frame[1:] >= frame[:-1]):
        return (cp.cumsum(begins, dtype=np.int64) - 1)[root]
    order = cp.argsort(frame, kind="stable")
    number = cp.empty(len(begins), np.int64)
    number[order] = cp.cumsum(begins[order], dtype=np.int64) - 1
    return number[root]
