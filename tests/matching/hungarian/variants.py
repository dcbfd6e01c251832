"""The Hungarian solvers with each variant that runs on the CPU."""

from __future__ import annotations

from auctrack.matching.hungarian import HungarianClassical, HungarianTree

DEFAULTS = {"classical": HungarianClassical(), "tree": HungarianTree()}

OTHERS = {"tree-paper": HungarianTree(variant="paper")}

ALL = DEFAULTS | OTHERS
