"""auctrack: follow every particle of a 3D movie by solving each pair of frames as an assignment problem."""

__version__ = "0.1.0"
