"""What a first look says of a whole run."""

from __future__ import annotations

import threading
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import tifffile
from numba.core import event
from scipy.ndimage import gaussian_filter

from auctrack import Points, link_points
from auctrack.matching.device import cuda
from auctrack.tracker import first_look, resources, stage_seconds
from auctrack.tracker.compiling import seconds_compiling
from auctrack.tracker.detecting.settings import DetectSettings
from auctrack.tracker.detecting.side_by_side import WorkPlan
from auctrack.tracker.linking.frame_pairs import gpu_frame_pairs
from auctrack.tracker.linking.motion import gpu_ordered
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.whole_movie.windows import BYTES_A_DETECTION, BYTES_MADE
from auctrack.tracker.pipeline import DetectedPoints, open_movie
from auctrack.tracker.reading.movie import read_movie
from auctrack.tracker.settings import InputSettings, Settings

from ..two_spots import two_spots
from .densities import swarm
from .linking.movies import walks


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


@pytest.fixture
def movie(tmp_path) -> Path:
    return two_spots(tmp_path / "in" / "spots.ome.tif")


def test_compiling_is_no_part_of_the_time_that_a_run_is_expected_to_take(monkeypatch, movie, clock):
    finds = first_look.finding_stage

    def on_an_empty_cache(*given):
        clock.compiles(100.0)
        clock.now += 2.0 * len(given[0])
        clock.compiles(10.0)
        return (yield from finds(*given))

    monkeypatch.setattr(first_look, "finding_stage", on_an_empty_cache)
    assert first_look.first_look(str(movie), Settings(), 3).seconds["detect"] == 3 * 2.0  # as long for each frame


@pytest.mark.parametrize("step", [1, 90])
def test_that_linking_a_movie_may_take_longer_is_said_though_one_frame_is_looked_at(tmp_path, step):
    """Spots 20 pixels apart move on by one pixel, or to where none was before."""
    image = np.zeros((3, 80, 300))
    for frame in range(3):
        image[frame, 10::20, 10 + step * frame : 90 + step * frame : 20] = 5_000
    image = gaussian_filter(image, (0, 2, 2)) + 100
    tifffile.imwrite(tmp_path / "movie.tif", image.astype(np.uint16), photometric="minisblack")
    given = InputSettings(axes="TYX", scale=(1, 1))
    look = first_look.first_look(str(tmp_path / "movie.tif"), Settings(given, DetectSettings(5.0, threshold=20.0)), 1)
    assert look.frames_seen == 1
    assert look.points_expected == 48
    assert (look.most_linking > look.seconds["link"]) == (step == 90)


def test_functions_that_are_compiled_for_another_or_at_once_count_once(clock):
    with seconds_compiling() as compiling:
        event.start_event("numba:compile", data={})
        clock.compiles(3.0)
        other = threading.Thread(target=clock.compiles, args=(4.0,))
        other.start()
        other.join()
        event.end_event("numba:compile", data={})
    assert compiling.total == 7.0


def test_starts_are_tried_on_no_more_than_a_sample():
    """So that a small movie is expected to take longer a particle than a large one; without learned motion as long."""
    learned, none = Settings(), Settings(link=LinkSettings(motion="none"))
    seconds = [
        [resources.seconds_linking(points, given.link, "cpu") / points for points in (1e3, 1e6)]
        for given in (learned, none)
    ]
    assert seconds[0][0] > 5 * seconds[0][1]
    assert seconds[1][0] == pytest.approx(seconds[1][1])


def test_linking_takes_longer_where_intensities_are_learned_from_as_those_of_a_movie_are():
    """Six tables of short steps took 1.0 to 1.2 times as long with intensities as without."""
    columns = ["frame", "z", "y", "x", "intensity"]
    with_them = resources.seconds_linking(2e4, LinkSettings(), "cpu", columns)
    without = resources.seconds_linking(2e4, LinkSettings(), "cpu", columns[:-1])
    assert 1.1 < with_them / without < 1.3
    assert resources.seconds_linking(2e4, LinkSettings(features="none"), "cpu", columns) == without
    for kind in ({"motion": "none"}, {"linking": "jaqaman"}):
        seconds = (resources.seconds_linking(2e4, LinkSettings(**kind), "cpu", of) for of in (columns, ()))
        assert len(set(seconds)) == 1


