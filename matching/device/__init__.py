"""CUDA: the one door to devices and kernels (`cuda`), and what devices say to each other (`collectives`)."""
