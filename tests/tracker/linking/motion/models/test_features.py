"""Detections' own features as factors of the likelihood: learned, used where they tell, else left out."""

from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.errors import InvalidSetting
from auctrack.tracker.linking.link import link_points
from auctrack.tracker.linking.motion.detections.ordered import ordered
from auctrack.tracker.linking.motion.models.features import FeatureModel, features_of
from auctrack.tracker.linking.settings import LinkSettings
from auctrack.tracker.points import Points

from ...movies import f1, walks


def seen(seed=0, *, telling=True, n=500) -> tuple[Points, np.ndarray]:
    """A movie of fast steps whose particles differ in intensity, and in size, which goes with it."""
    points, who = walks(n, frames=6, step=1.1, persistence=0.5, seed=seed)
    rng = np.random.default_rng(seed)
    own, fresh = rng.normal(0, 0.5, n), rng.normal(0, 0.5, len(who))
    bright = np.where((who >= 0) & telling, own[who], fresh)
    columns = {
        "intensity": 100 * np.exp(bright + rng.normal(0, 0.1, len(who))),
        "size": 3 * np.exp(bright / 3 + rng.normal(0, 0.1, len(who))),
    }
    return replace(points, table=points.table.assign(**columns)), who


def linked(points, who, features):
    made = link_points(points, LinkSettings(features=features))
    assert made.report["is_optimal"]
    return made, f1(points, who, made.links["source"].to_numpy(), made.links["target"].to_numpy())


@pytest.fixture(scope="module")
def by_features():
    """A movie whose features tell, who each detection is, its linking by them, and the F1 of that."""
    points, who = seen()
    return points, who, *linked(points, who, "auto")


def test_features_that_tell_particles_apart_make_links_right_and_their_probabilities_hold(by_features):
    points, who, made, with_them = by_features
    _, without = linked(points, who, "none")
    assert with_them > without + 0.01
    assert made.motion.features == ("intensity", "size")
    assert made.motion.feature_gain > 0.2
    source, target = made.links["source"].to_numpy(), made.links["target"].to_numpy()
    wrong = int(((who[source] < 0) | (who[source] != who[target])).sum())
    assert made.report["expected_wrong"] == pytest.approx(wrong, rel=0.5)
    assert any("intensity, size make a link likelier" in line for line in made.report["learned"])


def test_features_drawn_at_random_are_left_out_and_change_no_link():
    points, who = seen(telling=False)
    plain, _ = linked(points, who, "none")
    made, _ = linked(points, who, ("intensity", "size"))
    assert made.motion.features == ()
    assert made.links.equals(plain.links)
    assert any("do not tell which link is right" in line for line in made.report["learned"])


def test_a_feature_given_twice_says_no_more_than_once():
    points, who = seen()
    twice = replace(points, table=points.table.assign(again=points.table["intensity"]))
    one, two = (linked(twice, who, names)[0] for names in (["intensity"], ["intensity", "again"]))
    assert one.links[["source", "target"]].equals(two.links[["source", "target"]])
    np.testing.assert_allclose(one.links["margin"], two.links["margin"], rtol=1e-6, atol=1e-6)


def test_the_unit_of_a_feature_does_not_matter(by_features):
    points, who, ours, _ = by_features
    scaled = replace(points, table=points.table.assign(intensity=1e-6 * points.table["intensity"]))
    theirs = linked(scaled, who, "auto")[0].links
    assert ours.links[["source", "target"]].equals(theirs[["source", "target"]])


def test_the_ratio_of_the_model_is_learned_from_ratios_and_never_proves_a_link_wrong():
    rng = np.random.default_rng(0)
    change = np.vstack([rng.normal(0, [0.1, 0.5], (4000, 2)), rng.normal(0, 1, (4000, 2))])
    model = FeatureModel.learned(change.T, np.ones(8000), np.repeat([1.0, 0.0], 4000))
    np.testing.assert_allclose(np.sort(np.sqrt(model.variance)), [0.1, 0.5], rtol=0.1)
    assert model.alike < 0.1
    assert model.ratio(np.zeros((2, 1)))[0] > 5
    assert model.ratio(np.full((2, 1), 50.0))[0] >= 0.05


