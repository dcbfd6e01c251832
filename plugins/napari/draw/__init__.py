"""What is drawn over the movie: particles, tracks, the chosen track, the preview."""
