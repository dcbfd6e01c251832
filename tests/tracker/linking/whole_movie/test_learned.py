"""Linking with motion learned from the movie."""

import re
from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.calibrating.calibration import Calibration
from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.result import Linking
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points
from auctrack.tracker.timeline import Timeline

from ..movies import f1, forty_divide, stirred, table, vortices, walks

PLACES = np.random.default_rng(0).uniform(0, 5, (60, 3))


def ends(linking) -> set[tuple[int, int]]:
    return set(zip(linking.links["source"].tolist(), linking.links["target"].tolist(), strict=True))


@pytest.mark.parametrize(("step", "persistence"), [(0.3, 0.9), (0.45, 0.9), (0.6, 0.9)])
def test_it_links_persistent_walks_better_than_first_order(step, persistence):
    points, names = walks(1000, step=step, persistence=persistence)
    first = link_points(points, LinkSettings(motion="none")).links
    learned = link_points(points)
    before, after = (f1(points, names, links["source"], links["target"]) for links in (first, learned.links))
    assert 1 - after < 0.5 * (1 - before)
    assert learned.report["is_optimal"]
    assert learned.motion.persistence == pytest.approx(persistence, abs=0.1)


def test_the_neighbours_flow_links_steps_longer_than_the_spacing():
    """A gel that turns: every step is that of the neighbours, and of up to 1.3 spacings at the rim."""
    rng = np.random.default_rng(2)
    here = rng.uniform(-8, 8, (800, 2))
    turn = np.array([[np.cos(0.04), -np.sin(0.04)], [np.sin(0.04), np.cos(0.04)]])
    parts = [here := here @ turn.T + rng.normal(0, 0.01, here.shape) for _ in range(6)]
    points, names = table(np.repeat(np.arange(6), 800), np.vstack(parts)), np.tile(np.arange(800), 6)
    learned = link_points(points)
    assert f1(points, names, learned.links["source"], learned.links["target"]) > 0.995
    assert learned.motion.flow_share > 0.5
    assert "flow" in learned.motion.contexts


@pytest.mark.parametrize("seed", [1, 2])
def test_a_flow_is_found_where_its_steps_are_longer_than_the_spacing(seed):
    """Steps of 1.3 spacings, of which first order finds hardly a third."""
    points, names = stirred(flow=0.7, seed=seed)
    learned = link_points(points)
    assert f1(points, names, learned.links["source"], learned.links["target"]) > 0.96
    assert learned.motion.flow_gain > 1


@pytest.mark.parametrize(("n", "step", "seed", "least"), [(2500, 1.2, 1, 0.88), (3000, 1.3, 2, 0.85)])
def test_a_flow_is_followed_to_where_no_link_was_known(n, step, seed, least):
    """Learning begins where the vortices are slow; stopped once these were explained, F1 was .81 and .75."""
    points, names = vortices(n, 4, step=step, seed=seed)
    links = link_points(points, LinkSettings(motion="flow", device="cpu")).links
    assert f1(points, names, links["source"], links["target"]) > least


def test_particles_missed_for_two_frames_keep_their_tracks():
    points, names = walks(600, step=0.3, missed=0.15, false=0.0)
    links = link_points(points, LinkSettings(max_missed_frames=2)).links
    gaps = links[links["kind"] == "gap"]
    assert set(gaps["frames"]) == {2, 3}
    assert (names[gaps["source"]] == names[gaps["target"]]).mean() > 0.9
    assert (links["frames"] <= 3).all()


def test_two_neighbours_each_missed_for_the_others_frame_are_not_joined():
    """Still pairs .15 apart among walkers: the first is not seen in frame 3, the second not in frame 2."""
    points, _ = walks(1000, step=0.3, seed=1)
    places = np.array([(z, y, 5.0) for z in (2.5, 5.0, 7.5) for y in (2.5, 5.0, 7.5)])
    away = (np.linalg.norm(points.positions[:, None] - places, axis=2) > 1.2).all(axis=1)
    seen = np.array([[0, 1, 2, 4, 5, 6, 7], [0, 1, 3, 4, 5, 6, 7]])
    pairs = places[:, None, None] + np.zeros((1, 2, 7, 1)) + np.array([0, 0.15])[:, None, None] * [0, 0, 1]
    frames = np.concatenate([points.frames[away], np.tile(seen.ravel(), len(places))])
    movie = table(frames, np.concatenate([points.positions[away], pairs.reshape(-1, 3)]))
    first = np.arange(len(places) * 2) * 7 + np.count_nonzero(away)
    last_before_gap = first + np.tile([2, 1], len(places))
    assert set(zip(last_before_gap, last_before_gap + 1, strict=True)) <= ends(link_points(movie))


