"""What is loaded by name only: every place that the code names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import auctrack.matching
from auctrack.matching.named import named

PLACE = re.compile(r'"(\.[\w.]+:\w+)"')


def _places() -> list[str]:
    root = Path(auctrack.matching.__file__).parent
    return sorted({place for path in root.rglob("*.py") for place in PLACE.findall(path.read_text(encoding="utf-8"))})


@pytest.mark.parametrize("place", _places())
def test_every_place_that_is_named_holds_something_to_call(place: str) -> None:
    assert callable(named(place))


def test_the_papers_and_the_solvers_are_among_them() -> None:
    assert {place.split(".")[1] for place in _places()} >= {"papers", "auction:Auction", "jv:JV"}
