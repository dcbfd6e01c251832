"""What a first look says of a whole run, in words."""

from __future__ import annotations

import pandas as pd
import pytest

from auctrack import Points
from auctrack.plugins.cli.runs.expected import memory_in_words, time_in_words
from auctrack.tracker.first_look import FirstLook
from auctrack.tracker.settings import Settings
from auctrack.tracker.stage_seconds import StageSeconds


def looked_at(
    seconds: dict[str, float],
    device: str = "",
    *,
    least_budget: float = 0.0,
    gpu_bytes: float = 0.0,
    most_linking: float = 0.0,
    known_bytes: float = 0.0,
    most_bytes: float = 0.0,
) -> FirstLook:
    spent = StageSeconds()
    spent.update(seconds)
    spent.devices["link"] = device
    points = Points(pd.DataFrame({"frame": [0], "y": [0.0], "x": [0.0]}))
    return FirstLook(points, Settings(), 1, 1, known_bytes, least_budget, spent, gpu_bytes, most_linking, most_bytes)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ({"read": 0.1, "link": 0.2}, "a few seconds, once all is compiled: read < 1 s, link < 1 s"),
        ({"read": 0.1, "link": 3.8}, "about 4 s, once all is compiled: read < 1 s, link 4 s"),
    ],
)
def test_no_run_is_expected_to_take_no_time(seconds, said):
    assert time_in_words(looked_at(seconds)) == said


@pytest.mark.parametrize(("most", "is_said"), [(0.0, False), (2.9, False), (9.9, False), (24.0, True)])
def test_how_long_linking_may_take_is_said_where_that_is_much_longer(most, is_said):
    assert ("up to 24 s" in time_in_words(looked_at({"link": 5.0}, most_linking=most))) == is_said


@pytest.mark.parametrize(("most", "is_said"), [(0.0, False), (0.9e9, False), (2.3e9, True)])
def test_how_much_memory_linking_may_take_is_said_where_that_is_much_more(most, is_said):
    said = memory_in_words(looked_at({}, known_bytes=0.5e9, most_bytes=most))
    assert said.endswith("up to 2.3 GB") == is_said


def test_where_the_particles_of_all_frames_would_be_linked_is_said():
    assert "(cuda)" in time_in_words(looked_at({"link": 1.0}, "cuda"))


def test_of_a_run_that_cannot_keep_to_its_budget_the_least_that_it_keeps_to_is_said():
    assert "less than the 4.6 GB that the fewest frames" in memory_in_words(looked_at({}, least_budget=4.63e9))
    assert "less than" not in memory_in_words(looked_at({}))


def test_the_memory_of_a_gpu_is_said_where_one_takes_part():
    assert memory_in_words(looked_at({}, gpu_bytes=16.4e9)).endswith("and 16 GB of the GPU's")
    assert "GPU" not in memory_in_words(looked_at({}))
