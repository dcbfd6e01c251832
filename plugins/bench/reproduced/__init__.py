"""What reproduces the papers' tables and figures: their printed numbers, and ours beside them.

Beside them, what writes the tables of BENCHMARKS.md from kept records (`quoted`). It is in the repository, not in the
wheel: only those who check these tables need it.
"""
