"""Tolerances stand in one file; kernels, which cannot read it, have the same numbers."""

from __future__ import annotations

import re

from auctrack.matching import tolerance
from auctrack.matching.device import cuda


def test_the_certificates_of_cpu_and_gpu_prove_by_the_same_tolerances() -> None:
    declared = [cuda.declared("certificate/certify.cu", name) for name in ("ULPS", "REMATCH_ULPS")]
    assert declared == [tolerance.ULPS, tolerance.REMATCH_ULPS]


def test_the_boxes_of_a_gpu_shrink_by_no_less_than_those_of_a_cpu() -> None:
    (ulps,) = re.findall(r"ROUND_DOWN = 1\.0 - (\d+) \*", cuda.source("points/tree.cu"))
    assert int(ulps) * tolerance.EPS >= tolerance.BOX_MARGIN
