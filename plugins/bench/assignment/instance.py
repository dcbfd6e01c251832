"""A problem on the host and, moved there once and untimed, on a GPU."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from ....matching.device import cuda
from ....matching.problem import Problem

_ARRAYS = ("data", "forbidden", "indptr", "indices", "x", "y", "row_unmatched", "col_unmatched")


@dataclass(frozen=True)
class Instance:
    """One instance for solvers on either device.

    Attributes
    ----------
    problem : Problem
        On the host; answers are verified against it.
    gpu : str
        The CUDA device that `on_device` is on.
    """

    problem: Problem
    gpu: str

    @cached_property
    def on_device(self) -> Problem:
        """The same arrays on the GPU."""
        with cuda.using(self.gpu) as cp:
            arrays = {name: getattr(self.problem, name) for name in _ARRAYS}
            return replace(self.problem, **{name: cp.asarray(a) for name, a in arrays.items() if a is not None})

    @property
    def n_bytes(self) -> int:
        """Bytes of all arrays together."""
        arrays = (getattr(self.problem, name) for name in _ARRAYS)
        return sum(array.nbytes for array in arrays if array is not None)
