"""Jonker and Volgenant's method: `JV` on cost matrices, `SparseJV` on graphs, whose components run side by side."""

from __future__ import annotations

from .dense import JV
from .sparse import SparseJV

__all__ = ["JV", "SparseJV"]
