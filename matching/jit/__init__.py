"""What every numba kernel may build on: a heap, bits, atomic operations, prefetching, row scans, threads."""