def test_others_who_look_as_alike_as_links_do_take_away_what_likeness_says():
    rng = np.random.default_rng(0)
    kind = rng.random(4000) < 0.5
    to_others = np.where(kind[:, None], rng.normal(0, 0.1, (4000, 1)), rng.normal(0, 1, (4000, 1)))
    change = np.vstack([rng.normal(0, 0.1, (4000, 1)), to_others])
    model = FeatureModel.learned(change.T, np.ones(8000), np.repeat([1.0, 0.0], 4000))
    assert model.alike == pytest.approx(0.5, abs=0.15)
    assert model.ratio(np.zeros((1, 1)))[0] == pytest.approx(1 / 0.55, rel=0.2)


def test_only_others_as_long_as_links_are_compared_with():
    """Far ones differ by where they are; that they are far is known already."""
    rng = np.random.default_rng(0)
    length = np.concatenate([rng.uniform(0, 1, 4000), rng.uniform(0, 4, 4000)])
    change = length[:, None] * rng.normal(0, 0.3, (8000, 1))
    probability = np.repeat([1.0, 0.0], 4000)
    by_length, by_all = (FeatureModel.learned(change.T, known, probability) for known in (length, np.ones(8000)))
    gains = [float(np.log(model.ratio(change[:4000].T)).mean()) for model in (by_length, by_all)]
    assert gains[0] < 0.03
    assert gains[1] > 0.3


@pytest.mark.parametrize("rounds", [0.0, 1.0, 3.0])
def test_light_that_falls_off_to_a_side_makes_no_link(rounds):
    """Neighbours are as bright as each other then; it would count twice that they are near."""
    points, who = walks(300, frames=12, step=0.6, persistence=0.5)
    along = points.table["x"].to_numpy() / points.table["x"].max()
    light = np.exp(2 * along) if rounds == 0 else 2 + np.sin(2 * np.pi * rounds * along)
    seen = light * np.random.default_rng(0).lognormal(0, 0.05, len(who))
    lit = replace(points, table=points.table.assign(intensity=seen))
    (plain, without), (made, with_it) = (linked(lit, who, features) for features in ("none", "auto"))
    assert with_it > without - 0.003
    assert made.report["expected_wrong"] > 0.9 * plain.report["expected_wrong"]


def test_the_value_of_random_detections_changes_by_one():
    points, _ = seen()
    movie = ordered(points)
    value = features_of(points, movie, ("intensity", "size")).value
    np.testing.assert_allclose(2 * np.cov(value), np.eye(2), atol=1e-9)


@pytest.mark.parametrize("names", [["brightness"], ["intensity", "z"]])
def test_columns_that_are_no_features_are_refused(names):
    points, who = seen(n=60)
    shifted = replace(points, table=points.table.assign(z=points.table["z"] - 1))
    with pytest.raises(InvalidSetting, match=names[-1]):
        linked(shifted, who, names)


def test_all_features_that_are_not_there_are_named_and_none_that_is_no_feature_is_offered():
    points, who = seen(n=60)
    with pytest.raises(InvalidSetting, match=r"intensity, size; .*'mass', 'shape'"):
        linked(points, who, ["mass", "intensity", "shape"])


@pytest.mark.parametrize("given", [{"features": "intensity"}, {"features": ["intensity"], "motion": "none"}])
def test_settings_that_cannot_be(given):
    with pytest.raises(InvalidSetting, match="features"):
        LinkSettings(**given)


def test_a_table_without_features_links_as_without_them():
    points, who = walks(200, frames=5)
    assert linked(points, who, "auto")[0].links.equals(linked(points, who, "none")[0].links)


def test_samples_weigh_features_too():
    points, who = seen(n=200)
    made = link_points(points, LinkSettings(features="auto"), samples=20)
    plain = link_points(points, LinkSettings(features="none"), samples=20)

    def right(linking):
        following = linking.samples
        rows = np.arange(len(who))
        return np.mean([(who[rows] >= 0) & (each >= 0) & (who[each] == who[rows]) for each in following])

    assert right(made) > right(plain)
