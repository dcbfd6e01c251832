"""The ISBI 2012 challenge's scores: equal to those of the organisers' own program, and true to their definition."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from auctrack.tracker.errors import InvalidInput, InvalidSetting
from auctrack.tracker.points import Tracks
from auctrack.tracker.scoring.isbi import score_isbi

ORGANISERS = {
    (0, False): (0.6286155171275816, 0.49261696774901825, 0.6057692307692307, 0.6086956521739131, 126, 14),
    (0, True): (0.5652416270198991, 0.45991710024600485, 0.56875, 0.6666666666666666, 91, 14),
    (1, False): (0.6603067535282483, 0.5538056642494985, 0.6854838709677419, 0.631578947368421, 85, 12),
    (1, True): (0.5354662562601951, 0.4136236350752405, 0.5337423312883436, 0.6818181818181818, 87, 15),
    (2, False): (0.6245636602528521, 0.4902098496170642, 0.6104651162790697, 0.6086956521739131, 105, 14),
    (2, True): (0.5529538873502582, 0.44372842812057756, 0.5625, 0.6666666666666666, 90, 14),
}
"""α, β, JSC, JSCθ, paired detections and tracks, as `trackingPerformanceEvaluation.jar` prints them for `movie`."""


def movie(seed: int, gaps: bool) -> tuple[Tracks, Tracks]:
    """Fifteen true tracks; of most a noisy prediction, some in two pieces, with gaps or not; four from nowhere."""
    rng = np.random.default_rng(seed)
    true, predicted = [], []
    for _ in range(15):
        first, length = int(rng.integers(0, 10)), int(rng.integers(2, 15))
        place, velocity = rng.random(3) * 40, rng.normal(0, 1, 3)
        track = {first + k: place + velocity * k + rng.normal(0, 0.3, 3) for k in range(length)}
        true.append(track)
        fate = rng.random()
        if fate < 0.15:
            continue
        noisy = {t: at + rng.normal(0, 0.6, 3) for t, at in track.items() if not gaps or rng.random() > 0.2}
        if fate < 0.4 and len(noisy) > 4:
            frames = sorted(noisy)
            predicted.append({t: noisy[t] for t in frames[: len(frames) // 2]})
            noisy = {t: noisy[t] for t in frames[len(frames) // 2 :]}
        if noisy:
            predicted.append(noisy)
    for _ in range(4):
        place, first = rng.random(3) * 40, int(rng.integers(0, 10))
        predicted.append({first + k: place + rng.normal(0, 1, 3) * k for k in range(5)})
    return table(predicted), table(true)


def table(tracks: list[dict[int, np.ndarray]]) -> Tracks:
    rows = [(t, *at, name) for name, track in enumerate(tracks) for t, at in track.items()]
    return Tracks(pd.DataFrame(rows, columns=["frame", "z", "y", "x", "track_id"]))


@pytest.mark.parametrize(("seed", "gaps"), ORGANISERS)
def test_the_figures_are_the_organisers(seed: int, gaps: bool):
    score = score_isbi(*movie(seed, gaps))
    ours = (score.alpha, score.beta, score.jsc, score.jsc_tracks, score.paired, score.paired_tracks)
    assert ours == pytest.approx(ORGANISERS[seed, gaps], abs=1e-12)


def test_what_is_missed_and_spurious_makes_up_the_rest():
    predicted, truth = movie(0, gaps=True)
    score = score_isbi(predicted, truth)
    assert score.paired + score.missed == len(truth)
    assert score.paired + score.spurious == len(predicted)
    assert score.paired_tracks + score.missed_tracks == truth.table["track_id"].nunique()
    assert score.paired_tracks + score.spurious_tracks == predicted.table["track_id"].nunique()


def test_the_truth_itself_is_perfect_and_nothing_is_worth_nothing():
    predicted, truth = movie(1, gaps=False)
    perfect = score_isbi(truth, truth)
    assert (perfect.alpha, perfect.beta, perfect.jsc, perfect.jsc_tracks, perfect.rmse) == (1, 1, 1, 1, 0)
    nothing = score_isbi(Tracks(predicted.table.iloc[:0]), truth)
    assert (nothing.alpha, nothing.beta, nothing.jsc, nothing.jsc_tracks) == (0, 0, 0, 0)
    assert math.isnan(nothing.rmse)
    assert nothing.summary()["rmse"] is None


def test_tracks_whose_pairing_saves_nothing_are_not_paired():
    at, far = np.zeros(3), np.full(3, 90.0)
    for beyond in (1, 2):  # frames without a partner cost what the paired one saves, or more
        score = score_isbi(table([{0: at} | dict.fromkeys(range(1, beyond + 1), far)]), table([{0: at}]))
        assert (score.paired, score.paired_tracks, score.alpha) == (0, 0, 0)


def test_row_order_and_names_change_nothing():
    predicted, truth = movie(2, gaps=True)
    shuffled = predicted.table.sample(frac=1, random_state=0)
    renamed = Tracks(shuffled.assign(track_id=1000 - 3 * shuffled["track_id"]))
    assert score_isbi(renamed, truth).summary() == pytest.approx(score_isbi(predicted, truth).summary())


def test_a_unit_of_length_changes_nothing_but_the_rmse():
    predicted, truth = movie(0, gaps=False)
    score = score_isbi(predicted, truth)
    larger = [Tracks(part.table.assign(**{a: 1000 * part.table[a] for a in "zyx"})) for part in (predicted, truth)]
    scaled = score_isbi(*larger, gate=5000.0)
    assert scaled.alpha == pytest.approx(score.alpha)
    assert scaled.rmse == pytest.approx(1000 * score.rmse)


def test_negative_names_are_left_out():
    predicted, truth = movie(0, gaps=False)
    noise = predicted.table.assign(track_id=-1)
    assert score_isbi(Tracks(pd.concat([predicted.table, noise])), truth) == score_isbi(predicted, truth)


def test_a_gate_that_is_no_length_and_a_track_twice_in_a_frame_are_refused():
    predicted, truth = movie(0, gaps=False)
    with pytest.raises(InvalidSetting):
        score_isbi(predicted, truth, gate=0.0)
    with pytest.raises(InvalidInput):
        score_isbi(Tracks(pd.concat([predicted.table, predicted.table.iloc[:1]])), truth)
