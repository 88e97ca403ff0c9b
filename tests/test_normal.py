"""The Normal-inverse-gamma family and its margins against scipy.stats, mpmath, quadrature and exact draws."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from bayesnb.families import InverseGamma, NormalInverseGamma, StudentT

GRID = NormalInverseGamma([[-3.0], [0.0], [1e4]], [0.01, 1.0, 70.0], [0.7, 2.5, 40.0], [[1e-3], [1.0], [5e5]])


def frozen(family):
    """The same distribution by scipy.stats."""
    if isinstance(family, StudentT):
        return stats.t(family.df, family.loc, np.sqrt(family.scale2))
    return stats.invgamma(family.alpha, scale=family.beta)


@pytest.mark.parametrize(
    ("data", "df", "loc", "scale2"), [([], 4, 0, 1), ([2], 5, 1, 6 / 5), ([2, 2], 6, 4 / 3, 28 / 27)]
)
def test_the_predictive_after_none_one_and_two_equal_observations(data, df, loc, scale2):
    """From m0=0, k0=1, a0=2, b0=1: finite for zero, one and identical observations, whole or one at a time."""
    prior = steps = NormalInverseGamma(0, 1, 2, 1)
    for x in data:
        steps = steps.updated(1, x, 0)
    for after in (steps, prior.updated(len(data), 2 if data else 0, 0)):
        t = after.predictive()
        # four operations from small whole numbers
        assert [float(t.df), float(t.loc), float(t.scale2)] == pytest.approx([df, loc, scale2], rel=1e-15, abs=0)


@pytest.mark.parametrize("margin", [GRID.mu(), GRID.sigma2(), GRID.predictive()], ids=["mu", "sigma2", "predictive"])
def test_margins_are_those_of_scipy_stats(margin):
    """Log density and interval in every cell, and the two tails outside an interval are equal."""
    other = frozen(margin)
    ends = margin.interval(0.9)
    for x in np.moveaxis(ends, -1, 0):
        np.testing.assert_allclose(margin.log_density(x), other.logpdf(x), rtol=1e-11, atol=1e-11)
    # loc 1e4 beside a scale of 1e-3 takes seven digits from a centred quantile
    np.testing.assert_allclose(other.cdf(ends[..., 0]), 0.05, rtol=1e-8)
    np.testing.assert_allclose(other.sf(ends[..., 1]), 0.05, rtol=1e-8)


def test_mean_and_variance_are_those_of_scipy_stats():
    """Where they exist; alpha 2.5 and 40 have both."""
    both = NormalInverseGamma([-3.0, 1e4], [0.01, 70.0], [2.5, 40.0], [1e-3, 5e5])
    for at, margin in enumerate((both.mu(), both.sigma2())):
        mean, variance = frozen(margin).stats("mv")
        np.testing.assert_allclose(both.mean()[at], mean, rtol=1e-13)
        np.testing.assert_allclose(both.variance()[at], variance, rtol=1e-13)


def test_moments_that_do_not_exist_are_refused():
    """The shape parameter and where it is too small are named."""
    heavy = NormalInverseGamma(0, 1, [3.0, 1.0, 0.5], 1)
    with pytest.raises(ValueError, match=r"mean of sigma2 needs alpha > 1, it is 1 at \(1,\)"):
        heavy.mean()
    with pytest.raises(ValueError, match=r"variance of a Student-t needs df > 2, it is 2 at \(1,\)"):
        heavy.variance()
    with pytest.raises(ValueError, match="variance of sigma2 needs alpha > 2, it is 2;"):
        InverseGamma(2, 1).variance()
    with pytest.raises(ValueError, match=r"mean of a Student-t needs df > 1, it is 1 at \(2,\)"):
        heavy.mu().mean()


def test_the_joint_density_is_normal_times_inverse_gamma():
    """Density of sigma2 times density of mu given sigma2, and 0 where sigma2 is not positive."""
    mu, sigma2 = GRID.m0 + 0.3, GRID.beta0 * 1.7
    expected = stats.invgamma(GRID.alpha0, scale=GRID.beta0).logpdf(sigma2)
    expected = expected + stats.norm(GRID.m0, np.sqrt(sigma2 / GRID.kappa0)).logpdf(mu)
    np.testing.assert_allclose(GRID.log_density(mu, sigma2), expected, rtol=1e-12, atol=1e-11)
    assert np.isneginf(GRID.log_density(0.0, [0.0, -1.0, 0.0])).all()


def test_the_mode_is_the_highest_point_of_the_joint_density():
    """Any step of either parameter goes down, by the same amount to first order on both sides."""
    mu, sigma2 = GRID.mode()
    top = GRID.log_density(mu, sigma2)
    for step in (0.01, -0.01):
        assert (GRID.log_density(mu + step * np.sqrt(sigma2), sigma2) < top).all()
        assert (GRID.log_density(mu, sigma2 * (1 + step)) < top).all()
    gradient = GRID.log_density(mu, sigma2 * 1.001) - GRID.log_density(mu, sigma2 / 1.001)
    # the third derivative leaves about alpha 1e-9; a wrong mode is off by 1e-3
    np.testing.assert_allclose(gradient, 0, atol=1e-6)


def test_evidence_is_the_integral_of_likelihood_times_prior():
    """By quadrature over (mu, log sigma2), for three observations."""
    prior, data = NormalInverseGamma(0.5, 2.0, 1.5, 0.8), np.array([0.2, 1.9, 1.1])

    log, z = np.linspace(-6, 12, 400)[:, None], np.linspace(-9, 9, 400)
    sigma2 = np.exp(log)
    mu = 0.8 + z * np.sqrt(sigma2)
    likelihood = stats.norm(mu, np.sqrt(sigma2)).logpdf(data[:, None, None]).sum(axis=0)
    density = np.exp(prior.log_density(mu, sigma2) + likelihood) * sigma2**1.5  # dmu dsigma2 = sigma2^1.5 dz dlog
    value = density.sum() * (log[1, 0] - log[0, 0]) * (z[1] - z[0])
    found = prior.log_evidence(3, data.mean(), ((data - data.mean()) ** 2).sum())
    # equal steps integrate a smooth function that vanishes at the ends to rounding; exp(-3.5 * 12) is left out
    assert found == pytest.approx(np.log(value), abs=1e-10)


def test_evidence_is_the_difference_of_two_normalizers():
    """In 40 digits, also where a huge number of observations or a huge prior would cancel."""
    mpmath.mp.dps = 40
    for n, mean, m2, (m0, k0, a0, b0) in [
        (3, 1.0, 0.5, (0.5, 2.0, 1.5, 0.8)),
        (1e6, 0.3, 2e5, (0.0, 1e-3, 0.5, 1e-4)),
        (2, 1.0, 1e-9, (1.0, 1e9, 1e9, 1e9)),
        (0.5, 3.0, 0.25, (0.0, 0.01, 1.5, 0.5)),
    ]:
        k, a = mpmath.mpf(k0) + n, mpmath.mpf(a0) + mpmath.mpf(n) / 2
        b = b0 + (mpmath.mpf(m2) + mpmath.mpf(k0) * n / k * (mpmath.mpf(mean) - m0) ** 2) / 2
        exact = mpmath.loggamma(a) - mpmath.loggamma(a0) + a0 * mpmath.log(b0) - a * mpmath.log(b)
        exact += (mpmath.log(k0) - mpmath.log(k) - n * mpmath.log(2 * mpmath.pi)) / 2
        found = float(NormalInverseGamma(m0, k0, a0, b0).log_evidence(n, mean, m2))
        # terms of n nats are summed in double precision
        assert found == pytest.approx(float(exact), rel=1e-13, abs=1e-14 * max(1, n))


def test_draws_have_the_exact_moments():
    """E mu, E log sigma2, and that mu spreads with sigma2: all within 5 standard errors."""
    family, n = NormalInverseGamma([2.0, -1.0], [0.5, 9.0], [3.0, 12.0], [4.0, 0.1]), 20_000
    mu, sigma2 = family.draw(np.random.default_rng(0), n)
    assert mu.shape == sigma2.shape == (n, 2)
    z = (mu - family.m0) / np.sqrt(sigma2 / family.kappa0)  # standard normal, and independent of sigma2
    log = np.log(sigma2) - family.sigma2().mean_log()
    variance = family.sigma2().variance_log()
    for values, mean, sd in [
        (mu, family.m0, np.sqrt(family.variance()[0])),
        (z**2, 1.0, np.sqrt(2.0)),
        (log, 0.0, np.sqrt(variance)),
        (z**2 * log, 0.0, np.sqrt(3 * variance)),
    ]:
        assert (np.abs(values.mean(axis=0) - mean) < 5 * sd / np.sqrt(n)).all()


@pytest.mark.parametrize(
    ("family", "variance"), [(StudentT(9, 1.0, 4.0), 4 * 9 / 7), (InverseGamma(6.0, 3.0), (3 / 5) ** 2 / 4)]
)
def test_draws_of_the_margins_have_the_exact_mean(family, variance):
    """Within 5 standard errors."""
    drawn = family.draw(np.random.default_rng(1), 20_000)
    assert abs(drawn.mean() - family.mean()) < 5 * np.sqrt(variance / 20_000)


def test_log_draws_never_overflow():
    """With alpha 0.001 most variances are beyond any float; their logarithms are not."""
    assert np.isfinite(InverseGamma(1e-3, 1.0).draw(np.random.default_rng(0), 1000, log=True)).all()


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ((np.nan, 1, 1, 1), "m0 must be finite, got nan"),
        (([0.0, np.inf], 1, 1, 1), r"m0 must be finite, got inf at \(1,\)"),
        (("x", 1, 1, 1), "m0 must be numbers, got 'x'"),
        ((0, 0, 1, 1), "kappa0 must be above 0"),
        ((0, 1, -1, 1), "alpha0 must be above 0"),
        ((0, 1, 1, [1.0, 0.0]), r"beta0 must be above 0 and finite, got 0 at \(1,\)"),
        (([0, 0], 1, 1, [1, 1, 1]), r"do not broadcast: m0 \(2,\), kappa0 \(\)"),
    ],
)
def test_bad_parameters_are_named(parameters, match):
    """Which parameter, what it is and where."""
    with pytest.raises(ValueError, match=match):
        NormalInverseGamma(*parameters)