def test_false_detections_do_not_make_tracks():
    points, names = walks(1500, step=0.45, missed=0.05, false=0.15)
    links = link_points(points).links
    nobody = (names[links["source"]] < 0) & (names[links["target"]] < 0)
    assert nobody.mean() < 0.003
    assert (nobody | (names[links["source"]] != names[links["target"]])).sum() < 1.6 * (1 - links["probability"]).sum()


def test_no_gap_is_bridged_when_none_may_be_missed():
    points, _ = walks(300, step=0.3, missed=0.15)
    assert (link_points(points, LinkSettings(max_missed_frames=0)).links["frames"] == 1).all()


def test_daughters_are_found_and_the_mother_keeps_one_link_of_each_kind():
    points = forty_divide()
    linking = link_points(points, LinkSettings(divisions=True))
    links, ids = linking.links, linking.tracks.table["track_id"].to_numpy()
    second = links[links["kind"] == "division"]
    real = {480 + k for k in range(40)}
    assert len(real & set(second["source"])) >= 36
    assert len(set(second["source"]) - real) <= 4
    assert set(second["source"]) <= set(links.loc[links["kind"] == "step", "source"])
    mothers_of = linking.tracks.parents
    assert sorted(mothers_of) == sorted(set(ids[links.loc[links["source"].isin(second["source"]), "target"]]))
    assert {parent for parents in mothers_of.values() for parent in parents} == set(ids[second["source"]])


def test_tracks_are_the_chains_of_the_links():
    points, _ = walks(200, step=0.3)
    linking = link_points(points)
    ids = linking.tracks.table["track_id"].to_numpy()
    assert (ids[linking.links["source"]] == ids[linking.links["target"]]).all()
    assert len(np.unique(ids)) == len(points) - len(linking.links)
    assert not linking.tracks.parents


