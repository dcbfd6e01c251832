"""How right and how fast are links and detections? Simulated movies, ours and others' trackers."""
