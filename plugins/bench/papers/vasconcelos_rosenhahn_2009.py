"""C. N. Vasconcelos, B. Rosenhahn, "Bipartite Graph Matching Computation on GPU", EMMCVPR 2009.

Its evaluation is in two figures and prints no numbers: Figure 5 draws 500 points in 3D at several persistence levels,
Figure 6 the mean answer time over 100 random data sets for each number of particles. So there is nothing to type but
the set-up.
"""

from __future__ import annotations

HARDWARE = "Intel Core 2 Duo E6550 2.33 GHz, 2 GB; NVIDIA GeForce 9600 GT, 512 MB"
PARTICLES_OF_FIGURE_5 = 500
DATA_SETS_OF_FIGURE_6 = 100
