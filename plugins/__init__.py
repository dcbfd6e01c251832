"""Floor 3: the faces of the program. Thin shells, no algorithms."""
