"""M. Deveci, K. Kaya, B. Uçar, Ü. V. Çatalyürek, "GPU accelerated maximum cardinality matching algorithms for bipartite
graphs", Euro-Par 2013.

All times in seconds after the common cheap initial matching, without copying to the device.
"""

from __future__ import annotations

from typing import NamedTuple

HARDWARE = "2 × quad-core Intel Xeon 2.27 GHz, 48 GB; NVIDIA Tesla C2050, 2.6 GB"

Form = tuple[str, str, str]
"""(algorithm, bfs, launch)."""

FORMS: tuple[Form, ...] = tuple(
    (algorithm, bfs, launch)
    for algorithm in ("apfb", "apsb")
    for bfs in ("gpubfs", "gpubfs-wr")
    for launch in ("mt", "ct")
)

TABLE_1: dict[str, dict[Form, float]] = {
    "O_S1": dict(zip(FORMS, (2.96, 1.89, 2.12, 1.34, 3.68, 2.88, 2.98, 2.27), strict=True)),
    "O_Hardest20": dict(zip(FORMS, (4.28, 2.70, 3.21, 1.93, 5.23, 4.14, 4.20, 3.13), strict=True)),
    "RCP_S1": dict(zip(FORMS, (3.66, 3.24, 1.13, 1.05, 3.52, 3.33, 2.22, 2.14), strict=True)),
    "RCP_Hardest20": dict(zip(FORMS, (7.27, 5.79, 3.37, 2.85, 12.06, 10.75, 8.17, 7.41), strict=True)),
}
"""Geometric means over their sets of graphs (O: original order, RCP: rows and columns permuted)."""


class Times(NamedTuple):
    """Half a row of Table 2: APFB-GPUBFS-WR-CT, P-DBFS on 8 threads, and the two sequential ones."""

    gpu: float
    p_dbfs: float
    pfp: float
    hk: float


TABLE_2: dict[str, tuple[Times, Times]] = {
    "roadNet-CA": (Times(0.34, 0.53, 0.95, 2.48), Times(0.39, 1.88, 3.05, 4.89)),
    "delaunay_n23": (Times(0.96, 1.26, 2.68, 1.11), Times(0.90, 5.56, 3.27, 14.34)),
    "coPapersDBLP": (Times(0.42, 6.27, 3.11, 1.62), Times(0.38, 1.25, 0.29, 1.26)),
    "kron_g500-logn21": (Times(0.99, 1.50, 5.37, 4.73), Times(3.71, 4.01, 64.29, 16.08)),
    "amazon-2008": (Times(0.11, 0.18, 6.11, 1.85), Times(0.41, 1.37, 61.32, 4.69)),
    "delaunay_n24": (Times(1.98, 2.41, 6.43, 2.22), Times(1.86, 12.84, 6.92, 35.24)),
    "as-Skitter": (Times(0.49, 1.89, 7.79, 3.56), Times(3.27, 5.74, 472.63, 29.63)),
    "amazon0505": (Times(0.18, 22.70, 9.05, 1.87), Times(0.24, 15.23, 17.59, 2.23)),
    "wikipedia-20070206": (Times(1.09, 5.24, 11.98, 6.52), Times(1.05, 5.99, 9.74, 5.73)),
    "Hamrle3": (Times(1.36, 2.70, 0.04, 12.61), Times(3.85, 7.39, 37.71, 57.00)),
    "hugetrace-00020": (Times(7.90, 393.13, 15.95, 15.02), Times(1.52, 9.97, 8.68, 38.27)),
    "hugebubbles-00000": (Times(13.16, 3.55, 19.81, 5.56), Times(1.80, 10.91, 10.03, 38.97)),
    "wb-edu": (Times(33.82, 8.61, 3.38, 20.35), Times(17.43, 20.10, 9.49, 51.14)),
    "rgg_n_2_24_s0": (Times(3.68, 2.25, 25.40, 0.12), Times(2.20, 12.50, 5.72, 31.78)),
    "patents": (Times(0.88, 0.84, 92.03, 16.18), Times(0.91, 0.97, 101.76, 18.30)),
    "italy_osm": (Times(5.86, 1.20, 1.02, 122.00), Times(0.70, 3.97, 6.24, 18.34)),
    "soc-LiveJournal1": (Times(3.32, 14.35, 243.91, 21.16), Times(3.73, 7.14, 343.94, 20.71)),
    "ljournal-2008": (Times(2.37, 10.30, 360.31, 17.66), Times(6.90, 7.58, 176.69, 23.45)),
    "europe_osm": (Times(57.53, 11.21, 14.15, 1911.56), Times(7.21, 37.93, 68.18, 197.03)),
    "com-LiveJournal": (Times(4.58, 22.46, 2879.36, 34.28), Times(5.88, 17.19, 165.32, 29.40)),
}
"""O_Hardest20 by the collection's names: original, and permuted."""

FIGURE_5 = {"original": 3.61, "permuted": 3.54, "original, hardest 20": 3.96, "permuted, hardest 20": 9.29}
"""The least of the two average speed-ups (over PFP and HK) of each set, as the text gives them."""

FASTEST_SHARE = {"original": 0.61, "permuted": 0.74}
"""Figure 4: share of the graphs on which the GPU was the fastest of the parallel ones."""

FASTER_THAN_SEQUENTIAL = {"original": 0.86, "permuted": 0.76}
"""Figure 3: share of the graphs on which the GPU beat the sequential HK (original) or PFP (permuted)."""
