"""Tables of points and tracks, read as people export them and written with all they need beside them."""
