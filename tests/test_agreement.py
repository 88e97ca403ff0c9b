"""The agreement check passes right draws and fails wrong ones, each for the right reason."""

import mpmath
import numpy as np
import pytest
from arviz_stats.base import array_stats

from bayesnb.checks.agreement import check_agreement, exact_moments
from bayesnb.families import Beta
from bayesnb.sampling import to_tree
from bayesnb.sampling.convergence import effective_size, r_hat
from tests.fits import HAM, SPAM, TOKENS, bernoulli_fit, dirichlet_fit, gamma_fit, presence, toy

OFF = np.array([HAM, SPAM])
OFF[1, 4] += 1


@pytest.mark.parametrize(
    ("fit", "posterior", "comparisons"),
    [(gamma_fit, toy, 3 * (28 + 2)), (dirichlet_fit, toy, 3 * (6 + 2)), (bernoulli_fit, presence, 3 * 6)],
)
def test_sampled_draws_agree_with_the_closed_form(fit, posterior, comparisons):
    """Both forms, lumped tokens, and the Bernoulli model with a known class prior."""
    check = check_agreement(fit(), posterior())
    assert check.passed, str(check)
    assert (len(check.table), check.n_divergences) == (comparisons, 0)
    assert np.isfinite(check.table[["sampled", "exact", "z", "ess", "r_hat"]]).all(axis=None)


@pytest.mark.parametrize(
    ("wrong", "quantity"),
    [
        ({"prior": 2.0}, None),
        ({"counts": OFF}, "phi"),
        ({"counts": (SPAM, HAM)}, None),
        ({"scale": 2}, "squared deviation"),
    ],
    ids=["wrong prior", "wrong count", "swapped classes", "prior and data doubled"],
)
def test_draws_of_another_posterior_fail(wrong, quantity):
    """A wrong prior, count or class fails; so does doubling prior and data, which keeps every mean of phi."""
    check = check_agreement(to_tree(toy(**wrong)), toy())
    assert not check.passed
    off = check.table[check.table["z"].abs() > check.threshold]
    assert quantity is None or quantity in set(off["quantity"])
    if "scale" in wrong:
        assert not {"phi", "theta"} & set(off["quantity"])
    assert "means are off" in str(check)


def test_real_draws_fail_against_another_prior():
    """What the sampler drew is told from the posterior under another prior."""
    assert not check_agreement(gamma_fit(), toy(prior=1.2)).passed


def test_exact_draws_pass_and_the_threshold_follows_the_number_of_comparisons():
    """Independent draws agree; the threshold is Phi^-1(1 - 3e-7/m)."""
    check = check_agreement(to_tree(toy(), seed=5), toy())
    assert check.passed, str(check)
    with mpmath.workdps(30):
        tail = mpmath.mpf("3e-7") / len(check.table)
        exact = mpmath.findroot(lambda x: mpmath.erfc(x / mpmath.sqrt(2)) / 2 / tail - 1, 5.8)
    assert check.threshold == pytest.approx(float(exact), rel=1e-9)
    assert str(check).startswith("The draws agree with the closed form: 90 comparisons, largest |z| ")


@pytest.mark.parametrize(("a", "b"), [(0.3, 4.0), (1.0, 1.0), (3.0, 2000.0)])
def test_exact_moments_are_those_of_quadrature(a, b):
    """Mean and standard deviation of x, log x and (x - E x)^2 under a Beta, by numerical integration."""
    with mpmath.workdps(30):
        density = lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)  # noqa: E731
        cuts = [0, *(a / (a + b) * s for s in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 1, 1.02)), 1]
        if a < b:
            cuts[-1:] = [min(1 - 1e-3, a / (a + b) * 10), 1]
        mean = lambda f: mpmath.quad(lambda x: f(x) * density(x), sorted(set(cuts)))  # noqa: E731
        m = mpmath.mpf(a) / (a + b)
        functions = {"value": lambda x: x, "log": mpmath.log, "squared deviation": lambda x: (x - m) ** 2}
        for quantity, (exact, sd) in exact_moments(Beta(a, b)).items():
            f = functions[quantity]
            first = mean(f)
            assert float(exact) == pytest.approx(float(first), rel=1e-8)
            # quadrature near 0, where x^(a-1) is singular, is good to 8 digits
            assert float(sd) == pytest.approx(float(mpmath.sqrt(mean(lambda x: (f(x) - first) ** 2))), rel=1e-7)  # noqa: B023


@pytest.mark.parametrize(("chains", "draws"), [(4, 1000), (2, 501), (1, 60)])
@pytest.mark.parametrize("slope", [0.0, 0.95, -0.6])
def test_convergence_of_many_quantities_is_arviz_s(chains, draws, slope):
    """Effective size and r_hat, computed for all quantities at once, are what ArviZ computes for each."""
    x = np.random.default_rng(0).standard_normal((chains, draws, 9))
    for t in range(1, draws):
        x[:, t] += slope * x[:, t - 1]
    one = [array_stats.ess(x[..., j], method="mean") for j in range(9)]
    np.testing.assert_allclose(effective_size(x), one, rtol=1e-10)
    if chains > 1:
        np.testing.assert_allclose(r_hat(x), [array_stats.rhat(x[..., j]) for j in range(9)], rtol=1e-10)


def test_gates_name_what_is_not_converged():
    """One chain, too few draws, chains apart and a chain that stands still each fail with their reason."""
    good = to_tree(toy(), draws=400, chains=4)
    assert any("one chain" in r for r in check_agreement(to_tree(toy(), chains=1), toy()).reasons)
    few = check_agreement(to_tree(toy(), draws=50, chains=2), toy())
    assert any("effective sample size" in r and "below 400" in r for r in few.reasons)
    apart = good.copy(deep=True)
    apart["posterior"]["phi"].values[0, :, 1, 3] *= 2
    reasons = check_agreement(apart, toy()).reasons
    assert any(r.startswith("r_hat of phi, token 'for' in class 'spam'") for r in reasons), reasons
    still = good.copy(deep=True)
    still["posterior"]["phi"].values[:, :, 0, 0] = 0.2
    check = check_agreement(still, toy())
    assert not check.passed
    assert check.max_z == np.inf


def test_draws_are_matched_by_name():
    """Tokens in another order are compared by name; draws of other classes or tokens, or without phi, are refused."""
    swapped = to_tree(toy(), tokens=TOKENS[::-1], chains=2)
    assert check_agreement(swapped, toy()).passed
    with pytest.raises(ValueError, match="of the classes"):
        check_agreement(swapped, toy(classes=("good", "bad")))
    with pytest.raises(ValueError, match="token 'qualified', which is not in the vocabulary"):
        check_agreement(swapped, toy(tokens=[*TOKENS[:-1], "new"]))
    with pytest.raises(ValueError, match="no theta"):
        check_agreement(to_tree(toy(known=[0.5, 0.5])), toy())
    del swapped["posterior"]
    with pytest.raises(ValueError, match="no draws of phi"):
        check_agreement(swapped, toy())
