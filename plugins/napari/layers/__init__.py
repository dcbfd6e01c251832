"""napari's layers: what can be tracked in one, its axes and scale, and tables and results as layers."""
