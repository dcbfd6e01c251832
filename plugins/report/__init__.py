"""Pages about results: one self-contained HTML file a movie, and an index of many."""
