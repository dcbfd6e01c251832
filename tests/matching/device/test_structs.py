"""Structs of kernels are read from their text: names, types, lengths, and what lies within each other."""

from __future__ import annotations

import numpy as np
import pytest

from auctrack.matching.device import cuda, structs

TEXT = """
constexpr int SLOTS = 3;
struct Inner {
    int64 far;  // in rows; not columns
    int near, n_near;
};
struct Outer {
    int queue[SLOTS], ends[2];
    Inner inner;
    uint64 word;
    dual_t least;
    uint32 barrier;
};
struct Pointing {
    const int* rows;
};
"""


@pytest.fixture
def text(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (cuda, structs):
        monkeypatch.setattr(module, "source", lambda _: TEXT)


@pytest.mark.usefixtures("text")
def test_members_are_those_of_the_text() -> None:
    inner = np.dtype([("far", np.int64), ("near", np.int32), ("n_near", np.int32)], align=True)
    members = [("queue", np.int32, 3), ("ends", np.int32, 2), ("inner", inner), ("word", np.uint64)]
    assert structs.struct("a.cu", "Outer") == np.dtype(
        [*members, ("least", np.int64), ("barrier", np.uint32)], align=True
    )


@pytest.mark.usefixtures("text")
@pytest.mark.parametrize("name", ["Nowhere", "Pointing"])
def test_what_no_dtype_says_is_an_error(name: str) -> None:
    with pytest.raises(LookupError, match=name):
        structs.struct("a.cu", name)
