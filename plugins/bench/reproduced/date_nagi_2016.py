"""K. Date, R. Nagi, "GPU-accelerated Hungarian algorithms for the Linear Assignment Problem", Parallel Computing, 2016.

All times in seconds, means of 3 instances × 5 runs; initialisation and clean-up on host and device are in.
"""

from __future__ import annotations

from typing import NamedTuple

HARDWARE = "AMD Interlagos 6276 2.3 GHz, 8 cores; NVIDIA Tesla K20X, 6 GB (Blue Waters)"


class SmallInstance(NamedTuple):
    """A row of Table 1: uniform integer costs in [0, n]."""

    objective: float
    omp_1: float
    omp_8: float
    cu_class: float
    cu_tree: float


TABLE_1: dict[int, SmallInstance] = {
    500: SmallInstance(568.0, 0.07, 0.13, 0.51, 0.45),
    1000: SmallInstance(1161.0, 0.31, 0.34, 0.60, 0.50),
    1500: SmallInstance(1730.3, 0.79, 0.66, 0.68, 0.70),
    2000: SmallInstance(2352.3, 1.55, 1.03, 0.84, 0.82),
    2500: SmallInstance(2861.0, 2.35, 1.36, 0.86, 0.87),
    3000: SmallInstance(3467.3, 3.92, 1.93, 0.98, 1.32),
    3500: SmallInstance(4066.0, 5.41, 2.50, 1.11, 1.48),
    4000: SmallInstance(4715.7, 7.48, 3.21, 1.19, 1.56),
    4500: SmallInstance(5291.7, 9.27, 3.79, 1.24, 1.59),
    5000: SmallInstance(5812.0, 11.64, 4.35, 1.39, 1.70),
}

TABLE_2: dict[int, tuple[int, ...]] = {
    1000: (866, 96, 26, 6, 6),
    2000: (1745, 177, 47, 18, 10, 3),
    3000: (2608, 203, 143, 24, 10, 6, 6),
    4000: (3473, 254, 184, 52, 21, 11, 4, 1),
    5000: (4316, 354, 231, 61, 10, 22, 4, 2),
}
"""Rows assigned by the initial reduction, and in iterations 1–5, 6–10, 11–15, …, of CU-TREE."""


class LargeInstance(NamedTuple):
    """A row of Table 3; None where the paper prints a dash."""

    objective: float
    initial: float
    omp_8: float
    class_compression: float | None
    class_forward: float | None
    class_dual_update: float | None
    cu_class: float
    tree_forward: float | None
    tree_dual_update: float | None
    cu_tree: float


TABLE_3: dict[tuple[str, int], LargeInstance] = {
    ("n/10", 5000): LargeInstance(1.0, 5000.0, 1.87, None, None, None, 0.44, None, None, 0.51),
    ("n/10", 10000): LargeInstance(0.7, 10000.0, 6.18, None, None, None, 0.63, None, None, 1.15),
    ("n/10", 15000): LargeInstance(0.7, 15000.0, 13.99, None, None, None, 0.97, None, None, 1.55),
    ("n/10", 20000): LargeInstance(0.3, 20000.0, 26.42, None, None, None, 1.41, None, None, 2.05),
    ("n", 5000): LargeInstance(5795.3, 4326.7, 4.92, 0.08, 0.81, 0.08, 1.43, 0.90, 0.03, 1.39),
    ("n", 10000): LargeInstance(11748.3, 8653.3, 15.83, 0.32, 1.25, 0.22, 2.44, 1.48, 0.05, 2.17),
    ("n", 15000): LargeInstance(17439.0, 13032.7, 36.61, 0.69, 1.65, 0.51, 3.85, 2.18, 0.07, 3.21),
    ("n", 20000): LargeInstance(23393.3, 17350.0, 65.77, 1.34, 2.03, 0.87, 5.69, 2.75, 0.11, 4.22),
    ("10n", 5000): LargeInstance(5795.3, 4049.3, 9.00, 0.72, 2.52, 0.66, 4.40, 3.14, 0.22, 3.86),
    ("10n", 10000): LargeInstance(11748.3, 8140.3, 33.90, 2.81, 4.28, 1.95, 9.74, 5.52, 0.46, 6.67),
    ("10n", 15000): LargeInstance(17439.0, 12193.7, 77.11, 8.01, 5.79, 5.92, 20.78, 7.96, 0.83, 9.81),
    ("10n", 20000): LargeInstance(23393.3, 16268.7, 137.98, 12.99, 7.18, 8.36, 30.05, 10.34, 1.06, 12.81),
}
"""By cost range [0, …] and n. The paper prints the objectives of [0, n] for [0, 10n] too; true ones are larger (at
n = 5,000 near 79,000), so that column is a slip of the paper."""


class Scaling(NamedTuple):
    """Times of a row of Table 4 or 5: costs in [0, 10n] on several GPUs, one in each node."""

    class_compression: float
    class_search: float
    cu_class: float
    tree_search: float
    cu_tree: float


TABLE_4: dict[tuple[int, int], Scaling] = {
    (10000, 1): Scaling(3.66, 4.97, 10.42, 15.26, 16.28),
    (14142, 2): Scaling(3.80, 6.70, 12.48, 18.70, 20.26),
    (20000, 4): Scaling(4.09, 8.42, 15.03, 24.50, 26.51),
    (28284, 8): Scaling(4.36, 11.43, 18.58, 34.00, 37.03),
    (40000, 16): Scaling(4.64, 14.91, 23.59, 52.17, 58.32),
}
"""Weak scaling, by (n, GPUs)."""

TABLE_5: dict[tuple[int, int], Scaling] = {
    (10000, 1): Scaling(3.66, 4.93, 11.07, 15.20, 16.52),
    (10000, 2): Scaling(1.89, 4.97, 8.15, 14.14, 15.12),
    (10000, 4): Scaling(1.01, 5.01, 7.84, 14.35, 15.78),
    (10000, 8): Scaling(0.58, 5.01, 7.39, 14.93, 16.61),
    (10000, 16): Scaling(0.38, 4.97, 7.17, 16.15, 18.30),
    (14142, 1): Scaling(8.24, 6.57, 18.25, 22.44, 24.19),
    (14142, 2): Scaling(4.21, 6.68, 12.94, 19.10, 20.65),
    (14142, 4): Scaling(2.18, 6.74, 11.03, 18.91, 20.55),
    (14142, 8): Scaling(1.18, 6.75, 9.98, 19.60, 21.59),
    (14142, 16): Scaling(0.69, 6.76, 9.50, 20.88, 23.50),
    (20000, 1): Scaling(15.49, 8.26, 28.50, 35.73, 38.30),
    (20000, 2): Scaling(7.88, 8.38, 19.47, 27.14, 29.21),
    (20000, 4): Scaling(4.04, 8.49, 15.07, 24.18, 26.22),
    (20000, 8): Scaling(2.13, 8.50, 13.00, 24.96, 27.47),
    (20000, 16): Scaling(1.20, 8.48, 12.03, 26.89, 30.21),
}
"""Strong scaling, by (n, GPUs)."""
