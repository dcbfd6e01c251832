"""The distribution of steps: what it is fitted to comes back; its density is the multivariate t distribution's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_t

from auctrack.tracker.linking.unmatched_cost.student_t import GAUSSIAN, HEAVIEST, StudentT


def drawn(ndim: int, degrees: float, width: float = 0.3, n: int = 20_000) -> np.ndarray:
    """Lengths of steps of a distribution."""
    distribution = multivariate_t(shape=width**2 * np.eye(ndim), df=degrees, seed=np.random.default_rng(1))
    return np.linalg.norm(distribution.rvs(n), axis=1)


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("degrees", [4.0, 10.0])
def test_steps_of_a_distribution_are_read_back(ndim, degrees):
    distribution = StudentT.fitted(drawn(ndim, degrees), ndim, 1e-9)
    assert distribution.degrees == pytest.approx(degrees, rel=0.12)
    assert np.sqrt(distribution.variance) == pytest.approx(0.3, rel=0.02)


def test_gaussian_steps_have_many_degrees_of_freedom():
    steps = np.linalg.norm(np.random.default_rng(2).normal(0, 0.3, (20_000, 3)), axis=1)
    distribution = StudentT.fitted(steps, 3, 1e-9)
    assert distribution.degrees > 50
    assert distribution.variance == pytest.approx(0.09, rel=0.03)


def test_tails_are_not_fitted_heavier_than_three_degrees():
    assert StudentT.fitted(drawn(3, 1.0), 3, 1e-9).degrees == pytest.approx(HEAVIEST, rel=1e-2)


@pytest.mark.parametrize("factor", [1e-120, 1e90])
def test_it_scales_with_the_unit(factor):
    steps = drawn(3, 5.0, n=500)
    one, other = StudentT.fitted(steps, 3, 1e-6), StudentT.fitted(steps * factor, 3, 1e-6 * factor**2)
    assert other.degrees == pytest.approx(one.degrees)
    assert other.variance == pytest.approx(one.variance * factor**2)


def test_particles_at_rest_do_not_make_the_distribution_a_point():
    distribution = StudentT.fitted(np.zeros(10), 3, 1e-4)
    assert distribution.variance == pytest.approx(1e-4)
    assert distribution.degrees > 100


@pytest.mark.parametrize("ndim", [2, 3])
@pytest.mark.parametrize("degrees", [3.0, 7.0, GAUSSIAN])
def test_the_density_is_that_of_the_multivariate_t_distribution(ndim, degrees):
    distribution, reference = StudentT(ndim, degrees, 0.04), multivariate_t(shape=0.04 * np.eye(ndim), df=degrees)
    assert distribution.log_density_at_rest() == pytest.approx(reference.logpdf(np.zeros(ndim)), rel=1e-6)
    at = np.zeros(ndim)
    at[0] = 0.7
    assert distribution.length_at(reference.logpdf(at)) == pytest.approx(0.7, rel=1e-6)


def test_no_step_has_a_density_above_the_highest():
    distribution = StudentT(3, 5.0, 1.0)
    assert distribution.length_at(distribution.log_density_at_rest() + 1) == 0
