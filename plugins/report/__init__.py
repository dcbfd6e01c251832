"""Pages and pictures of results: one self-contained HTML file a movie, an index of many, a picture of measures."""
