"""Special functions against mpmath, which works in 50 digits here."""

import mpmath
import numpy as np
import pytest
from scipy import special as scipy_special

from bayesnb.special import log_beta, log_gamma_draw, log_rising

STARTS = (1e-6, 1e-3, 0.1, 0.5, 1.0, 1.4616321449683623, 2.0, 5.0, 9.999, 10.0, 11.0, 1e3, 1e6, 1e9, 1e12, 1e15)
STEPS = (1e-6, 1e-3, 0.5, 0.999, 1.0, 2.0, 3.7, 10.0, 1e5, 1e9, 1e15)


def exact_rising(a, n):
    with mpmath.workdps(50):
        return mpmath.loggamma(mpmath.mpf(a) + mpmath.mpf(n)) - mpmath.loggamma(mpmath.mpf(a))


@pytest.mark.parametrize("a", STARTS)
@pytest.mark.parametrize("n", STEPS)
def test_rising_factorial_is_correct_to_rounding_at_every_scale(a, n):
    """Near the minimum of Gamma (a = 1.46) the value itself passes 0: there the step's rounding is the bound."""
    exact = exact_rising(a, n)
    assert abs(log_rising(a, n) - exact) <= 1e-14 * abs(exact) + 4 * np.finfo(float).eps * min(n, 1)


def test_rising_factorial_keeps_digits_that_a_difference_of_log_gammas_loses():
    """Two more hits after 3e14 of 1e15: the difference of log-gammas gives -8.0, the answer is -2.4079."""
    n, total = 3e14 + 1, 1e15 + 2
    lost = (scipy_special.gammaln(n + 2) - scipy_special.gammaln(n)) - (
        scipy_special.gammaln(total + 2) - scipy_special.gammaln(total)
    )
    assert abs(lost + 2.407945608651867) > 1
    assert log_rising(n, 2.0) - log_rising(total, 2.0) == pytest.approx(-2.407945608651867, abs=1e-13)


def test_rising_factorial_of_zero_steps_is_zero_and_a_step_back_undoes_a_step():
    a = np.array([1e-300, 1e-6, 0.5, 9.0, 10.0, 1e15])
    assert not log_rising(a, 0.0).any()
    np.testing.assert_allclose(log_rising(7.5, -2.25), -log_rising(5.25, 2.25), rtol=1e-14)


def test_rising_factorial_broadcasts_and_gives_a_number_for_numbers():
    assert log_rising(np.ones((2, 1)), np.array([1.0, 2.0, 3.0])).shape == (2, 3)
    assert np.ndim(log_rising(2.0, 3.0)) == 0


@pytest.mark.parametrize(
    ("a", "b"), [(1e7, 11), (1e15, 1e15), (1e9, 1e-6), (1e-6, 1e-6), (0.5, 0.5), (3e5, 2e5), (11, 1e7)]
)
def test_log_beta_is_correct_where_one_argument_is_large(a, b):
    """SciPy's own is off by 6e-11 at (1e7, 11)."""
    with mpmath.workdps(50):
        exact = mpmath.log(mpmath.beta(mpmath.mpf(a), mpmath.mpf(b)))
    assert abs(log_beta(a, b) - exact) <= 1e-14 * abs(exact)


def test_log_gamma_draws_have_the_exact_cumulants_of_log_gamma():
    """Cumulants of log Gamma(a) are polygammas; concentration 1e-3 has variates far below the smallest float."""
    a = np.array([1e-3, 0.3, 2.0, 50.0])
    n = 40_000
    g = log_gamma_draw(np.random.default_rng(1), a, (n, len(a)))
    assert np.isfinite(g).all() and (g[:, 0] < -746).any()
    variance, fourth = scipy_special.polygamma(1, a), scipy_special.polygamma(3, a)
    z_mean = (g.mean(axis=0) - scipy_special.digamma(a)) / np.sqrt(variance / n)
    z_variance = (((g - scipy_special.digamma(a)) ** 2).mean(axis=0) - variance) / np.sqrt(
        (fourth + 2 * variance**2) / n
    )
    assert (abs(z_mean) < 5).all() and (abs(z_variance) < 5).all()


@pytest.mark.parametrize("a", [1e39, 1e60, 1e100])
@pytest.mark.parametrize("n", [2.0, 4.0, 8.0])
def test_a_few_steps_from_a_huge_start_do_not_overflow(a, n):
    """The product of 8 factors of 1e39 is beyond floating point, its log is not."""
    with mpmath.workdps(40):
        exact = mpmath.fsum(mpmath.log(mpmath.mpf(a) + i) for i in range(int(n)))
    assert log_rising(a, n) == pytest.approx(float(exact), rel=1e-14)
