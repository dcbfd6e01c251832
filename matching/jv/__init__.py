"""Jonker and Volgenant's method, `JV`: on cost matrices and on graphs, whose parts run side by side."""

from __future__ import annotations

from .solver import JV

__all__ = ["JV"]
