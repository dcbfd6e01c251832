"""Azad et al. 2012: the multicore algorithms that both GPU papers compare with: P-DBFS, Pothen-Fan, Hopcroft-Karp."""
