"""CUDA: the one door to devices and kernels (`cuda`), and reductions and broadcasts among them (`collectives`)."""
