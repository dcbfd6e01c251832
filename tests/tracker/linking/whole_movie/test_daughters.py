"""How daughters move, and which share of the ends that nothing leads to they are, as learned from these ends."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from auctrack.tracker.linking.whole_movie.daughters import (
    FIRST_WIDTH,
    OPPOSITE,
    RAREST,
    DaughterModel,
    Displacements,
    Rates,
    Sisters,
    _Beside,
    learned_daughters,
)

ENDS = np.arange(200)
NOTHING = np.empty(0, np.int64)
RATES = Rates(new=0.02, lost=0.01)


def sisters(
    away: np.ndarray,
    log_density: float,
    lag: np.ndarray | None = None,
    added: float = 0.0,
    taken: np.ndarray | None = None,
    steps: np.ndarray | None = None,
    density: float = 1.0,
    ahead: np.ndarray | None = None,
) -> Sisters:
    """Candidates of ends of their own; beside each the ordinary link of its mother, where `steps` are given."""
    lag = np.ones(len(away), np.int32) if lag is None else lag
    taken = np.zeros(len(away)) if taken is None else taken
    candidates = Displacements(
        int(lag.max()), lag, away, added * (lag - 1.0), ENDS[: len(away)], taken, log_density, ahead
    )
    none = _Beside.of(candidates, NOTHING, away[:0], np.empty(0))
    if steps is None:
        return Sisters(candidates, none, np.empty(0), np.empty(0), none, NOTHING, RATES)
    linked = _Beside.of(candidates, ENDS[: len(away)], steps, np.zeros(len(away)))
    return Sisters(candidates, linked, np.ones(len(away)), np.full(len(away), density), none, NOTHING, RATES)


def test_ends_with_nobody_near_leave_the_rarest_share_there_is():
    model = sisters(np.full((200, 3), 30.0), 0.0).learned()
    assert model.share.tolist() == [RAREST] == [0.01]


def test_ends_that_all_lie_beside_a_track_leave_no_more_than_all_but_that():
    away = np.random.default_rng(0).normal(0, 0.3, (200, 3))
    model = sisters(away, -30.0).learned()
    assert model.share.tolist() == [1 - RAREST]
    assert model.variance == pytest.approx((away**2).mean(), rel=0.01)


def test_ends_in_one_place_are_not_taken_for_sure():
    assert sisters(np.zeros((200, 3)), -30.0).learned().variance == pytest.approx((0.1 * FIRST_WIDTH) ** 2)


def test_ends_that_are_linked_already_teach_nothing():
    model = sisters(np.zeros((200, 3)), 0.0, taken=np.ones(200)).learned()
    assert (model.variance, model.share.tolist()) == (FIRST_WIDTH**2, [0.5])


def test_daughters_a_frame_late_have_a_share_of_their_own_and_an_ordinary_step_more():
    lag = np.where(np.arange(200) < 150, 1, 2).astype(np.int32)
    away = np.random.default_rng(0).normal(0, np.where(lag == 1, 0.2, 0.3)[:, None], (200, 3))
    model = sisters(away, -30.0, lag, added=0.05).learned()
    assert model.share == pytest.approx(np.array([0.75, 0.25]) * (1 - RAREST), rel=0.01)
    assert model.variance == pytest.approx(0.04, rel=0.1)


@pytest.mark.parametrize("alike", [-0.9, -0.5, 0.0])
def test_how_alike_sisters_are_is_learned_from_the_ordinary_links_of_mothers(alike):
    rng = np.random.default_rng(1)
    away = rng.normal(0, 0.4, (200, 3))
    other = alike * away + np.sqrt(1 - alike**2) * rng.normal(0, 0.4, (200, 3))
    assert sisters(away, -30.0, steps=other).learned().alike == pytest.approx(alike, abs=0.15)


def test_the_ways_of_sisters_count_as_much_as_those_of_the_ends_that_were_left_over():
    rng = np.random.default_rng(2)
    model = sisters(rng.normal(0, 0.5, (200, 3)), -30.0, steps=rng.normal(0, 0.3, (200, 3))).learned()
    assert model.variance == pytest.approx((0.5**2 + 0.3**2) / 2, rel=0.1)


def test_ends_that_lie_as_by_chance_are_hardly_any_ones_daughters():
    """Their density is one, and each lies somewhere in a cube around the one particle there is."""
    shares = [
        sisters(np.random.default_rng(seed).uniform(-0.5, 0.5, (200, 3)), 0.0).learned().share[0] for seed in range(5)
    ]
    assert shares == [RAREST] * 5


def test_what_both_sisters_share_of_their_mothers_step_says_nothing_of_how_they_part():
    rng = np.random.default_rng(4)
    apart, shared = rng.normal(0, 0.3, (200, 3)), rng.normal(0, 0.2, (200, 3))
    alone = sisters(shared + apart, -30.0, steps=shared - apart)
    step = np.full(200, 0.2**2)
    candidates = replace(alone.candidates, added=step, common=step)
    linked = _Beside.of(candidates, ENDS, shared - apart, step)
    model = replace(alone, candidates=candidates, linked=linked).learned()
    assert model.variance == pytest.approx(0.3**2, rel=0.1)
    assert model.alike == pytest.approx(-0.98, abs=0.02)
    assert alone.learned().alike == pytest.approx((0.2**2 - 0.3**2) / (0.2**2 + 0.3**2), abs=0.1)


@pytest.mark.parametrize("taken", [0.0, 0.5, 1.0])
def test_what_daughters_take_of_where_their_mother_was_about_to_go_is_learned(taken):
    rng = np.random.default_rng(3)
    ahead = rng.normal(0, 0.4, (200, 3))
    away = rng.normal(0, 0.2, (200, 3)) + taken * ahead
    candidates = sisters(away, -30.0, ahead=ahead)

    def less(going_on: float) -> Sisters:
        beyond = replace(candidates.candidates, away=away - going_on * ahead)
        return replace(candidates, candidates=beyond, going_on=going_on)

    model = learned_daughters(less)
    assert model.going_on == pytest.approx(taken, abs=0.06)
    assert model.variance == pytest.approx(0.04, rel=0.15)


def test_a_sister_on_the_opposite_side_makes_a_division_likelier_and_one_at_the_mothers_place_does_not():
    model = DaughterModel(0.16, -0.9, np.array([0.5]))
    away = np.array([[0.0, 0.0, 0.5]])
    opposite, beside, stays = (
        sisters(away, 0.0, steps=step * away, density=5.0).likeness_alone(model)[0] for step in (-1.0, 1.0, 0.0)
    )
    assert opposite > 1 > stays > beside
    of_others = (1 - OPPOSITE) * np.exp(-0.5 * 0.25 / 0.16) / (2 * np.pi * 0.16) ** 1.5 / 5
    assert beside == pytest.approx(of_others, rel=1e-3)  # one in four pairs knows nothing of the other's away


def test_a_pair_beside_a_mother_with_nothing_else_is_likelier_than_either_alone():
    away = np.array([[0.0, 0.0, 0.5], [0.0, 0.0, -0.5]])
    candidates = Displacements(1, np.ones(2, np.int32), away, np.zeros(2), np.arange(2), np.zeros(2), 0.0)
    none = _Beside.of(candidates, NOTHING, away[:0], np.empty(0))
    model = DaughterModel(0.16, -0.9, np.array([0.5]))

    def likeness(one: list[int], two: list[int]) -> np.ndarray:
        pairs, other = _Beside.of(candidates, np.array(one, np.int64), away[two], np.zeros(len(two))), np.array(two)
        return Sisters(candidates, none, np.empty(0), np.empty(0), pairs, other.astype(int), RATES).likeness(model)

    assert likeness([], []).tolist() == [1.0, 1.0]
    assert (likeness([0, 1], [1, 0]) > 3 * np.sqrt(RATES.together(0.5)) / 2).all()


def test_two_daughters_together_are_as_much_likelier_as_dividing_and_being_lost_are_rare():
    assert Rates(new=0.02, lost=0.01).together(0.5) == pytest.approx(1 / (4 * 0.005 * 0.005))
