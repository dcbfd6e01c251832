"""Maximum-cardinality matching of bipartite graphs, on CPU and GPU, and what follows from it."""

from .gpu_graph import DeviceGraph
from .graph import BipartiteGraph
from .matching import Matching, VertexCover, konig_cover, verify_matching
from .maximum import ALGORITHMS, INITIAL_MATCHINGS, maximum_matching
from .radii import cardinality_over_radii
from .structure import (
    Block,
    CoarseBlocks,
    Components,
    HallViolator,
    connected_components,
    dulmage_mendelsohn,
    edges_in_no_maximum_matching,
    hall_violator,
)

__all__ = [
    "ALGORITHMS",
    "INITIAL_MATCHINGS",
    "BipartiteGraph",
    "Block",
    "CoarseBlocks",
    "Components",
    "DeviceGraph",
    "HallViolator",
    "Matching",
    "VertexCover",
    "cardinality_over_radii",
    "connected_components",
    "dulmage_mendelsohn",
    "edges_in_no_maximum_matching",
    "hall_violator",
    "konig_cover",
    "maximum_matching",
    "verify_matching",
]
