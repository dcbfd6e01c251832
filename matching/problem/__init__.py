"""The matching problem: stated and validated once, its costs read and turned into the form that a method takes."""

from .host_problem import INT_LIMIT
from .problem import Problem

__all__ = ["INT_LIMIT", "Problem"]
