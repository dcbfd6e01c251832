"""Deveci et al., ICPP 2013: G-PR, push-relabel on a GPU, one or two kernels a loop."""