@pytest.mark.parametrize(("frames", "each", "budget", "taken"), [(10, 20_000, 0.2, 1.9e9), (4, 10_000, 0.1, 0.3e9)])
def test_the_memory_that_linking_may_take_of_random_points_is_about_what_it_took(frames, each, budget, taken):
    """In frames that know nothing of each other; 86 and 17 MB were said."""
    some = resources.what_is_ahead(Points(in_frames(2, 500)))
    settings = LinkSettings(memory_budget_gb=budget)
    most = resources.most_memory_of_linking(frames * each, frames, some, settings, "cpu")
    assert taken / 1.3 < most < 1.3 * taken
    short = resources.what_is_ahead(walks(500, 4, step=0.1)[0])
    assert resources.most_memory_of_linking(frames * each, frames, short, settings, "cpu") == 0
    in_windows = resources.most_memory_of_linking(100 * each, 100, some, settings, "cpu")
    assert in_windows == pytest.approx(max(budget * 1e9, 12 * each * 9600))


@pytest.mark.parametrize("step", [0.2, 0.5, 2.0])
def test_linking_may_take_longer_where_particles_step_as_far_as_they_are_apart(step):
    """2,000 a frame, 20 frames, of steps of 0.5 and 2 spacings took 1.0 and 33 CPU seconds; 1 was foretold."""
    swarm, settings = walks(500, 4, step=step)[0], LinkSettings()
    expected, most = (
        resources.seconds_linking(40_000, settings, "cpu"),
        resources.most_seconds_linking(40_000, resources.what_is_ahead(swarm), settings, "cpu"),
    )
    assert (most > 5 * expected) == (step > 0.2)
    assert (most > 30 * expected) == (step > 1)
    ahead, one_frame = map(resources.what_is_ahead, (swarm, swarm.cut(slice(0, 1))))
    assert resources.most_seconds_linking(4e4, ahead, LinkSettings(motion="none"), "cpu") == 0
    assert resources.most_seconds_linking(4e4, one_frame, settings, "cpu") == 0


@pytest.mark.parametrize(
    ("kind", "each", "ndim", "persistence", "taken", "seconds"),
    [
        ("even", 20_000, 3, 0.0, 0.44e9, 1.2),
        ("clusters", 20_000, 3, 0.0, 0.57e9, 3.4),
        ("log-normal", 20_000, 3, 0.0, 0.66e9, 7.0),
        ("log-normal", 6_000, 3, 0.8, 0.54e9, 4.4),
        ("even", 6_000, 2, 0.8, 0.37e9, 0.7),
        ("clusters", 6_000, 2, 0.8, 0.45e9, 1.4),
        ("log-normal", 6_000, 2, 0.0, 0.48e9, 1.9),
        ("log-normal", 6_000, 2, 0.8, 0.53e9, 3.4),
    ],
)
def test_what_is_said_of_any_density_is_about_what_ten_frames_of_it_took(kind, each, ndim, persistence, taken, seconds):
    """CPU seconds and bytes, by `link_points`; of the log-normal ones in space .42 GB and 2.1 s were said."""
    step = 0.05 if persistence else 0.1
    ahead = resources.what_is_ahead(swarm(kind, each, 3, ndim, step=step, persistence=persistence))
    n, settings = 10 * each, LinkSettings(device="cpu")
    linking, _ = resources.memory_of_linking(n, 10, settings, ahead)
    assert taken / 1.3 < resources.memory_of_run(n, 0.0, linking) < 1.3 * taken
    assert seconds / 1.5 < resources.seconds_linking(n, settings, "cpu", (), ahead) < 1.5 * seconds


@pytest.mark.parametrize(("kind", "seconds"), [("even", 0.11), ("log-normal", 0.78)])
def test_so_is_it_by_distance(kind, seconds):
    ahead, settings = resources.what_is_ahead(swarm(kind, 20_000, 2, 3, step=0.1)), LinkSettings(motion="none")
    assert seconds / 1.5 < resources.seconds_linking(300_000, settings, "cpu", (), ahead) < 1.5 * seconds


