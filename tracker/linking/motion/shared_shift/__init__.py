"""Stage drift and jumps: shifts that particles of a frame pair share, found before anything is linked."""
