"""Numbers that kernels declare are read from them: they stand in one place."""

from __future__ import annotations

import pytest

from auctrack.matching.cardinality.gpu_persistent import MOST_LEVELS
from auctrack.matching.device import cuda
from auctrack.matching.points.box_tree import FAN


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("constexpr int SLOTS = 64;", 64),
        ("constexpr int A = 1, SLOTS = 1 << 4;", 16),
        ("constexpr int SLOTS = 0x1f;", 31),
        ("#define SLOTS 64", 64),
    ],
)
def test_a_number_is_read_as_it_is_written(monkeypatch, text, number):
    monkeypatch.setattr(cuda, "source", lambda _: f"#line 1\n{text}  // of a queue\n")
    assert cuda.declared.__wrapped__("a.cu", "SLOTS") == number


def test_what_is_not_declared_is_an_error():
    with pytest.raises(LookupError, match="NOWHERE"):
        cuda.declared("points/tree.cu", "NOWHERE")


def test_files_that_need_the_same_number_declare_it_alike():
    assert cuda.declared("cardinality/push.cu", "MOST_LEVELS") == MOST_LEVELS
    assert cuda.declared("points/tree.cu", "FAN") == FAN
