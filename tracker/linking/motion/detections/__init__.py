"""A movie's detections as learning sees them: in the order of time, in units of their spacing."""