def test_whether_links_know_of_others_is_asked_of_steps_where_motion_may_be_either():
    """Which takes twice the memory."""
    still, going = (
        resources.what_is_ahead(swarm("even", 3000, 3, 3, step=0.05, persistence=persistence))
        for persistence in (0.0, 0.8)
    )
    alone, of_others, diffusion, velocity = (
        resources.memory_of_linking(1e6, 10, LinkSettings(device="cpu", motion=motion), ahead)[0]
        for motion, ahead in (("auto", still), ("auto", going), ("diffusion", going), ("velocity", still))
    )
    assert of_others > 1.7 * alone
    assert diffusion == pytest.approx(alone, rel=0.1)
    assert velocity == pytest.approx(of_others, rel=0.1)


def test_windows_are_counted_by_the_candidates_of_a_dense_place():
    """Of which a budget counts 240 bytes each; of the links of few neighbours detections do."""
    dense, even = (resources.what_is_ahead(swarm(kind, 3000, 2, 3, step=0.1)) for kind in ("log-normal", "even"))
    tight = LinkSettings(device="cpu", memory_budget_gb=0.5)
    (windows, kept), (whole, _) = (resources.memory_of_linking(5e5, 100, tight, each) for each in (dense, even))
    assert not kept
    assert windows < 0.5e9
    assert windows < 5e5 * dense.near * 130  # which all of them would take
    assert whole == pytest.approx(5e5 * even.near * 130)
    _, least = resources.memory_of_linking(5e5, 4, tight, dense)
    assert least == pytest.approx(5e5 * (dense.near * 240 + BYTES_MADE))


def in_frames(frames: int, each: int) -> pd.DataFrame:
    places = np.random.default_rng(0).uniform(0, 10, (frames * each, 3))
    return pd.DataFrame(places, columns=list("zyx")).assign(frame=np.repeat(np.arange(frames), each))


def looked_at(tmp_path, table: pd.DataFrame, budget: float, **given) -> first_look.FirstLook:
    path = tmp_path / "points.csv"
    table.to_csv(path, index=False)
    return first_look.first_look(str(path), Settings(link=LinkSettings(memory_budget_gb=budget, **given)), 1)


@pytest.mark.parametrize(
    ("points", "taken"),
    [(200_000, 0.41e9), (499_743, 0.71e9), (1e6, 0.71e9), (2_000_213, 1.74e9), (3e6, 1.53e9), (1e7, 4.30e9)],
)
def test_the_memory_said_of_tables_of_ten_frames_is_within_1_3_times_what_they_took(points, taken):
    """What they took is in BENCHMARKS, Memory."""
    linking, _ = resources.memory_of_linking(points, 10, LinkSettings(device="cpu"))
    assert taken / 1.3 < resources.memory_of_run(points, 0.0, linking) < 1.3 * taken


def test_so_is_that_of_a_table_in_windows():
    linking, _ = resources.memory_of_linking(2e6, 100, LinkSettings(device="cpu", memory_budget_gb=0.5))
    assert 0.965e9 / 1.3 < resources.memory_of_run(2e6, 0.0, linking) < 1.3 * 0.965e9


def test_the_memory_said_of_large_planes_counts_the_search_for_a_window():
    """20 × 2048 × 2048 uint16, of which 0.56 GB was taken; see BENCHMARKS, Memory."""
    planes = read_movie(np.zeros((20, 2048, 2048), np.uint16), axes="TYX", unit="pixel")
    said = resources.memory_of_run(
        54_000, resources.memory_of_detection(planes, Settings(link=LinkSettings(device="cpu"))), 0
    )
    assert 0.56e9 / 1.3 < said < 1.3 * 0.56e9


def test_learned_motion_of_few_frames_exceeds_a_budget_that_it_cannot_keep_to(tmp_path):
    few, many = in_frames(5, 400), in_frames(200, 10)
    tight = 0.3 * len(few) * BYTES_A_DETECTION / 1e9
    held, windows = (looked_at(tmp_path, table, tight) for table in (few, many))
    assert held.least_budget == pytest.approx(len(few) * (BYTES_A_DETECTION + BYTES_MADE))
    assert not windows.least_budget
    assert held.bytes > windows.bytes
    assert held.bytes == looked_at(tmp_path, few, 4.0).bytes
    assert not looked_at(tmp_path, few, tight, motion="none").least_budget


