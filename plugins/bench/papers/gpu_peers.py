"""What other GPU solvers took for the dense instances of `lap_instances` (seed 1), measured in November 2026.

Their own code: seconds on one NVIDIA H200 (CUDA 13.0, driver 580.159), the instance already on the device; None where
it was not run or did not finish in 25 s. HyLAC classical is the better of two builds; RAPIDS raft has the tree variant
of Date & Nagi.
"""

from __future__ import annotations

HARDWARE = "one NVIDIA H200, CUDA 13.0"
PEERS = ("HyLAC classical", "HyLAC tree", "RAPIDS raft", "Algorithm 1015")

SECONDS: dict[tuple[str, int], tuple[float | None, ...]] = {
    ("uniform [0, n]", 5000): (0.031, 0.163, 0.179, 0.879),
    ("uniform [0, 10n]", 5000): (0.090, 0.569, 0.519, 0.882),
    ("point sets", 5000): (0.620, 1.19, 1.24, 0.555),
    ("uniform [0, n]", 10_000): (0.056, None, None, 2.36),
    ("uniform [0, 10n]", 10_000): (0.206, None, None, 1.89),
    ("point sets", 10_000): (4.11, None, None, 1.17),
    ("uniform [0, n]", 20_000): (0.122, 0.589, 0.588, 6.73),
    ("uniform [0, 10n]", 20_000): (0.625, 1.82, 1.86, 4.61),
    ("point sets", 20_000): (None, 9.73, 12.3, 2.95),
}
"""By family and n."""
