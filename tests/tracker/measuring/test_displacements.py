"""The distribution of displacements of particles whose movement is known."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from auctrack import mean_squared_displacement, measure_displacements, subtract_drift
from auctrack.tracker.errors import InvalidInput, InvalidSetting

from .simulated_walks import diffusing, pair_by_pair, tracks_of, with_gaps


def of_each(table):
    """Bins by lag and axis."""
    return {kind: bins.set_index("displacement") for kind, bins in table.groupby(["lag", "axis"])}


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("step", [1, 5], ids=["every frame", "every fifth"])
@pytest.mark.parametrize("share", [0.0, 0.3], ids=["whole", "with gaps"])
def test_every_pair_that_is_a_lag_apart_is_counted_in_its_bin(ndim, step, share):
    tracks = with_gaps(tracks_of(diffusing(30, 20, ndim), step=step), share)
    lags = [step, 3 * step, 7 * step]
    pairs, found = pair_by_pair(tracks, of_velocity=False), of_each(measure_displacements(tracks, lags))
    assert set(found) == {(lag, axis) for lag in lags for axis in tracks.axes}
    for (lag, axis), bins in found.items():
        moved = pairs[lag][:, tracks.axes.index(axis)]
        middle = bins.index.to_numpy()
        width = 1 / (bins["density"] / bins["count"] * len(moved)).iloc[0]
        whole = np.arange(middle[0] - width / 2, middle[-1] + width, width)
        counts = np.histogram(moved, whole)[0]
        assert bins["count"].tolist() == counts[counts > 0].tolist()
        np.testing.assert_allclose(middle / width, np.rint(middle / width), atol=1e-9)
        np.testing.assert_allclose(bins["lag_time"], lag * 10.0)
        moments = (moved**4).mean() / (3 * (moved**2).mean() ** 2) - 1
        np.testing.assert_allclose(bins["non_gaussian"], moments)
        np.testing.assert_allclose(bins["gaussian"], norm.pdf(middle, scale=np.sqrt((moved**2).mean())))


def test_an_error_of_positions_makes_displacements_more_gaussian_by_the_square_of_what_it_adds():
    rng = np.random.default_rng(5)
    places = rng.standard_t(7, (3000, 20, 3)).cumsum(axis=1)
    both = tracks_of(places), tracks_of(places + rng.normal(0, 0.5, places.shape))
    (clear, m), (blurred, of_both) = (
        (measure_displacements(of)["non_gaussian"].mean(), mean_squared_displacement(of, 1)["msd"][0]) for of in both
    )
    assert of_both - m == pytest.approx(3 * 2 * 0.5**2, rel=0.03)
    assert blurred == pytest.approx(clear * (m / of_both) ** 2, rel=0.1)


def test_diffusion_is_gaussian_of_the_variance_2dt():
    table = measure_displacements(tracks_of(diffusing(4000, 20)), [1, 4, 9])
    for (lag, _), bins in of_each(table).items():
        middle, of_one = bins.index.to_numpy(), (bins["density"] / bins["count"]).iloc[0]
        wanted = norm.pdf(middle, scale=np.sqrt(lag))  # 1 µm² a frame is 2 D
        scatter = np.sqrt(of_one * lag * wanted)  # displacements overlap
        assert (abs(bins["density"] - wanted) < 6 * scatter)[bins["count"] > 30].all()
        assert (abs(np.log(bins["gaussian"] / wanted)) < 0.05 * (1 + middle**2 / lag)).all()
        assert abs(bins["non_gaussian"].iloc[0]) < 4 * bins["non_gaussian_error"].iloc[0] < 0.1


def test_two_kinds_of_particles_are_less_gaussian_than_either():
    """Half of them go thrice as far: <x⁴> is 3 (1 + 81) / 2 and <x²> (1 + 9) / 2."""
    places = diffusing(3000, 20)
    places[::2] *= 3
    table = measure_displacements(tracks_of(places), 1)
    wanted = 41 / 25 - 1
    for bins in of_each(table).values():
        assert (bins["non_gaussian"] == bins["non_gaussian"].iloc[0]).all()
        assert abs(bins["non_gaussian"].iloc[0] - wanted) < 4 * bins["non_gaussian_error"].iloc[0] < 0.2


def test_the_error_of_the_non_gaussian_parameter_is_what_movies_scatter_by():
    def of(seed):
        places = diffusing(60, 20, 2, seed)
        places[::2] *= 2
        row = measure_displacements(tracks_of(places), 5).iloc[0]
        return row["non_gaussian"], row["non_gaussian_error"]

    value, error = np.transpose([of(seed) for seed in range(300)])
    assert error.mean() == pytest.approx(value.std(), rel=0.15)


@pytest.mark.parametrize("grid", [1, 4])
def test_places_on_a_grid_have_equally_many_of_its_steps_in_each_bin(grid):
    places = np.round(2 * diffusing(1000, 20, 2) / grid) * grid
    for bins in of_each(measure_displacements(tracks_of(places), 5)).values():
        middle = bins.index.to_numpy()
        common = bins["count"] > 200
        np.testing.assert_allclose(np.diff(middle[common]), np.diff(middle[common])[0])
        assert ((bins["density"] / bins["gaussian"])[common] - 1).abs().max() < 0.2
        steps = np.diff(middle).min() / grid
        assert steps == pytest.approx(round(steps))
        assert round(steps) % 2 == 1


def test_few_far_displacements_do_not_widen_the_bins():
    places = diffusing(200, 20, 2)
    places[0, 10:] += 1e4
    bins = of_each(measure_displacements(tracks_of(places)))[1, "x"]
    assert bins.index.max() == pytest.approx(1e4, rel=0.01)
    assert np.diff(bins.index).min() < 0.3
    assert len(bins) < 200


def test_few_tracks_have_the_mean_square_that_is_theirs_alone_without_their_drift():
    movies = [subtract_drift(tracks_of(diffusing(6, 20, 2, seed))) for seed in range(100)]
    for still in movies[:3]:
        curve = mean_squared_displacement(still, 3, per_axis=True).set_index("lag")
        for (lag, axis), bins in of_each(measure_displacements(still, [1, 3])).items():
            square = curve.loc[lag, f"msd_{axis}"]
            np.testing.assert_allclose(bins["gaussian"], norm.pdf(bins.index, scale=np.sqrt(square)))
            spread = (bins["count"] * bins.index.to_numpy() ** 2).sum() / bins["count"].sum()
            assert spread == pytest.approx(square, rel=0.15)
    moved = [
        (bins.index.to_numpy() ** 2, bins["count"])
        for one in movies
        for bins in of_each(measure_displacements(one)).values()
    ]
    squares, counts = (np.concatenate(each) for each in zip(*moved, strict=True))
    assert np.average(squares, weights=counts) == pytest.approx(1.0, rel=0.06)


def test_one_track_has_a_distribution_and_no_error():
    alone = tracks_of(diffusing(1, 50))
    table = measure_displacements(alone)
    assert table.groupby("axis")["count"].sum().tolist() == [49, 49, 49]
    assert table["non_gaussian"].notna().all()
    assert table["non_gaussian_error"].isna().all()
    assert len(measure_displacements(subtract_drift(alone))) == 0


def test_what_stands_still_is_in_one_bin():
    table = measure_displacements(tracks_of(np.zeros((3, 5, 2))))
    assert table[["axis", "displacement", "count", "density"]].to_numpy().tolist() == [["y", 0, 12, 1], ["x", 0, 12, 1]]
    assert table[["gaussian", "non_gaussian", "non_gaussian_error"]].isna().all(axis=None)


def test_lags_that_no_pair_has_have_no_rows_and_no_tracks_a_table_of_the_same_columns():
    tracks = tracks_of(diffusing(3, 9))
    assert measure_displacements(tracks, [2, 100])["lag"].unique().tolist() == [2]
    for none in (measure_displacements(tracks, 100), measure_displacements(tracks.only(np.zeros(27, bool)))):
        assert len(none) == 0
        assert none.dtypes.drop("axis").equals(measure_displacements(tracks).dtypes.drop("axis"))


def test_lags_come_once_and_in_order():
    tracks = tracks_of(diffusing(3, 9))
    pd.testing.assert_frame_equal(
        measure_displacements(tracks, [4, 1, 4]), measure_displacements(tracks, np.array([1, 4]))
    )


@pytest.mark.parametrize("lags", [0, [], [5, 4], "5", ["5"], 7.5, None, True])
def test_lags_that_are_no_numbers_of_frames_are_refused(lags):
    with pytest.raises(InvalidSetting, match=r"^lags .*5"):
        measure_displacements(tracks_of(diffusing(3, 9), step=5), lags)


def test_a_table_is_no_tracks():
    with pytest.raises(InvalidInput, match="Tracks"):
        measure_displacements(tracks_of(diffusing(3, 9)).table)
