"""Date & Nagi 2016: the Hungarian method in both variants, sequential on a CPU and step by step on one GPU or more."""
