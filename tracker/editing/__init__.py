"""Correcting tracks: acts on links and detections, each followed by a new proof of what it touched."""
