"""What reproduces the papers' tables and figures: their printed numbers, and ours beside them.

It is in the repository, not in the wheel: only those who check these tables need it.
"""
