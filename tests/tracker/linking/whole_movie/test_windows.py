"""Movies that are worked through in windows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.matching.device import cuda
from auctrack.matching.errors import DeviceMemoryExceeded
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.candidates import graph
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.motion.shared_shift import drift
from auctrack.tracker.linking.motion.shared_shift.shift_of_all import without_drift
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.whole_movie import movie_links
from auctrack.tracker.linking.whole_movie.windows import (
    BYTES_A_DETECTION,
    BYTES_MADE,
    excerpt,
    held_at_once,
    most_held,
    pays,
    windows_of,
)
from auctrack.tracker.points import Points

from ...traced import with_peak
from ..movies import caged, f1, table, walks

pytestmark = pytest.mark.filterwarnings("ignore:the fewest frames")  # that a budget has no room for them is meant here
PLACES = np.random.default_rng(0).uniform(0, 5, (60, 3))


@pytest.fixture(scope="module")
def movie() -> tuple[Points, np.ndarray]:
    return walks(150, 70, step=0.3, persistence=0.7, missed=0.1, walls=True)


@pytest.fixture
def taught_by_the_whole(monkeypatch):
    """Let the whole movie teach the models, so that they are those of a movie that is held as a whole."""
    monkeypatch.setattr(
        "auctrack.tracker.linking.whole_movie.movie_links.excerpt", lambda movie, _: (movie, np.arange(len(movie)))
    )


def held(detections: int, settings: LinkSettings | None = None) -> LinkSettings:
    """Return settings whose memory budget has room for so many detections."""
    return replace(settings or LinkSettings(), memory_budget_gb=detections * BYTES_A_DETECTION / 1e9)


def ends(linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


def test_what_was_learned_of_a_movie_leads_to_the_same_belief_again(movie):
    frames = without_drift(ordered(movie[0]), "auto")[0]
    first = believed(frames, "auto")
    again = believed(frames, "auto", record=first.record.replay())
    np.testing.assert_array_equal(first.probability, again.probability)
    np.testing.assert_array_equal(first.weight, again.weight)


@pytest.mark.usefixtures("taught_by_the_whole")
def test_by_the_same_models_windows_make_the_links_of_the_whole_movie(movie):
    points, _ = movie
    whole, windows = link_points(points), link_points(points, held(6000))
    assert windows.report["windows"] > 2
    assert windows.report["is_optimal"]
    assert ends(windows) == ends(whole)
    differ = (windows.links["probability"] - whole.links["probability"]).abs()
    assert (differ > 0.05).mean() < 0.002
    assert windows.links["margin"].notna().all()


@pytest.mark.usefixtures("taught_by_the_whole")
def test_windows_link_the_rare_steps_that_the_whole_movie_has_taught():
    """Farther than the others are candidates, so that each window looks for its own."""
    points, names, jumped = caged(100, 60, shear=0.06)
    whole, windows = link_points(points), link_points(points, held(3000))
    assert windows.report["windows"] > 2
    assert ends(windows) == ends(whole)
    assert f1(points, names, *windows.links[["source", "target"]].to_numpy().T) > 1 - jumped.mean() / 4


def test_windows_go_by_what_an_excerpt_teaches_and_say_so(movie):
    points, names = movie
    whole, windows = link_points(points), link_points(points, held(6000))
    assert f1(points, names, *windows.links[["source", "target"]].to_numpy().T) > (
        f1(points, names, *whole.links[["source", "target"]].to_numpy().T) - 0.003
    )
    report = windows.report
    assert 0 <= report["seam_differences"] < 0.02 * report["seam_links"]
    assert report["notes"] == [
        f"worked through in {report['windows']} windows of up to 33 frames, by models learned on 8 of 70; at "
        f"{report['windows'] - 1} seams {report['seam_differences']} of {report['seam_links']} links differ"
    ]


@pytest.mark.parametrize("missed", [0, 1])
def test_windows_of_the_fewest_frames_are_three_times_what_a_link_may_span(missed):
    points, names = walks(150, 24, step=0.2, missed=0.1 * missed)
    linking = link_points(points, held(1, LinkSettings(max_missed_frames=missed)))
    note, _ = linking.report["notes"]
    assert f"of up to {3 * (1 + missed)} frames" in note
    assert linking.report["is_optimal"]
    assert f1(points, names, *linking.links[["source", "target"]].to_numpy().T) > 0.98
    assert linking.links["source"].is_unique
    assert linking.links["target"].is_unique


def test_links_that_no_other_window_knows_of_are_not_said_to_differ():
    points, _ = walks(150, 24, step=0.2, missed=0.0)
    report = link_points(points, held(1, LinkSettings(max_missed_frames=0))).report
    assert report["windows"] > 2
    assert report["seam_links"] == report["seam_differences"] == 0
    assert not any("differ" in note for note in report["notes"])


def test_models_are_learned_from_a_box_where_the_fewest_frames_hold_more_than_a_window(monkeypatch):
    monkeypatch.setattr("auctrack.tracker.linking.whole_movie.windows.ENOUGH", 1000)
    points, names = walks(600, 24, step=0.3, missed=0.05)
    movie = ordered(points)
    box, chosen = excerpt(movie, 500)
    assert 250 < len(box) <= 1000
    np.testing.assert_array_equal(box.row, movie.row[chosen])
    np.testing.assert_array_equal(np.diff(box.starts), np.bincount(movie.frame[chosen])[np.unique(movie.frame[chosen])])
    assert (box.extent < 0.9 * movie.extent).all()
    np.testing.assert_allclose(np.ptp(movie.position[chosen], axis=0), box.extent)
    linking = link_points(points, held(500, LinkSettings(max_missed_frames=1)))
    assert f1(points, names, *linking.links[["source", "target"]].to_numpy().T) > 0.97


def test_a_box_of_particles_in_one_place_is_as_large_as_it_is(monkeypatch):
    monkeypatch.setattr("auctrack.tracker.linking.whole_movie.windows.ENOUGH", 10)
    movie = ordered(table(np.repeat(np.arange(8), 20), np.full((160, 3), 2.0)))
    box, chosen = excerpt(movie, 10)
    assert len(box) == len(chosen) == 160


@pytest.mark.usefixtures("taught_by_the_whole")
def test_gaps_are_closed_across_seams():
    """Still particles, all of them missed in every seventh frame, so that all links at some seams are gaps."""
    frames = np.array([frame for frame in range(60) if frame % 7 != 3])
    points = table(np.repeat(frames, 60), np.tile(PLACES, (len(frames), 1)))
    linking = link_points(points, held(1200))
    assert linking.report["windows"] > 2
    assert linking.tracks.table["track_id"].nunique() == 60
    assert linking.report["seam_differences"] == 0


@pytest.mark.parametrize("missed", ["auto", 0, 3])
@pytest.mark.parametrize("sizes", [[60] * 40, [60, 1, 60, 60, 0] * 8, [1] * 40], ids=["even", "uneven", "one each"])
def test_frames_that_hold_one_detection_or_none(sizes, missed):
    points = table(np.repeat(np.arange(40), sizes), np.vstack([PLACES[:size] for size in sizes]))
    settings = LinkSettings(max_missed_frames=missed)
    windows = link_points(points, held(max(len(points) // 3, 8), settings))
    assert windows.report["windows"] > 1
    assert windows.report["is_optimal"]
    assert ends(windows) == ends(link_points(points, settings))


@pytest.mark.usefixtures("taught_by_the_whole")
def test_links_that_are_given_hold_across_seams(movie):
    points, _ = movie
    free = link_points(points, held(6000)).links
    firsts = free.groupby(points.frames[free["source"]]).first()  # one link a frame: some of them cross seams
    given = firsts[["source", "target"]].to_numpy().tolist()
    made, never = given[::2], given[1::2]
    wrong = [[source, target] for (source, _), (_, target) in zip(made, given[2::2], strict=False)]
    pinned = [link for link in wrong if points.frames[link[1]] > points.frames[link[0]]][:20]
    settings = LinkSettings(pinned=pinned, forbidden=never)
    linking = link_points(points, held(6000, settings))
    whole = link_points(points, settings)
    assert linking.report["windows"] > 2
    assert set(map(tuple, pinned)) <= ends(linking)
    assert not set(map(tuple, never)) & ends(linking)
    assert ends(linking) == ends(whole)


@pytest.mark.usefixtures("taught_by_the_whole")
def test_daughters_are_found_in_windows_too():
    rng = np.random.default_rng(4)
    mothers = rng.uniform(0, 12, (120, 3))
    here, parts = mothers, []
    for frame in range(50):
        if frame and frame % 5 == 0:
            apart = rng.normal(0, 0.2, (4, 3))
            here = np.vstack([here[4:], here[:4] + apart, here[:4] - apart])
        parts.append(here + rng.normal(0, 0.03, here.shape))
    points = table(np.repeat(np.arange(50), [len(part) for part in parts]), np.vstack(parts))
    settings = LinkSettings(divisions=True)
    windows, whole = link_points(points, held(3000, settings)), link_points(points, settings)
    assert windows.report["windows"] > 2
    assert (windows.links["kind"] == "division").sum() == (whole.links["kind"] == "division").sum() > 25
    assert windows.tracks.parents == whole.tracks.parents


class TestOnAGpu:
    @pytest.fixture(autouse=True)
    def room(self, gpu, monkeypatch):
        """Let the GPU have room for the candidates of a window, and not for those of the whole movie."""
        del gpu
        room = held(2500).memory_budget * 300 / 240

        def require(n_bytes: int, purpose: str) -> None:
            if n_bytes > room and purpose.startswith("learning"):
                raise DeviceMemoryExceeded(purpose)

        monkeypatch.setattr(cuda, "require_memory", require)

    @pytest.mark.usefixtures("taught_by_the_whole")
    @pytest.mark.parametrize("asked", [LinkSettings(), LinkSettings(divisions=True)], ids=["plain", "divisions"])
    @pytest.mark.parametrize("name", ["walks", "blank frames", "drift and brightness"])
    def test_windows_make_the_links_of_a_cpus_and_of_the_whole_movie(self, name, asked):
        points, who = walks(100, 50, step=0.3, persistence=0.7, missed=0.1, walls=True)
        table, rng = points.table, np.random.default_rng(0)
        if name == "blank frames":
            table = table[~table["frame"].isin([15, 16, 30])]
        elif name == "drift and brightness":
            own = rng.normal(0, 0.5, who.max() + 1)[who] + rng.normal(0, 0.1, len(who))
            table = table.assign(y=table["y"] + 3.0 * table["frame"], intensity=np.exp(own))
        points = Points(table.reset_index(drop=True))
        found, wanted = both(points, asked)
        assert ends(found) == ends(wanted) == ends(link_points(points, replace(asked, device="cpu")))
        np.testing.assert_array_equal(found.tracks.table["track_id"], wanted.tracks.table["track_id"])

    @pytest.mark.parametrize(
        "asked",
        [{}, {"editable": True}, {"settings": LinkSettings(divisions=True)}],
        ids=["plain", "editable", "divisions"],
    )
    def test_what_no_windows_are_made_of_is_linked_by_the_host(self, asked):
        points, _ = walks(800, 6, step=0.3)
        asked = {"settings": LinkSettings()} | asked
        found, wanted = (
            link_points(points, **asked | {"settings": replace(held(2000, asked["settings"]), device=device)})
            for device in ("cuda", "cpu")
        )
        assert found.report["windows"] == 1
        assert found.report["is_optimal"]
        assert ends(found) == ends(wanted)
        np.testing.assert_array_equal(found.tracks.table["track_id"], wanted.tracks.table["track_id"])

    def test_windows_go_by_what_the_excerpt_of_a_cpus_teaches(self, movie):
        found, wanted = both(movie[0], LinkSettings())
        assert ends(found) == ends(wanted)


def both(points, asked):
    """Return what windows make on a GPU and on a CPU, which say the same of it."""
    found, wanted = (link_points(points, replace(held(2000, asked), device=device)) for device in ("cuda", "cpu"))
    assert found.report["windows"] == wanted.report["windows"] > 2
    assert found.report["notes"] == wanted.report["notes"]
    assert found.report["learned"] == wanted.report["learned"]
    assert found.report["is_optimal"]
    columns = ["probability", "margin"]
    pd.testing.assert_frame_equal(found.links[columns], wanted.links[columns], atol=1e-6)
    return found, wanted


class TestTheWholeMovieIsHeld:
    def test_where_the_fewest_frames_would_hold_hardly_less_and_this_is_said_before_any_is_learned(self, monkeypatch):
        points, _ = walks(200, 10, step=0.3)
        with pytest.warns(UserWarning, match="motion none"):
            linking = link_points(points, held(200))
        assert linking.report["windows"] == 1
        taken = f"may take {len(points) * (BYTES_A_DETECTION + BYTES_MADE) / 1e9:.2g} GB, more than the memory budget"
        assert any(taken in note for note in linking.report["notes"])
        monkeypatch.setattr(movie_links, "believed", None)
        with pytest.warns(UserWarning, match=taken), pytest.raises(TypeError):
            link_points(points, held(200))

    @pytest.mark.parametrize("asked", [{"editable": True}, {"samples": 2}])
    def test_where_corrections_or_samples_need_it(self, movie, asked):
        linking = link_points(movie[0], held(6000), **asked)
        assert linking.report["windows"] == 1
        assert linking.solution is not None or linking.samples is not None


def scattered() -> Points:
    """Points of which no frame knows of the other, so that the model is wide and candidates are four times as many."""
    places = np.random.default_rng(1).uniform(0, 5, (6000, 3))
    return table(np.repeat(np.arange(60), 100), places)


@pytest.mark.parametrize("made", [lambda: walks(150, 70, step=0.3, persistence=0.7)[0], scattered])
@pytest.mark.parametrize("detections", [8_000, 20_000])
def test_no_more_memory_is_taken_than_the_budget(monkeypatch, made, detections):
    monkeypatch.setattr(graph, "PIECE", 256)  # of large movies one piece is next to nothing, as are a few votes
    monkeypatch.setattr(drift, "AT_ONCE", 1)
    points, settings = made(), held(detections, LinkSettings(max_missed_frames=1))
    link_points(points.cut(slice(0, 20)), held(1000, settings))  # compiling allocates too
    _, taken = with_peak(lambda: link_points(points, settings))
    assert taken < settings.memory_budget


def test_more_candidates_than_usual_are_worked_through_in_windows_too():
    points = scattered()
    linking = link_points(points, held(len(points)))
    assert linking.report["windows"] > 1
    assert linking.report["is_optimal"]


def test_windows_of_the_fewest_frames_that_exceed_the_budget_are_noted_and_warned_of():
    with pytest.warns(UserWarning, match="more than the memory budget of 0.0008 GB; by distance alone"):
        linking = link_points(scattered(), held(1000))
    assert linking.report["windows"] > 1
    assert "memory budget" in linking.report["notes"][-1]


@pytest.mark.parametrize("lags", [1, 2, 4])
@pytest.mark.parametrize("frames", [2, 6, 10, 80, 300])
@pytest.mark.parametrize("share", [0.13, 0.3, 0.6, 0.9, 1.0])
def test_what_is_held_at_once_is_told_of_a_movie_by_its_numbers_alone(share, frames, lags):
    movie = ordered(table(np.repeat(np.arange(frames), 20), np.random.default_rng(0).uniform(0, 5, (20 * frames, 3))))
    n, budget = len(movie), share * len(movie) * BYTES_A_DETECTION
    at_once = int((budget - n * BYTES_MADE) / BYTES_A_DETECTION)
    windows = windows_of(movie, at_once, lags)
    most = most_held(movie, windows)
    if share == 1.0 or not pays(movie, windows, at_once):
        most = n
    assert held_at_once(n, frames, budget, lags) == pytest.approx(most, abs=20)  # a frame
    each = np.diff(movie.starts)
    assert held_at_once(n, each, budget, lags) == pytest.approx(held_at_once(n, frames, budget, lags))


def test_what_is_held_at_once_is_told_by_the_largest_frames_where_these_are_known():
    """Of twelve frames six hold half, unless some are larger: then they are hardly fewer than all."""
    assert held_at_once(1200, 12, 1e5, 2) == held_at_once(1200, np.full(12, 100), 1e5, 2) == 600
    assert held_at_once(1200, np.array([101, *[100] * 10, 99]), 1e5, 2) == 1200
    assert held_at_once(2000, np.array([120, *[100] * 17, 180, 0]), 1e5, 2) == 680
