"""What others' code took for the graphs of `large_graphs`, measured in November 2026 on one machine each.

Seconds for the same graphs, by our names; None where it was not run, failed, or did not finish in the time given. The
matchings' sizes are the same.
"""

from __future__ import annotations

from typing import NamedTuple

GPU_HARDWARE = "one NVIDIA H200, CUDA 13.0"
CPU_HARDWARE = "one core of an AMD EPYC that others used too, CPU seconds"


class OnGpu(NamedTuple):
    """matchmaker2 is the Euro-Par paper's own code; `start` is its cheap start on the CPU, to be added to its searches.

    The lesser time is given where several runs differed. ECL-MM's times have its start in them.
    """

    maximum: int
    apfb: float
    apsb: float
    start: float
    ecl_mm: float | None

    @property
    def best(self) -> float:
        """The least time of all with the start in it."""
        return min(self.matchmaker2, self.ecl_mm or self.matchmaker2)

    @property
    def matchmaker2(self) -> float:
        """The lesser time of matchmaker2 with its start."""
        return self.start + min(self.apfb, self.apsb)


GPU: dict[str, OnGpu] = {
    "delaunay_n20": OnGpu(1_048_576, 0.007, 0.0019, 0.0139, 1.4),
    "delaunay_n20, permuted": OnGpu(1_048_576, 0.022, 0.165, 0.020, 0.044),
    "delaunay_n22": OnGpu(4_194_304, 0.013, 0.0039, 0.057, None),
    "rmat_18": OnGpu(144_512, 0.058, 0.059, 0.012, 0.0090),
    "rmat_20": OnGpu(509_360, 0.160, 0.114, 0.052, 0.0113),
    "rgg_n_2_20": OnGpu(1_048_576, 0.0048, 0.00070, 0.022, 2.08),
    "3-out, both sides": OnGpu(1_000_000, 0.0043, 0.0083, 0.022, 0.0060),
    "gate_1e6": OnGpu(999_327, 0.115, 0.530, 0.014, 0.310),
    "gate_1e6, permuted": OnGpu(999_327, 0.138, 0.610, 0.024, 0.184),
}

CPU_PEERS = ("Hopcroft–Karp", "Pothen–Fan+", "push-relabel", "MS-BFS-Graft", "SciPy", "igraph")

CPU: dict[str, tuple[float | None, ...]] = {
    "delaunay_n17": (0.014, 0.009, 0.019, 0.197, 0.012, 0.171),
    "delaunay_n17, permuted": (0.116, 0.031, 0.039, 0.094, None, 0.306),
    "delaunay_n20": (0.071, 0.136, 0.509, 5.574, 0.131, 2.449),
    "delaunay_n20, permuted": (6.317, 1.320, 1.551, 1.525, None, 5.351),
    "rgg_n_2_20": (0.032, 0.139, 0.122, 6.646, 0.073, 0.356),
    "rgg_n_2_20, permuted": (9.169, 1.134, 2.291, 2.191, None, 6.775),
    "rmat_18": (0.288, 0.550, 0.217, 0.242, 1.367, 0.655),
    "rmat_18, permuted": (0.343, 0.714, 0.219, 0.253, 1.468, 0.706),
    "3-out, both sides": (0.932, 0.656, 0.368, 0.852, 2.428, 1.284),
    "3-out, both sides, permuted": (0.972, 0.968, 0.344, 0.948, 4.038, 1.310),
    "gate_1e5": (0.224, 0.140, 0.034, 0.260, None, 0.148),
    "gate_1e5, permuted": (0.258, 0.365, 0.070, 0.179, None, 0.183),
    "gate_1e6": (7.280, 3.246, 0.768, 11.451, None, 2.658),
    "gate_1e6, permuted": (20.193, None, 1.614, 9.094, None, 4.681),
}
"""By our name of the graph, in the order of `CPU_PEERS`; the start is in them.

The best public code of each kind; SciPy did not finish in 40 s where it has no time, Pothen–Fan+ neither.
"""