@pytest.mark.parametrize(("frames", "share"), [(5, 0.3), (12, 0.55), (12, 0.7)], ids=["whole", "made", "kept to"])
def test_a_run_exceeds_its_budget_where_the_first_look_says_so(frames, share):
    """Of twelve frames six are held at once, beside what is made of all of them."""
    places = np.tile(np.random.default_rng(0).uniform(0, 10, (400, 3)), (frames, 1))
    table = pd.DataFrame(places, columns=list("zyx")).assign(frame=np.repeat(np.arange(frames), 400))
    settings = LinkSettings(memory_budget_gb=share * len(table) * BYTES_A_DETECTION / 1e9, device="cpu")
    _, least = resources.memory_of_linking(len(table), frames, settings)
    with pytest.warns(UserWarning, match=f"{least / 1e9:.2g} GB") if least else nullcontext():
        notes = link_points(Points(table), settings).report["notes"]
    assert any("more than the memory budget" in note for note in notes) == (least > 0) == (share < 0.7)


def test_frames_of_which_settings_are_measured_take_more_memory_and_a_budget_bounds_both(movie):
    given = DetectSettings(3.0, threshold=20.0)
    with open_movie(movie, InputSettings()) as frames:
        auto, known = (resources.memory_of_detection(frames, Settings(detect=one)) for one in (DetectSettings(), given))
        one_at_a_time = Settings(detect=given, link=LinkSettings(memory_budget_gb=1e-9))
        assert resources.memory_of_detection(frames, one_at_a_time) < known < auto


@pytest.mark.parametrize(("motion", "room"), [("auto", gpu_ordered), ("none", gpu_frame_pairs)])
def test_where_the_particles_of_all_frames_would_be_linked_is_said(tmp_path, monkeypatch, motion, room):
    table = in_frames(4, 10)
    assert looked_at(tmp_path, table, 4.0, motion=motion).seconds.devices["link"] == "cpu"
    monkeypatch.setattr(room, "takes_gpu", lambda points, _: len(points) == len(table))
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "free_bytes", lambda: 10**9)
    look = looked_at(tmp_path, table, 4.0, motion=motion)
    assert look.seconds.devices["link"] == "cuda"
    assert 0 < look.gpu_bytes < 10**6


def test_what_a_gpu_has_no_room_for_is_the_hosts_in_windows(tmp_path, monkeypatch):
    table = in_frames(200, 10)
    tight = 0.3 * len(table) * BYTES_A_DETECTION / 1e9
    wanted = looked_at(tmp_path, table, tight)
    monkeypatch.setattr(gpu_ordered, "takes_gpu", lambda *_: True)
    monkeypatch.setattr(cuda, "using", lambda _: nullcontext())
    monkeypatch.setattr(cuda, "free_bytes", lambda: 10**5)
    found = looked_at(tmp_path, table, tight)
    assert found.bytes == wanted.bytes
    assert found.gpu_bytes == 10**5
    monkeypatch.setattr(cuda, "free_bytes", lambda: 10**9)
    assert looked_at(tmp_path, table, tight).bytes < wanted.bytes


def test_some_frames_are_looked_at_where_all_of_them_would_be_detected(movie, monkeypatch):
    """A few frames are too few for a GPU, all of them may not be."""
    asked = []

    def found(part, settings, _under):
        asked.append((len(part), settings.link.device))
        return DetectedPoints(Points(in_frames(1, 3)))
        yield

    monkeypatch.setattr(
        resources, "work_plan", lambda _shape, frames, *_, **__: WorkPlan(1, 1, "cuda" if frames == 3 else "cpu")
    )
    monkeypatch.setattr(first_look, "finding_stage", found)
    resolved = []
    monkeypatch.setattr(first_look, "resolve_settings", lambda _, given, device, **__: resolved.append(device) or given)
    look = first_look.first_look(str(movie), Settings(), 2)
    assert resolved == ["cuda", "cuda"]  # the second is timed: the first compiles
    assert asked == [(2, "cuda"), (3, "cuda")]  # which has several at a time
    assert look.seconds.devices["detect"] == "cuda"
