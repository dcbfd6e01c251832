"""Bipartite graphs by the family that they are of, and how a maximum matching of one is checked."""
