"""One assignment for the whole movie, by likelihood."""
