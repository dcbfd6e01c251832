"""The documented rules of the suggestions, each on both sides of its limit, without an image."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from auctrack.tracker.detecting.blobs import blob_response, noise_gain
from auctrack.tracker.detecting.diameter import _vertex, best_diameter, other_diameter, responses_of_as_many
from auctrack.tracker.detecting.threshold import QualitySample, image_qualities, threshold_between


def heap(centre: float, count: int, width: float = 0.3) -> np.ndarray:
    """Return so many qualities, evenly spaced in the quantiles of a log-normal around the centre."""
    return centre * np.exp(width * ndtri((np.arange(count) + 0.5) / count))


def two_heaps(between: float) -> QualitySample:
    """Return two heaps of equal heights, with an even filling whose density is so many times theirs."""
    filling = int(between * 1000 / (0.3 * np.sqrt(2 * np.pi)) / np.sqrt(1 + (0.15 / 0.3) ** 2) * np.log(1000.0))
    logs = np.linspace(0.0, np.log(1000.0), filling)
    qualities = np.concatenate([heap(1.0, 1000), heap(1000.0, 1000), np.exp(logs)])
    return QualitySample(qualities, np.empty(0), white_floor=0.2, response_floor=0.3)


@pytest.mark.parametrize(("between", "is_valley"), [(0.04, True), (0.08, True), (0.13, False), (0.2, False)])
def test_a_valley_is_deep_where_the_heaps_on_both_sides_are_ten_times_as_high(between, is_valley):
    assert (3.0 < threshold_between(two_heaps(between)) < 400.0) == is_valley


@pytest.mark.parametrize(("lower", "is_valley"), [(60, False), (90, False), (130, True), (300, True)])
def test_the_heap_of_noise_holds_a_tenth_of_the_peaks_at_least(lower, is_valley):
    peaks = np.concatenate([heap(1.0, lower, 0.1), heap(100.0, 1000 - lower, 0.1)])
    threshold = threshold_between(QualitySample(peaks, np.empty(0), white_floor=0.2, response_floor=0.3))
    assert (threshold > 0.3) == is_valley


@pytest.mark.parametrize(("upper", "is_valley"), [(1, False), (2, False), (3, True), (4, True)])
def test_three_peaks_make_a_heap(upper, is_valley):
    peaks = np.concatenate([heap(1.0, 10, 0.1), np.full(upper, 100.0)])
    threshold = threshold_between(QualitySample(peaks, np.empty(0), white_floor=0.2, response_floor=0.3))
    assert (threshold > 2.0) == is_valley


@pytest.mark.parametrize(("ratio", "is_noise"), [(1.1, True), (1.4, True), (1.6, False), (2.0, False)])
def test_peaks_less_than_one_and_a_half_times_as_high_as_the_dips_are_noise(ratio, is_noise):
    sample = QualitySample(heap(10.0, 500, 0.5), heap(10.0 / ratio, 500, 0.5), white_floor=0.5, response_floor=40.0)
    assert (threshold_between(sample) >= 40.0) == is_noise


@pytest.mark.parametrize(
    ("below", "height", "is_drowned"), [(600, 1.6, True), (400, 1.6, False), (600, 1.9, True), (600, 2.2, False)]
)
def test_where_most_peaks_are_below_the_floor_and_the_others_under_twice_as_high_dips_tell(below, height, is_drowned):
    peaks = np.concatenate([np.linspace(0.3, 0.99, below), np.linspace(1.01, 2 * height - 1.01, 1000 - below)])
    sample = QualitySample(peaks, np.linspace(1.001, 1.05, 100), white_floor=1.0, response_floor=3.0)
    assert (1.0 < threshold_between(sample) < 1.05) == is_drowned


@pytest.mark.parametrize(("particles", "is_told"), [(200, True), (120, True), (60, False)])
def test_beyond_the_level_at_most_a_tenth_of_the_peaks_may_be_noise(particles, is_told):
    """Of noise as many peaks as dips are higher than any level; one more is counted."""
    noise, high = heap(10.0, 500, 0.5), heap(35.0, particles, 0.2)
    sample = QualitySample(np.append(noise, high), heap(10.0, 500, 0.5), white_floor=0.5, response_floor=60.0)
    threshold = threshold_between(sample)
    if not is_told:
        assert threshold == 60.0
        return
    deeper = (sample.depths > threshold).sum() + 1
    assert 10.0 < threshold < 35.0
    assert deeper <= 0.1 * (sample.qualities > threshold).sum()
    lower = sample.depths[sample.depths < threshold].max()
    assert (sample.depths > lower).sum() + 1 > 0.1 * (sample.qualities > lower).sum()


@pytest.mark.parametrize(("count", "is_told"), [(64, True), (63, False)])
def test_few_peaks_do_not_tell_how_many_are_noise(count, is_told):
    peaks = np.concatenate([heap(10.0, count - 14, 0.36), np.full(14, 24.0)])
    sample = QualitySample(peaks, heap(10.0, count - 14, 0.36), white_floor=1.0, response_floor=40.0)
    assert (threshold_between(sample) < 24.0) == is_told


@pytest.mark.parametrize(("count", "highest", "is_full"), [(100, 0.59, True), (99, 0.59, False), (100, 0.61, False)])
def test_many_peaks_and_dips_none_of_which_are_as_high_as_those_of_noise_fill_the_frame(count, highest, is_full):
    heights = np.linspace(0.1, highest, count) * 100.0
    for peaks, dips in [(heights, 0.9 * heights), (0.9 * heights, heights)]:
        sample = QualitySample(peaks, dips, white_floor=0.5, response_floor=100.0)
        assert (threshold_between(sample) == 0.5) == is_full


@pytest.mark.parametrize(
    ("count", "ratio", "width", "is_full"),
    [
        (50, 1.3, 0.2, True),
        (50, 1.2, 0.2, False),
        (30, 1.3, 0.2, False),
        (400, 1.14, 0.2, True),
        (400, 1.1, 0.2, False),
        (50, 1.3, 0.6, False),
    ],
)
def test_peaks_higher_than_dips_few_of_which_are_low_fill_the_frame(count, ratio, width, is_full):
    dips = heap(10.0 / ratio, count, width)
    sample = QualitySample(heap(10.0, count, width), dips, white_floor=0.5, response_floor=20.0)
    assert (threshold_between(sample) == 0.5) == is_full


def best_of(responses, blobs):
    """The best diameter where the blobs that one finds all answer alike."""
    heights = [np.full(count, response) for response, count in zip(responses, blobs, strict=True)]
    return best_diameter(responses, np.array(blobs), responses_of_as_many(responses, heights))


@pytest.mark.parametrize(("members", "best"), [(30, 1), (16, 1), (14, 3), (10, 3)])
def test_a_smaller_diameter_with_half_as_many_blobs_again_is_that_of_the_members_of_a_cluster(members, best):
    responses = np.array([50.0, 80.0, 60.0, 100.0, 70.0])
    assert best_of(responses, [members, members, 10, 10, 10]) == best


@pytest.mark.parametrize(("response", "best"), [(80.0, 1), (68.0, 1), (65.0, 3), (40.0, 3)])
def test_members_answer_at_least_two_thirds_as_much_as_their_cluster(response, best):
    responses = np.array([30.0, response, 35.0, 100.0, 70.0])
    assert best_of(responses, [30, 30, 10, 10, 10]) == best


@pytest.mark.parametrize(("blobs", "best"), [(100, 1), (55, 1), (45, 3), (10, 3)])
def test_a_diameter_that_finds_less_than_half_the_blobs_of_a_larger_one_is_blinded_by_noise(blobs, best):
    responses = np.array([50.0, 100.0, 60.0, 90.0, 70.0])
    assert best_of(responses, [blobs, blobs, 60, 100, 100]) == best


def test_a_diameter_is_held_to_as_many_blobs_of_a_larger_one_as_it_finds():
    """Two thirds of the blobs are bright and found from the first on; at the third the faint ones are found too."""
    responses = np.array([40.0, 60.0, 36.0, 30.0])
    heights = [
        np.full(20, 40.0),
        np.full(20, 60.0),
        *[np.repeat([high, low], [10, 30]) for high, low in [(70, 36), (50, 30)]],
    ]
    assert best_diameter(responses, np.array([20, 20, 40, 40]), responses_of_as_many(responses, heights)) == 1
    heights[2] = np.repeat([70.0, 36.0], [20, 20])
    heights[3] = np.repeat([65.0, 30.0], [20, 20])
    assert best_diameter(responses, np.array([20, 20, 40, 40]), responses_of_as_many(responses, heights)) == 2


@pytest.mark.parametrize(("blobs", "brightest", "best"), [(40, 100.0, 1), (40, 80.0, 3), (10, 100.0, 3)])
def test_a_single_large_blob_is_no_particle_where_one_of_many_smaller_ones_answers_as_much(blobs, brightest, best):
    responses = np.array([30.0, 40.0, 20.0, 90.0, 50.0])
    heights = [np.append(brightest, np.full(blobs, r)) for r in responses[:3]] + [np.array([90.0]), np.array([50.0])]
    counts = np.array([len(found) for found in heights])
    assert best_diameter(responses, counts, responses_of_as_many(responses, heights)) == best


@pytest.mark.parametrize(
    ("response", "blobs", "best"), [(300.0, 30, 0), (300.0, 14, 3), (100.0, 30, 3)], ids=["few", "many", "not faint"]
)
def test_the_smallest_diameter_is_taken_where_others_are_faint_and_few_beside_it(response, blobs, best):
    responses = np.array([response, 40.0, 30.0, 35.0, 20.0])
    assert best_of(responses, [blobs, blobs, 10, 10, 10]) == best


@pytest.mark.parametrize(("blobs", "best"), [(40, 3), (16, 1)])
def test_where_no_diameter_answers_more_than_its_neighbours_the_strongest_is_taken_unless_it_finds_few(blobs, best):
    """Noise rules at the smallest diameter and at the third, so that nobody knows what they would answer."""
    assert best_of(np.array([0.0, 60.0, 0.0, 50.0, 40.0]), [0, 2, 0, blobs, blobs]) == best


@pytest.mark.parametrize(("response", "blobs", "other"), [(40.0, 20, 4), (30.0, 20, None), (40.0, 1, None)])
def test_another_diameter_that_stands_out_is_told_unless_it_is_faint_or_rare(response, blobs, other):
    responses = np.array([50.0, 100.0, 20.0, 10.0, response, 10.0])
    diameters = 4.0 * 2.0 ** np.arange(6)
    assert other_diameter(diameters, responses, np.array([20, 20, 20, 20, blobs, 20]), 1) == other


def test_white_noise_passes_the_floor_of_its_own_spread_in_one_frame_of_twenty():
    image = np.zeros((40, 50, 60), dtype=np.float32)
    floor = image_qualities(image[None], [3.0], 5.0, np.ones(3), "log", 2.5).white_floor
    assert image.size * ndtr(-floor / (3.0 * noise_gain(5.0, np.ones(3)))) == pytest.approx(0.05)


def test_the_floor_from_the_response_leaves_out_what_is_beyond_five_of_its_spread():
    image = np.random.default_rng(4).normal(0.0, 3.0, (1024, 1024)).astype(np.float32)
    noise = image_qualities(image[None], [3.0], 4.0, np.ones(2), "log", 2.0)
    assert noise.response_floor == pytest.approx(noise.white_floor, rel=0.008)
    image[::64, ::64] += 10_000.0
    assert image_qualities(image[None], [3.0], 4.0, np.ones(2), "log", 2.0).response_floor < 1.1 * noise.response_floor


def test_dog_is_the_mean_of_log_over_sigmas_in_a_ratio_of_1_6():
    image = np.random.default_rng(3).normal(0.0, 10.0, (60, 60)).astype(np.float32)
    diameter = 12.0
    sizes = diameter * np.exp(np.linspace(-0.5, 0.5, 41) * np.log(1.6))
    mean = np.trapezoid([blob_response(image, size, np.ones(2)) for size in sizes], dx=1.0 / 40, axis=0)
    # The diffusion equation, by which the difference is an integral, holds for sampled kernels to a hundredth.
    dog = blob_response(image, diameter, np.ones(2), "dog")
    assert np.abs(dog - mean).max() < 0.02 * np.abs(dog).max()


@pytest.mark.parametrize(
    ("responses", "best", "vertex"),
    [
        ([1.0, 4.0, 1.0], 1, 0.0),
        ([0.0, 3.0, 4.0, 3.5], 2, 1 / 6),
        ([3.5, 4.0, 3.0, 0.0], 1, -1 / 6),
        ([0.0, 4.0, 3.0], 1, 0.0),
        ([4.0, 3.0, 1.0], 0, 0.0),
        ([1.0, 3.0, 4.0], 2, 0.0),
        ([2.0, 2.0, 2.0], 1, 0.0),
    ],
    ids=["even", "to the right", "to the left", "a neighbour without blobs", "the first", "the last", "flat"],
)
def test_between_three_diameters_the_best_is_where_a_parabola_is_highest(responses, best, vertex):
    assert _vertex(np.array(responses), best) == pytest.approx(vertex)
