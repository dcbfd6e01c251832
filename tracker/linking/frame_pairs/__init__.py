"""Frame pair by frame pair, by distance alone, on a CPU or a GPU."""
