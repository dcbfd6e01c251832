"""What reproduces the papers' tables and figures: their printed numbers, and ours beside them.

It is in the repository, not in the wheel: nobody but who checks these tables needs it.
"""
