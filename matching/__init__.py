"""Floor 1: bipartite matching. Knows nothing of particles.

State a `Problem`, `solve` it, and `verify` the `Assignment`; everything is imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .assignment import Assignment
    from .auction import Auction
    from .errors import (
        AuctrackError,
        DeviceMemoryExceeded,
        DeviceUnavailable,
        Infeasible,
        InvalidProblem,
        NotConverged,
    )
    from .hungarian import HungarianClassical, HungarianTree
    from .jv import JV
    from .problem import Problem
    from .solvers import SOLVERS, Solver
    from .solving import solve
    from .sparse_jv import SparseJV
    from .verification import Certificate, verify

_HOMES = {
    "Assignment": ".assignment",
    "Auction": ".auction",
    "AuctrackError": ".errors",
    "Certificate": ".verification",
    "DeviceMemoryExceeded": ".errors",
    "DeviceUnavailable": ".errors",
    "HungarianClassical": ".hungarian",
    "HungarianTree": ".hungarian",
    "Infeasible": ".errors",
    "InvalidProblem": ".errors",
    "JV": ".jv",
    "NotConverged": ".errors",
    "Problem": ".problem",
    "SOLVERS": ".solvers",
    "Solver": ".solvers",
    "SparseJV": ".sparse_jv",
    "solve": ".solving",
    "verify": ".verification",
}

__all__ = [  # noqa: RUF022 - in the order of use
    "Problem",
    "solve",
    "Assignment",
    "verify",
    "Certificate",
    "SOLVERS",
    "Solver",
    "Auction",
    "HungarianClassical",
    "HungarianTree",
    "JV",
    "SparseJV",
    "AuctrackError",
    "InvalidProblem",
    "Infeasible",
    "NotConverged",
    "DeviceUnavailable",
    "DeviceMemoryExceeded",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
