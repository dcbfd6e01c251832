"""Work in threads: each task is done once, and what is made ahead comes in order and stops where it fails."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest

from auctrack.matching.jit import threads
from auctrack.matching.jit.threads import one_ahead, side_by_side


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


@pytest.mark.parametrize("tasks", [[], [3], range(1000)], ids=["none", "one", "many"])
def test_each_task_is_done_once_and_its_result_comes_in_its_place(tasks):
    done: list[int] = []
    assert side_by_side(lambda task: done.append(task) or 2 * task, tasks) == [2 * task for task in tasks]
    assert sorted(done) == sorted(tasks)


def test_two_tasks_are_under_way_at_a_time_where_there_are_two_processors(processors):
    meet = threading.Barrier(processors, timeout=60)
    side_by_side(lambda _: meet.wait(), range(processors))


def test_where_a_task_fails_the_others_stop_and_the_error_is_raised():
    done: list[int] = []

    def work(task: int) -> None:
        if task == 3:
            raise ValueError(task)
        done.append(task)

    with pytest.raises(ValueError, match="3"):
        side_by_side(work, range(100_000))
    assert len(done) < 100_000 - 1


def test_no_more_threads_are_started_than_there_are_processors(processors):
    names = side_by_side(lambda _: threading.get_ident(), range(1000))
    assert len(set(names)) <= processors


def test_tasks_are_let_go_when_all_are_done():
    """Not only when Python looks for circles of references: what they are of may be pinned memory to be used again."""
    tasks = [np.zeros(3) for _ in range(50)]
    held = [weakref.ref(task) for task in tasks]
    gc.disable()
    try:
        side_by_side(np.sum, tasks)
        del tasks
        assert not any(task() is not None for task in held)
    finally:
        gc.enable()
