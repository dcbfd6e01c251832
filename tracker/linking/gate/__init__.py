"""Candidate links: which detections are within reach of which, and how far apart particles are."""
