"""Geometry of point sets: grid, Hilbert order, trees, and what distances and duals say of all pairs, matrix-free."""
