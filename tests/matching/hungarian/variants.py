"""The Hungarian solvers with each of their variants on the CPU."""

from __future__ import annotations

from auctrack.matching.hungarian import HungarianClassical, HungarianTree

DEFAULTS = {"classical": HungarianClassical(), "tree": HungarianTree()}

OTHERS = {
    "classical-paper": HungarianClassical(variant="paper"),
    "tree-paper": HungarianTree(variant="paper"),
    "tree-sequential": HungarianTree(variant="sequential"),
}

ALL = DEFAULTS | OTHERS
