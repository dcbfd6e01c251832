"""Floor 1: bipartite matching. Knows nothing of particles.

State a `Problem`, `solve` it, and `verify` the `Assignment` (`linear_sum_assignment` answers as SciPy does); or ask for
a `maximum_matching` of a `BipartiteGraph` and `verify_matching`. Everything is imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .as_scipy import linear_sum_assignment
    from .auction import Auction
    from .cardinality.gpu_graph import DeviceGraph
    from .cardinality.graph import BipartiteGraph
    from .cardinality.matching import Matching, verify_matching
    from .cardinality.maximum import maximum_matching
    from .cardinality.radii import cardinality_over_radii
    from .cardinality.structure import (
        connected_components,
        dulmage_mendelsohn,
        edges_in_no_maximum_matching,
        hall_violator,
    )
    from .certificate.assignment import Assignment
    from .certificate.not_converged import NotConverged
    from .certificate.verification import Certificate, verify
    from .errors import (
        AuctrackError,
        DeviceMemoryExceeded,
        DeviceUnavailable,
        Infeasible,
        InvalidProblem,
    )
    from .hungarian import HungarianClassical, HungarianTree
    from .jv import JV
    from .presolve.sharded import ShardedCosts
    from .problem import Problem
    from .solvers import SOLVERS, Solver
    from .solving import solve

_HOMES = {
    "Assignment": ".certificate.assignment",
    "Auction": ".auction",
    "AuctrackError": ".errors",
    "BipartiteGraph": ".cardinality.graph",
    "cardinality_over_radii": ".cardinality.radii",
    "Certificate": ".certificate.verification",
    "connected_components": ".cardinality.structure",
    "DeviceMemoryExceeded": ".errors",
    "DeviceUnavailable": ".errors",
    "DeviceGraph": ".cardinality.gpu_graph",
    "dulmage_mendelsohn": ".cardinality.structure",
    "edges_in_no_maximum_matching": ".cardinality.structure",
    "hall_violator": ".cardinality.structure",
    "HungarianClassical": ".hungarian",
    "HungarianTree": ".hungarian",
    "Infeasible": ".errors",
    "InvalidProblem": ".errors",
    "JV": ".jv",
    "Matching": ".cardinality.matching",
    "linear_sum_assignment": ".as_scipy",
    "maximum_matching": ".cardinality.maximum",
    "NotConverged": ".certificate.not_converged",
    "Problem": ".problem",
    "ShardedCosts": ".presolve.sharded",
    "solve": ".solving",
    "Solver": ".solvers",
    "SOLVERS": ".solvers",
    "verify": ".certificate.verification",
    "verify_matching": ".cardinality.matching",
}

__all__ = [  # noqa: RUF022 - in the order of use
    "Problem",
    "ShardedCosts",
    "solve",
    "linear_sum_assignment",
    "Assignment",
    "verify",
    "Certificate",
    "SOLVERS",
    "Solver",
    "Auction",
    "HungarianClassical",
    "HungarianTree",
    "JV",
    "maximum_matching",
    "BipartiteGraph",
    "DeviceGraph",
    "Matching",
    "verify_matching",
    "connected_components",
    "hall_violator",
    "edges_in_no_maximum_matching",
    "dulmage_mendelsohn",
    "cardinality_over_radii",
    "AuctrackError",
    "InvalidProblem",
    "Infeasible",
    "NotConverged",
    "DeviceUnavailable",
    "DeviceMemoryExceeded",
]


if not TYPE_CHECKING:  # which would take any name for one that is there

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(_HOMES[name], __name__), name)
        globals()[name] = found  # the next look-up does not come here
        return found


def __dir__() -> list[str]:
    return sorted(__all__)