def test_probabilities_say_how_many_links_are_wrong():
    points, names = walks(3000, step=0.3, missed=0.0, false=0.0, persistence=0.5)
    links = link_points(points).links
    wrong = names[links["source"].to_numpy()] != names[links["target"].to_numpy()]
    expected = 1 - links["probability"].to_numpy()
    assert 0.6 < expected.sum() / wrong.sum() < 1.4
    least_sure = np.argsort(-expected)[: len(links) // 20]
    assert wrong[least_sure].sum() > 0.8 * wrong.sum()


@pytest.fixture(scope="module")
def points() -> Points:
    return walks(300)[0]


@pytest.fixture(scope="module")
def plain(points) -> Linking:
    """Links of the movie as it is."""
    return link_points(points)


class TestItDoesNotMatter:
    def test_in_which_order_the_rows_come(self, points, plain):
        order = np.random.default_rng(1).permutation(len(points))
        shuffled = link_points(Points(points.table.iloc[order].reset_index(drop=True)))
        assert {(int(order[a]), int(order[b])) for a, b in ends(shuffled)} == ends(plain)

    def test_in_which_unit_positions_are(self, points, plain):
        large = link_points(replace(points, calibration=Calibration((64.0, 64.0, 64.0))))
        assert ends(plain) == ends(large)
        np.testing.assert_allclose(64 * plain.motion.widths, large.motion.widths)

    def test_where_the_origin_is_and_when_the_movie_starts(self, points, plain):
        moved = points.table.assign(z=points.table["z"] + 512, frame=points.table["frame"] + 7)
        assert ends(link_points(Points(moved))) == ends(plain)

    def test_what_the_axes_are_called(self, points, plain):
        turned = points.table.rename(columns={"z": "x", "y": "z", "x": "y"})
        assert ends(link_points(Points(turned))) == ends(plain)


class TestCorners:
    @pytest.mark.parametrize("frames", [[], [0] * 5], ids=["no point", "one frame"])
    def test_nothing_to_link(self, frames):
        assert len(link_points(table(frames, PLACES[: len(frames)])).links) == 0

    @pytest.mark.parametrize("missed", ["auto", 0, 2])
    @pytest.mark.parametrize("ndim", [2, 3])
    @pytest.mark.parametrize("count", [3, 60])
    def test_still_particles(self, count, ndim, missed):
        points = table(np.repeat(np.arange(4), count), np.tile(PLACES[:count, :ndim], (4, 1)))
        expected = {(k, k + count) for k in range(3 * count)}
        linking = link_points(points, LinkSettings(max_missed_frames=missed))
        assert ends(linking) == expected
        assert linking.motion.typical_step == 0

    @pytest.mark.parametrize("missed", ["auto", 0])
    def test_one_particle(self, missed):
        points = table(np.arange(9), np.c_[np.arange(9.0), np.zeros((9, 2))])
        assert len(link_points(points, LinkSettings(max_missed_frames=missed)).links) == 8

    def test_all_particles_at_one_place(self):
        points = table(np.repeat(np.arange(5), 20), np.ones((100, 3)))
        assert len(link_points(points, LinkSettings(max_missed_frames=0)).links) == 80

    def test_every_particle_twice(self):
        points = table(np.repeat(np.arange(4), 120), np.tile(PLACES, (8, 1)))
        links = link_points(points).links
        assert len(links) == 360
        assert (links["length"] == 0).all()

    def test_a_drift_of_several_spacings(self):
        drift = np.arange(6)[:, None] * np.array([3.0, -1.0, 0.5])
        points = table(np.repeat(np.arange(6), 60), np.tile(PLACES, (6, 1)) + np.repeat(drift, 60, axis=0))
        linking = link_points(points)
        assert ends(linking) == {(k, k + 60) for k in range(300)}
        assert linking.motion.largest_drift > 10

    @pytest.mark.parametrize("change", ["none", "frozen", "dropped", "missing"])
    def test_a_frame_that_is_frozen_dropped_or_missing(self, change):
        """Frame 3 twice, the movie running on; frame 3 left out in silence; frame 3 without a detection."""
        points, names = walks(600, step=0.3, missed=0.0, false=0.0)
        frames, k = points.frames, np.arange(len(points))
        rows = {"none": k, "frozen": np.r_[k[frames <= 3], k[frames >= 3]]}.get(change, k[frames != 3])
        number = np.repeat(np.arange(len(rows) // 600), 600) if change != "missing" else frames[rows]
        links = link_points(table(number, points.positions[rows])).links
        wrong = names[rows][links["source"]] != names[rows][links["target"]]
        assert len(links) > 0.99 * (len(rows) - 600)
        assert wrong.mean() < 0.002

    def test_particles_in_a_plane(self):
        points, names = walks(400, ndim=2)
        learned, by_distance = (link_points(points, LinkSettings(motion=motion)).links for motion in ("auto", "none"))
        assert f1(points, names, learned["source"], learned["target"]) > 0.98
        assert f1(points, names, by_distance["source"], by_distance["target"]) < 0.92

    def test_two_frames(self):
        points = table(np.repeat([0, 1], 60), np.vstack([PLACES, PLACES + 0.02]))
        assert ends(link_points(points)) == {(k, k + 60) for k in range(60)}

    def test_every_second_frame(self):
        points = table(np.repeat([0, 2, 4], 60), np.tile(PLACES, (3, 1)))
        expected = {(k, k + 60) for k in range(120)}
        assert ends(link_points(Points(points.table, timeline=Timeline(2)))) == expected

    def test_an_empty_frame_is_a_gap(self):
        points = table(np.repeat([0, 1, 3, 4], 60), np.tile(PLACES, (4, 1)))
        links = link_points(points).links
        assert sorted(set(links["frames"])) == [1, 2]
        assert len(links) == 180

    @pytest.mark.parametrize("blank", [[5], [4, 5]], ids=["one", "two in a row"])
    def test_frames_that_nobody_looked_at_teach_no_gaps_and_part_no_tracks(self, blank):
        points, names = walks(400, 12, step=0.3, seed=1)
        seen = ~np.isin(points.frames, blank)
        whole, less = (link_points(table(points.frames[of], points.positions[of])) for of in (seen | True, seen))
        assert less.motion.missed[0] == pytest.approx(whole.motion.missed[0], abs=0.01)
        source, target, frames = (less.links[of].to_numpy() for of in ("source", "target", "frames"))
        is_right = names[seen][source] == names[seen][target]
        across = (points.frames[seen][source] < blank[0]) & (points.frames[seen][target] > blank[-1])
        assert is_right.mean() > 0.99
        assert across.sum() > 320
        assert is_right[(frames > 1) & ~across].mean() > 0.95

    @pytest.mark.parametrize("seed", range(3))
    def test_particles_are_looked_for_over_missed_frames_where_their_flight_leads(self, seed):
        """Three frames on they are 1.8 spacings away on average: many go beyond the gate around where they were."""
        points, names = walks(400, 10, step=0.6, persistence=0.95, seed=seed)
        seen = ~np.isin(points.frames, [4, 5])
        frames, names = points.frames[seen], names[seen]
        links = link_points(table(frames, points.positions[seen])).links
        across = links[(frames[links["source"]] == 3) & (frames[links["target"]] == 6)]
        source, target = names[across["source"]], names[across["target"]]
        there_before_and_after = np.intersect1d(names[frames == 3], names[frames == 6])
        assert ((source == target) & (source >= 0)).sum() > 0.93 * (there_before_and_after >= 0).sum()

    def test_an_empty_frame_among_few_particles_may_be_one_where_they_were_missed(self):
        numbers, sizes = np.array([0, 1, 3, 4, 8]), np.array([9, 9, 9, 2, 9])
        movie = ordered(table(np.repeat(numbers, sizes), np.random.default_rng(0).random((sizes.sum(), 3))))
        assert movie.looked.tolist() == [0, 1, 2, 3, 7]
        assert [pairs.tolist() for pairs in movie.looks_apart(2, 3)] == [[0, 1], [2, 3]]

    def test_too_few_links_to_learn_from_are_said(self):
        points = table(np.repeat(np.arange(4), 3), np.tile(PLACES[:3], (4, 1)))
        linking = link_points(points)
        assert linking.motion.contexts == "diffusion"
        assert linking.motion.notes


@pytest.mark.parametrize("missed", [-1, 1.5, True, "all"])
def test_missed_frames_that_are_no_number_are_refused(missed):
    with pytest.raises(InvalidSetting, match="max_missed_frames"):
        link_points(table([0, 1], PLACES[:2]), LinkSettings(max_missed_frames=missed))


def test_points_are_needed():
    with pytest.raises(InvalidInput):
        link_points(PLACES)


def test_what_was_learned_is_said_with_units():
    points, _ = walks(300)
    calibration = Calibration((1.0, 1.0, 1.0), unit="µm", frame_interval=2.0, time_unit="min")
    said = "\n".join(link_points(replace(points, calibration=calibration)).report["learned"])
    assert "µm" in said
    assert " min)" in said
    assert "persistence" in said
    assert "expected to be wrong" in said


def test_a_frame_is_a_step_of_one_in_frame_numbers_whichever_frames_are_there():
    """Of every fifth frame all is learned per 5 frames, and the persistence lasts five times as long."""
    points, _ = walks(300)
    interval = Calibration(frame_interval=2.0, time_unit="s")
    fifth = Points(points.table.assign(frame=5 * points.frames), interval, timeline=Timeline(5))
    said, of_fifth = (
        "\n".join(link_points(each).report["learned"]) for each in (replace(points, calibration=interval), fifth)
    )
    assert said.count(" per frame") == of_fifth.count(" per 5 frames") == 3
    assert " per frame" not in of_fifth
    lasts, five_times = (float(re.search(r"a time of ([\d.]+) s", each)[1]) for each in (said, of_fifth))
    assert five_times == pytest.approx(5 * lasts, rel=0.01)


@pytest.mark.parametrize(
    ("settings", "counted"),
    [
        ({}, ""),
        ({"divisions": True}, " (one daughter of each division counted in)"),
        ({"divisions": True, "merges": True}, " (one daughter of each division and one of each merge counted in)"),
    ],
)
def test_who_is_lost_or_new_only_in_name_is_said_to_be_counted(settings, counted):
    learned = link_points(walks(100)[0], LinkSettings(**settings)).report["learned"]
    (line,) = (line for line in learned if "% new" in line)
    assert line.endswith(f" new per frame{counted}")


def test_motion_beyond_learning_does_not_end_in_no_links_at_all():
    """Steps of up to 2 spacings: the links cannot be told, but shares of lost particles must not run away."""
    rng = np.random.default_rng(2)
    here = rng.uniform(-8, 8, (800, 2))
    turn = np.array([[np.cos(0.06), -np.sin(0.06)], [np.sin(0.06), np.cos(0.06)]])
    parts = [here := here @ turn.T for _ in range(6)]
    linking = link_points(table(np.repeat(np.arange(6), 800), np.vstack(parts)))
    assert len(linking.links) > 1000
