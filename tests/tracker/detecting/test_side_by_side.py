"""How threads share frames, and what a frame costs in memory."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from auctrack.matching.jit.threads import processors
from auctrack.tracker.detecting import side_by_side
from auctrack.tracker.detecting.detect import detect_frame
from auctrack.tracker.detecting.pixels import Pixels
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.side_by_side import IncomingFrames, WorkPlan, work_plan

from ..traced import with_peak
from .test_threshold import Stack


def test_by_default_every_processor_takes_part():
    assert work_plan((10, 10), 1000, None) == WorkPlan(processors(), 1)


@pytest.mark.parametrize(
    ("shape", "frames", "plan"),
    [
        ((32, 512, 512), 100, WorkPlan(16, 1)),
        ((32, 512, 512), 3, WorkPlan(3, 5)),
        ((64, 1024, 1024), 100, WorkPlan(2, 8)),
        ((512, 2048, 2048), 100, WorkPlan(1, 16)),
    ],
)
def test_sixteen_workers_take_a_frame_each_where_memory_and_frames_suffice_and_else_share_them(shape, frames, plan):
    assert work_plan(shape, frames, 16) == plan


class Counted(Stack):
    """A movie that knows which of its frames were read."""

    def frame(self, number: int, empty: object = None) -> np.ndarray:
        del empty
        self.read.append(number)
        return self.images[number]


@pytest.mark.parametrize("ahead", [0, 1, 8])
def test_for_a_gpu_some_frames_are_brought_before_they_are_asked_for(monkeypatch, ahead):
    monkeypatch.setattr(side_by_side, "pinned_memory", lambda *_: np.empty)
    monkeypatch.setattr(Pixels, "brought_to", lambda frame, _: frame)
    movie = Counted(np.arange(3000).reshape(30, 10, 10))
    with IncomingFrames(movie, range(30), WorkPlan(2, 1, "cuda", ahead=ahead)) as incoming:
        results = incoming.worked(lambda frame: int(frame.pixels[0, 0]))
        assert next(results) == (0, 0)
        assert len(movie.read) <= 2 + ahead + 1
        assert list(results) == [(number, 100 * number) for number in range(1, 30)]
    assert sorted(movie.read) == list(range(30))


def test_a_gpu_has_the_next_frames_before_the_first_is_waited_for(monkeypatch):
    monkeypatch.setattr(side_by_side, "pinned_memory", lambda *_: np.empty)
    monkeypatch.setattr(Pixels, "brought_to", lambda frame, _: frame)
    movie = Counted(np.arange(3000).reshape(30, 10, 10))
    begun: list[int] = []

    def begin(frame):
        begun.append(int(frame.pixels[0, 0]))
        return lambda: partial(int, frame.pixels[0, 1])

    with IncomingFrames(movie, range(30), WorkPlan(2, 1, "cuda", ahead=3), [29, 7]) as incoming:
        results = incoming.queued(begin)
        assert next(results) == (0, 1)
        assert begun[:3] == [0, 100, 200]
        assert len(begun) <= 2 + 2 + 1  # begun with, and what the host has to do
        assert len(movie.read) <= 2 + 2 + 3 + 2 + 1
        assert list(results) == [(number, 100 * number + 1) for number in range(1, 30)]
    assert sorted(movie.read) == list(range(30))


def test_frames_for_a_gpu_come_without_being_asked_for_and_others_do_not(monkeypatch):
    monkeypatch.setattr(side_by_side, "pinned_memory", lambda *_: np.empty)
    monkeypatch.setattr(Pixels, "brought_to", lambda frame, _: frame)
    for plan, read in (
        (WorkPlan(2, 1, "cuda", ahead=3), 5),
        (WorkPlan(2, 1, "cuda", planes=4), 0),
        (WorkPlan(2, 1), 0),
    ):
        movie = Counted(np.arange(3000).reshape(30, 10, 10))
        with IncomingFrames(movie, range(30), plan) as incoming:
            incoming._readers.shutdown()
            assert len(movie.read) == read


@pytest.mark.parametrize("bright", [True, False])
@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.float64])
def test_a_frame_takes_at_most_three_copies_in_float32_beside_itself(dtype, bright):
    image = np.random.default_rng(0).normal(100.0, 10.0, (40, 128, 128)).astype(dtype)
    settings = DetectSettings(6.0, threshold=40.0, bright_on_dark=bright)
    detect_frame(image, settings, np.ones(3))  # compiled
    _, peak = with_peak(lambda: detect_frame(image, settings, np.ones(3)))
    assert peak < 3.0 * 4 * image.size


@pytest.mark.parametrize("shape", [(1024, 1024), (256, 4096), (3, 512, 512)])
@pytest.mark.parametrize(("diameter", "threshold"), [(6.0, 1.0), (40.0, 40.0)], ids=["many peaks", "a wide filter"])
def test_so_does_a_flat_one_however_many_peaks_it_has_and_however_wide_they_are(shape, diameter, threshold):
    image = np.random.default_rng(0).normal(100.0, 10.0, shape).astype(np.uint16)
    settings = DetectSettings(diameter, threshold=threshold)
    detect_frame(image[..., :300], settings, np.ones(len(shape)))  # compiled
    _, peak = with_peak(lambda: detect_frame(image, settings, np.ones(len(shape))))
    assert peak < 3.0 * 4 * image.size
