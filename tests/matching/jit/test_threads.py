"""Work in threads: what is made ahead comes in order, and stops where it fails or is no longer wanted."""

from __future__ import annotations

import threading

import pytest

from auctrack.matching.jit import threads
from auctrack.matching.jit.threads import one_ahead


@pytest.fixture(params=[1, 2], autouse=True)
def processors(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many processors there are."""
    monkeypatch.setattr(threads, "processors", lambda: request.param)
    return request.param


def counted(made: list[int], stop: int):
    for number in range(stop):
        made.append(number)
        yield number


def test_all_items_come_in_order():
    assert list(one_ahead(range(20))) == list(range(20))
    assert list(one_ahead([None, 0, None])) == [None, 0, None]
    assert list(one_ahead([])) == []


def test_one_item_at_most_is_made_before_it_is_asked_for(processors):
    made: list[int] = []
    items = one_ahead(counted(made, 20))
    for number in range(10):
        assert next(items) == number
        assert len(made) <= number + processors
    items.close()
    assert len(made) <= 9 + processors


@pytest.mark.parametrize("processors", [2], indirect=True)
def test_the_next_item_is_made_while_one_is_used():
    begun = threading.Event()

    def items():
        yield 0
        begun.set()
        yield 1

    for item in one_ahead(items()):
        assert item == 1 or begun.wait(60)


def test_what_making_an_item_raises_comes_where_the_item_would():
    def items():
        yield 0
        raise ValueError(7)

    ahead = one_ahead(items())
    assert next(ahead) == 0
    with pytest.raises(ValueError, match="7"):
        next(ahead)
