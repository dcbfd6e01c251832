"""Date & Nagi 2016: the Hungarian method step by step on GPUs, and what runs of it, and of ours, on a CPU."""
