"""Candidate links of a whole movie as one sparse graph, and their displacements."""
