"""What a first look says of a whole run."""

from __future__ import annotations

import threading

import pandas as pd
import pytest
from numba.core import event

from auctrack import Points
from auctrack.plugins.cli import first_look
from auctrack.plugins.words.compiling import seconds_compiling
from auctrack.tracker import stage_seconds
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.settings import Settings


class Clock:
    now = 0.0

    def compiles(self, seconds: float) -> None:
        event.start_event("numba:compile", data={})
        self.now += seconds
        event.end_event("numba:compile", data={})


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(stage_seconds, "perf_counter", lambda: clock.now)
    return clock


def test_compiling_is_no_part_of_the_time_that_a_run_is_expected_to_take(monkeypatch, movie, clock):
    finds = first_look.finding_stage

    def on_an_empty_cache(*given):
        clock.compiles(100.0)
        clock.now += 2.0
        clock.compiles(10.0)
        return (yield from finds(*given))

    monkeypatch.setattr(first_look, "finding_stage", on_an_empty_cache)
    assert first_look.first_look(str(movie), Settings(), 3).seconds["detect"] == 2.0


def test_functions_that_are_compiled_for_another_or_at_once_count_once(clock):
    with seconds_compiling() as compiling:
        event.start_event("numba:compile", data={})
        clock.compiles(3.0)
        other = threading.Thread(target=clock.compiles, args=(4.0,))
        other.start()
        other.join()
        event.end_event("numba:compile", data={})
    assert compiling.total == 7.0


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ({"read": 0.1, "link": 0.2}, "a few seconds, once all is compiled: read < 1 s, link < 1 s"),
        ({"read": 0.1, "link": 3.8}, "about 4 s, once all is compiled: read < 1 s, link 4 s"),
    ],
)
def test_no_run_is_expected_to_take_no_time(seconds, said):
    points = Points(pd.DataFrame({"frame": [0], "y": [0.0], "x": [0.0]}))
    spent = stage_seconds.StageSeconds()
    spent.update(seconds)
    look = first_look.FirstLook(points, Settings(), 1, 1, 0.0, spent)
    assert look.time == said


def test_starts_are_tried_on_no_more_than_a_sample():
    """So that a small movie is expected to take longer a particle than a large one; without learned motion as long."""
    learned, none = Settings(), Settings(link=LinkSettings(motion="none"))
    seconds = [[first_look._linking(points, given)[1] / points for points in (1e3, 1e6)] for given in (learned, none)]
    assert seconds[0][0] > 5 * seconds[0][1]
    assert seconds[1][0] == pytest.approx(seconds[1][1])
