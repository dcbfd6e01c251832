"""M. Deveci, K. Kaya, B. Uçar, Ü. V. Çatalyürek, "A push-relabel-based maximum cardinality bipartite matching algorithm
on GPUs", ICPP 2013.

All times in seconds after the common cheap initial matching, without copying to the device. Its G-HKDW is the Euro-Par
paper's APFB-GPUBFS-WR-CT: the same figures stand in that paper's Table 2 (and P-DBFS's with them).
"""

from __future__ import annotations

from typing import NamedTuple

HARDWARE = "2 × quad-core Intel Xeon 2.27 GHz, 48 GB; NVIDIA Tesla C2050, 2.6 GB"


class IcppRow(NamedTuple):
    """A row of Table I; `initial` and `maximum` are the cardinalities of the initial and the maximum matching."""

    rows: int
    columns: int
    edges: int
    initial: int
    maximum: int
    g_pr: float
    g_hkdw: float
    p_dbfs: float
    pr: float


TABLE_I: dict[str, IcppRow] = {
    "amazon0505": IcppRow(410_236, 410_236, 3_356_824, 332_972, 395_397, 0.09, 0.18, 22.70, 0.52),
    "coPapersDBLP": IcppRow(540_486, 540_486, 15_245_729, 510_992, 540_226, 0.62, 0.42, 6.27, 0.59),
    "amazon-2008": IcppRow(735_323, 735_323, 5_158_388, 587_877, 641_379, 0.12, 0.11, 0.18, 0.93),
    "flickr": IcppRow(820_878, 820_878, 9_837_214, 285_241, 367_147, 0.13, 0.22, 0.35, 0.99),
    "eu-2005": IcppRow(862_664, 862_664, 19_235_140, 642_027, 652_328, 0.40, 1.54, 0.94, 0.80),
    "delaunay_n20": IcppRow(1_048_576, 1_048_576, 3_145_686, 993_174, 1_048_576, 0.06, 0.04, 0.09, 0.32),
    "kron_g500-logn20": IcppRow(1_048_576, 1_048_576, 44_620_272, 431_854, 513_334, 0.38, 0.60, 8.19, 1.24),
    "roadNet-PA": IcppRow(1_090_920, 1_090_920, 1_541_898, 916_444, 1_059_398, 0.33, 0.14, 0.29, 0.59),
    "in-2004": IcppRow(1_382_908, 1_382_908, 16_917_053, 781_063, 804_245, 0.58, 1.44, 2.16, 0.56),
    "roadNet-TX": IcppRow(1_393_383, 1_393_383, 1_921_660, 1_158_420, 1_342_440, 0.45, 0.14, 0.33, 0.69),
    "Hamrle3": IcppRow(1_447_360, 1_447_360, 5_514_242, 1_211_049, 1_447_360, 0.94, 1.36, 2.70, 0.56),
    "as-Skitter": IcppRow(1_696_415, 1_696_415, 11_095_298, 891_280, 1_035_521, 0.34, 0.49, 1.89, 1.13),
    "GL7d19": IcppRow(1_911_130, 1_955_309, 37_322_725, 1_904_144, 1_911_130, 0.24, 0.58, 0.38, 1.38),
    "roadNet-CA": IcppRow(1_971_281, 1_971_281, 2_766_607, 1_668_268, 1_913_589, 0.68, 0.34, 0.53, 1.55),
    "delaunay_n21": IcppRow(2_097_152, 2_097_152, 6_291_408, 1_987_326, 2_097_152, 0.18, 0.13, 0.21, 1.06),
    "kron_g500-logn21": IcppRow(2_097_152, 2_097_152, 91_042_010, 812_883, 964_679, 0.68, 0.99, 1.50, 2.77),
    "wikipedia-20070206": IcppRow(3_566_907, 3_566_907, 45_030_389, 1_623_931, 1_992_408, 0.62, 1.09, 5.24, 3.11),
    "patents": IcppRow(3_774_768, 3_774_768, 14_970_767, 1_892_820, 2_011_083, 0.54, 0.88, 0.84, 3.65),
    "com-LiveJournal": IcppRow(3_997_962, 3_997_962, 34_681_189, 2_577_642, 3_608_272, 2.08, 4.58, 22.46, 9.67),
    "hugetrace-00000": IcppRow(4_588_484, 4_588_484, 6_879_133, 4_581_148, 4_588_484, 2.71, 1.96, 0.83, 0.84),
    "soc-LiveJournal1": IcppRow(4_847_571, 4_847_571, 68_993_773, 2_831_783, 3_835_002, 1.35, 3.32, 14.35, 12.66),
    "ljournal-2008": IcppRow(5_363_260, 5_363_260, 79_023_142, 3_941_073, 4_355_699, 1.54, 2.37, 10.30, 10.01),
    "italy_osm": IcppRow(6_686_493, 6_686_493, 7_013_978, 6_438_492, 6_644_390, 5.46, 5.86, 1.20, 6.84),
    "delaunay_n23": IcppRow(8_388_608, 8_388_608, 25_165_784, 7_950_070, 8_388_608, 0.81, 0.96, 1.26, 8.86),
    "wb-edu": IcppRow(9_845_725, 9_845_725, 57_156_537, 4_810_825, 5_000_334, 2.00, 33.82, 8.61, 3.94),
    "hugetrace-00020": IcppRow(16_002_413, 16_002_413, 23_998_813, 15_535_760, 16_002_413, 14.19, 7.90, 393.13, 28.69),
    "delaunay_n24": IcppRow(16_777_216, 16_777_216, 50_331_601, 15_892_194, 16_777_216, 1.83, 1.98, 2.41, 23.01),
    "hugebubbles-00000": IcppRow(18_318_143, 18_318_143, 27_470_081, 18_303_614, 18_318_143, 13.65, 13.16, 3.55, 13.51),
}
"""By the collection's names. `edges` counts the entries of the stored triangle where the matrix is symmetric."""

GEOMETRIC_MEANS = {"G-PR": 0.70, "G-HKDW": 0.92, "P-DBFS": 1.99, "PR": 2.15}

SPEED_UP_OF_5 = {"G-PR": 0.39, "G-HKDW": 0.21, "P-DBFS": 0.14}
"""Figure 2: share of the graphs on which the speed-up over sequential PR is at least 5."""

WITHIN_1_5 = {"G-PR": 0.75, "G-HKDW": 0.46, "P-DBFS": 0.14}
"""Figure 3: share of the graphs on which the time is within 1.5 times the best."""

FASTEST_SHARE = 0.61
"""Figure 3: share of the graphs on which G-PR was the fastest."""

FIGURE_4 = {"mean": 3.05, "least": 0.31, "most": 12.60, "graphs faster": 23}
"""Speed-ups of G-PR over sequential PR on the 28 graphs."""
