"""Trackings sampled as they are likely: against all trackings of a few detections, and as tracks of a movie."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.link import link_points, link_steps
from auctrack.tracker.linking.motion.candidates.graph import candidates, merged
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.learning.belief import Belief
from auctrack.tracker.linking.motion.recipe import believed
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.linking.trust.posterior import sampled_links
from auctrack.tracker.linking.trust.second_links import Beside, SecondLinks
from auctrack.tracker.linking.whole_movie.best_links import best_links
from auctrack.tracker.measuring.ensemble import measure_ensemble
from auctrack.tracker.measuring.intervals import ensemble_intervals
from auctrack.tracker.points import Points
from auctrack.tracker.stepwise import finished

from ..movies import dividing, table, walks
from .likelihood import log_likelihood_of, of_one_class


def of_few(frames: np.ndarray, positions: np.ndarray, missed: int = 0) -> Belief:
    """What a dense movie teaches of some detections, at (n, 2) in spacings."""
    learned = believed(ordered(walks(200, frames=6, step=0.6, ndim=2)[0]), missed, "velocity")
    movie = ordered(table(frames, positions))
    place = positions[movie.row]
    movie = replace(movie, position=place, spacing=1.0)
    graph = merged([candidates(movie, lag, 2.0, place) for lag in range(1, missed + 2)])
    even = np.full(len(graph), 0.5)
    return of_one_class(Belief(movie, graph, learned.model, learned.shares, even, lags=missed + 1, linked=True))


def all_trackings(belief: Belief) -> list[set[int]]:
    """Every set of edges with no detection twice among tails or heads."""
    tail, head = belief.graph.tail, belief.graph.head
    found = []
    for size in range(len(tail) + 1):
        for edges in itertools.combinations(range(len(tail)), size):
            chosen = list(edges)
            if len(set(tail[chosen])) == len(set(head[chosen])) == size:
                found.append(set(edges))
    return found


def held_to_all_trackings(belief: Belief) -> np.ndarray:
    """How probable each edge is by all trackings, float64 (edges,); sampled ones are found to make it as often."""
    trackings = all_trackings(belief)
    weight = np.exp([*map(log_likelihood_of(belief), trackings)])
    expected = np.array([weight[[e in edges for edges in trackings]].sum() for e in range(len(belief.graph))])
    expected /= weight.sum()
    answer = best_links(belief.graph, belief.weight)
    sampled = finished(sampled_links(belief, answer.source, answer.target, np.ones(len(belief.graph), bool), 4000))
    made = (sampled[:, belief.graph.tail] == belief.graph.head).mean(axis=0)
    np.testing.assert_allclose(made, expected, atol=0.04)
    return expected


@pytest.mark.parametrize(
    "aside",
    [[0.09, 0.03, -0.03, -0.09], [0.3, 0.0, 0.0, 0.3], [0.15, 0.01, 0.01, -0.15]],
    ids=["passing", "touching", "meeting"],
)
def test_each_link_is_made_as_often_as_it_is_probable(aside):
    along = 0.5 * np.arange(4)
    particles = [np.stack([along, s * np.array(aside) + 0.02 * s], axis=1) for s in (1, -1)]
    expected = held_to_all_trackings(of_few(np.repeat(np.arange(4), 2), np.stack(particles, axis=1).reshape(-1, 2)))
    assert ((expected > 0.02) & (expected < 0.98)).any()


def test_trackings_are_sampled_one_by_one():
    steps = [*link_steps(walks(30, 5, step=0.3)[0], LinkSettings(), samples=3)]
    assert [(step.done, step.total) for step in steps if step.stage == "sample"] == [(1, 3), (2, 3), (3, 3)]
    assert [step.stage for step in steps[-3:]] == ["sample"] * 3


def test_a_detection_between_two_tracks_is_taken_by_either_or_skipped_as_often_as_is_probable():
    """Two particles side by side; in the third frame there is one detection, between their ways."""
    frames = np.array([0, 0, 1, 1, 2, 3, 3])
    aside = np.array([0.06, -0.1, 0.06, -0.1, 0.0, 0.06, -0.1])
    belief = of_few(frames, np.stack([0.3 * frames, aside], axis=1), missed=1)
    expected = held_to_all_trackings(belief)
    over = expected[(belief.graph.lag == 2) & (belief.movie.frame[belief.graph.tail] == 1)]
    assert ((over > 0.1) & (over < 0.9)).all()


@pytest.fixture(scope="module")
def sampled():
    points, names = walks(800, step=0.6)
    return link_points(points, samples=20), names


class TestOfAMovie:
    def test_each_is_a_tracking(self, sampled):
        linking, _ = sampled
        frames, can_follow = linking.tracks.frames, linking.links["frames"].max()
        for following in linking.samples:
            source = np.flatnonzero(following >= 0)
            target = following[source]
            assert len(np.unique(target)) == len(target)
            assert (frames[target] > frames[source]).all()
            assert (frames[target] - frames[source]).max() <= can_follow

    def test_their_tracks_are_the_chains_of_their_links(self, sampled):
        linking, _ = sampled
        sampled = list(linking.sampled_tracks())
        assert len(sampled) == 20
        for tracks, following in zip(sampled, linking.samples, strict=True):
            ids = tracks.table["track_id"].to_numpy()
            source = np.flatnonzero(following >= 0)
            assert (ids[source] == ids[following[source]]).all()
            assert len(np.unique(ids)) == len(ids) - len(source)

    def test_links_are_missing_as_often_as_they_are_expected_to_be_wrong(self, sampled):
        linking, _ = sampled
        source, target = (linking.links[end].to_numpy() for end in ("source", "target"))
        missing = 1 - (linking.samples[:, source] == target).mean(axis=0)
        expected = 1 - linking.links["probability"].to_numpy()
        assert missing.sum() == pytest.approx(expected.sum(), rel=0.2)
        assert np.corrcoef(missing, expected)[0, 1] > 0.8

    def test_they_are_as_good_as_the_best_links_but_for_what_is_doubtful(self, sampled):
        linking, names = sampled
        doubt = (1 - linking.links["probability"]).sum()
        for following in linking.samples:
            source = np.flatnonzero(following >= 0)
            wrong = (names[source] < 0) | (names[source] != names[following[source]])
            assert wrong.sum() < 4 * doubt

    def test_the_same_movie_gives_the_same_trackings(self, sampled):
        linking, _ = sampled
        again = link_points(linking.tracks, linking.settings, samples=20)
        np.testing.assert_array_equal(again.samples, linking.samples)

    def test_no_link_is_longer_than_the_range(self):
        points, _ = walks(300, step=0.6)
        linking = link_points(points, LinkSettings(search_range=0.5), samples=5)
        for following in linking.samples:
            source = np.flatnonzero(following >= 0)
            step = np.linalg.norm(points.positions[following[source]] - points.positions[source], axis=1)
            assert (step <= 0.5 * (points.frames[following[source]] - points.frames[source])).all()


@pytest.mark.parametrize("divisions", [False, True])
class TestGivenLinks:
    def test_pinned_links_are_in_every_tracking_and_forbidden_ones_in_none(self, divisions):
        points, _ = walks(150, frames=6, step=0.6)
        links = link_points(points, LinkSettings(divisions=divisions)).links
        doubtful = links.sort_values("probability")[["source", "target"]].to_numpy()
        rivals = doubtful[:2]
        pinned = [[rivals[0, 0], rivals[1, 1]]] if points.frames[rivals[1, 1]] > points.frames[rivals[0, 0]] else []
        pinned = [*pinned, *doubtful[4:8].tolist()]
        settings = LinkSettings(divisions=divisions, pinned=pinned, forbidden=doubtful[8:12].tolist())
        linking = link_points(points, settings, samples=10)
        for following, seconds in zip(linking.samples, linking.second_samples, strict=True):
            made = {*enumerate(following.tolist()), *map(tuple, seconds.tolist())}
            assert made.issuperset(map(tuple, pinned))
            assert made.isdisjoint(map(tuple, doubtful[8:12].tolist()))


@pytest.fixture(scope="module")
def dividing_cells():
    return link_points(dividing(step=0.1)[0], LinkSettings(divisions=True), samples=40)


def dividing_and_measured(step: float, seed: int) -> tuple[Points, pd.DataFrame]:
    """Return particles that divide, and the measures of their true tracks, with the mothers that were seen."""
    points, names, parents = dividing(step=step, seed=seed)
    seen = set(names.tolist())
    known = {d: m for d, m in parents.items() if d in seen and m[0] in seen}
    return points, measure_ensemble(replace(points.with_track_ids(names), parents=known))


class TestDivisions:
    def test_division_links_are_drawn_as_often_as_they_are_probable(self, dividing_cells):
        linking = dividing_cells
        second = linking.links[linking.links["kind"] == "division"]
        sampled = zip(linking.samples, linking.second_samples, strict=True)
        made = [{*enumerate(following.tolist()), *map(tuple, seconds.tolist())} for following, seconds in sampled]
        ends = list(zip(second["source"].tolist(), second["target"].tolist(), strict=True))
        often = np.array([np.mean([link in tracking for tracking in made]) for link in ends])
        assert len(ends) > 30
        assert (1 - often).sum() == pytest.approx((1 - second["probability"]).sum(), abs=0.06 * len(ends))

    def test_nobody_has_more_than_two_daughters_or_a_mother_beside_a_link_before(self, dividing_cells):
        linking = dividing_cells
        for following, seconds in zip(linking.samples, linking.second_samples, strict=True):
            out = (following >= 0) + np.bincount(seconds[:, 0], minlength=len(following))
            into = np.bincount(np.append(following[following >= 0], seconds[:, 1]), minlength=len(following))
            assert out.max() == 2
            assert into.max() == 1

    def test_their_tracks_have_parents_and_what_lineages_measure_intervals_that_hold_the_true_one(self):
        held = []
        for seed in range(20):
            points, truth = dividing_and_measured(step=0.1, seed=seed)
            linking = link_points(points, LinkSettings(divisions=True), samples=8)
            with pytest.warns(UserWarning, match="not a straight line"):  # they go on as they came
                bounds = ensemble_intervals(linking.sampled_tracks())
            assert bounds["measure"].tolist() == truth["measure"].tolist()
            moving = ["mean_speed", "diffusion", "msd_exponent"]
            assert truth["measure"].tolist() == [*moving, "division_rate", "generation_time"]
            held.append(((bounds["low"] < truth["value"]) & (truth["value"] < bounds["high"])).to_numpy())
        assert np.mean(held, axis=0).min() > 0.9

    def test_divisions_are_as_many_as_there_are_where_sisters_are_hardly_farther_apart_than_steps(self):
        rates = []
        for seed in range(10):
            points, truth = dividing_and_measured(step=0.3, seed=seed)
            linking = link_points(points, LinkSettings(divisions=True), samples=5)
            sampled = [measure_ensemble(tracks) for tracks in linking.sampled_tracks()]
            rates.append([table.set_index("measure")["value"]["division_rate"] for table in (truth, *sampled)])
        true, *sampled = np.mean(rates, axis=0)
        assert np.mean(sampled) == pytest.approx(true, rel=0.1)


def test_nobody_merges_and_divides_with_the_same_partner_where_both_may_be():
    linking = link_points(dividing(100)[0], LinkSettings(divisions=True, merges=True), samples=5)
    for following, seconds in zip(linking.samples, linking.second_samples, strict=True):
        source = np.flatnonzero(following >= 0)
        pairs = np.concatenate([np.stack([source, following[source]], axis=1), seconds])
        assert len(np.unique(pairs, axis=0)) == len(pairs)
        assert np.bincount(pairs[:, 0]).max() <= 2
        assert np.bincount(pairs[:, 1]).max() <= 2


class TestSecondLinks:
    def test_unlinked_ends_have_mothers_as_often_as_all_their_choices_together_say(self):
        """Ends 0, 1, 2 and mothers 3 (no chain goes on from her), 4 (one does) and 5 (likewise, no room)."""
        unlinked, other = np.array([0, 0, 1, 1, 2, 2]), np.array([3, 4, 3, 4, 4, 5])
        links = SecondLinks(unlinked, other, np.array([0.5, 1.0, 0.3, 2.0, 0.7, 9.0]), together=20.0)
        room, is_end = np.array([0, 0, 0, 2, 1, 0]), np.arange(6) == 3
        expected = dict[tuple[int, ...], float]()
        for chosen in itertools.product([-1, 0, 1], [-1, 2, 3], [-1, 4]):
            made = np.array([c for c in chosen if c >= 0], dtype=int)
            if (np.bincount(other[made], minlength=6) <= room).all():
                twins = np.count_nonzero(other[made] == 3) == 2
                expected[tuple(made.tolist())] = links.odds[made].prod() * (links.together if twins else 1)
        rng = np.random.default_rng(0)
        sampled = Counter(tuple(links.sampled(np.arange(6) < 3, room, is_end, rng).tolist()) for _ in range(4000))
        assert sampled.keys() <= expected.keys()
        for made, weight in expected.items():
            assert sampled[made] / 4000 == pytest.approx(weight / sum(expected.values()), abs=0.03)
        np.testing.assert_allclose(links.likelier_unlinked(6), [2.5, 3.3, 10.7, 1, 1, 1])

    def test_both_daughters_of_a_pair_are_sampled_as_often_as_what_else_she_has_says(self):
        """Ends 0, 1 and 2 of mothers 3, which no chain goes on from, and 4; the pair of 0 and 1 is not as likely."""
        unlinked, other = np.array([0, 1, 2, 2]), np.array([3, 3, 3, 4])
        lone, beside_chain = np.array([0.4, 0.6, 0.2, 9.0]), np.array([9.0, 9.0, 9.0, 0.8])
        one, two = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 2, 0, 2, 0, 1])
        times = np.array([2.0, 0.5, 2.0, 1.5, 0.5, 1.5])
        beside = Beside(np.log(lone), np.log(beside_chain), one, two, times)
        links = SecondLinks(unlinked, other, np.ones(4), 6.0, beside)
        room, is_end = np.array([0, 0, 0, 2, 1]), np.arange(5) == 3
        expected = dict[tuple[int, ...], float]()
        for chosen in itertools.product([-1, 0], [-1, 1], [-1, 2, 3]):
            made = [c for c in chosen if c >= 0]
            hers = [c for c in made if other[c] == 3]
            if len(hers) <= 2:
                pair = 6.0 * times[(one == hers[0]) & (two == hers[1])][0] if len(hers) == 2 else 1.0
                expected[tuple(made)] = pair * np.prod([(beside_chain if c == 3 else lone)[c] for c in made])
        rng, total = np.random.default_rng(1), sum(expected.values())
        sampled = Counter(tuple(links.sampled(np.arange(5) < 3, room, is_end, rng).tolist()) for _ in range(4000))
        for made, weight in expected.items():
            assert sampled[made] / 4000 == pytest.approx(weight / total, abs=0.03)

    def test_a_pair_that_waits_makes_it_likelier_that_no_chain_goes_on_from_its_mother(self):
        beside = Beside(np.log([2.0, 3.0]), np.full(2, -np.inf), np.array([0, 1]), np.array([1, 0]), np.full(2, 0.5))
        links = SecondLinks(np.array([0, 1]), np.array([2, 2]), np.array([1.0, 3.0]), 10.0, beside)
        free = np.array([0.9, 0.8, 0.0])
        pair = 10 * 0.5 * (2 * 0.9 / 2) * (3 * 0.8 / 4)  # each end may have come from nowhere, or from her alone
        np.testing.assert_allclose(links.likelier_end(free), [1, 1, 1 + pair])

    def test_no_more_are_drawn_than_there_is_room_for(self):
        links = SecondLinks(np.arange(5), np.full(5, 5), np.full(5, 1e9), together=1.0)
        room = np.array([0, 0, 0, 0, 0, 2])
        sampled = links.sampled(np.arange(6) < 5, room, np.zeros(6, bool), np.random.default_rng(0))
        assert len(sampled) == 2


@pytest.mark.parametrize("settings", [LinkSettings(motion="none"), LinkSettings(linking="jaqaman")])
def test_where_nothing_says_how_likely_a_tracking_is_none_is_sampled(settings):
    points, _ = walks(50)
    with pytest.raises(InvalidSetting, match="samples"):
        link_points(points, settings, samples=3)


def test_trackings_that_were_not_asked_for_are_not_there():
    with pytest.raises(InvalidSetting, match="samples"):
        next(link_points(walks(50)[0]).sampled_tracks())
