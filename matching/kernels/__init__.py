"""CUDA C++ sources, compiled through :mod:`auctrack.matching.device.cuda`."""
