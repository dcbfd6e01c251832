"""Augmenting paths: match the rows that are free and keep the duals feasible, on host and device."""
