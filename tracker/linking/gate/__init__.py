"""Candidate links: who is within reach of whom, and how far apart particles are."""
