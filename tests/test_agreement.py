"""The agreement check passes right draws and fails wrong ones, each for the right reason."""

import mpmath
import numpy as np
import pytest
import xarray as xr
from arviz_stats.base import array_stats
from scipy import stats

import bayesnb
from bayesnb.checks.agreement import check_agreement
from bayesnb.checks.moments import exact_moments, normal_score
from bayesnb.events import bernoulli, categorical, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, InverseGamma
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
    """Mean, standard deviation and skewness of x, log x and (x - E x)^2 under a Beta, by numerical integration."""
    with mpmath.workdps(30):
        density = lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / mpmath.beta(a, b)  # noqa: E731
        cuts = [0, *(a / (a + b) * s for s in (1e-12, 1e-6, 1e-3, 0.1, 0.5, 1, 1.02)), 1]
        if a < b:
            cuts[-1:] = [min(1 - 1e-3, a / (a + b) * 10), 1]
        mean = lambda f: mpmath.quad(lambda x: f(x) * density(x), sorted(set(cuts)))  # noqa: E731
        m = mpmath.mpf(a) / (a + b)
        functions = {"value": lambda x: x, "log": mpmath.log, "squared deviation": lambda x: (x - m) ** 2}
        for quantity, (exact, sd, skewness) in exact_moments(Beta(a, b)).items():
            f = functions[quantity]
            first = mean(f)
            second, third = (mean(lambda x, n=n: (f(x) - first) ** n) for n in (2, 3))  # noqa: B023
            assert float(exact) == pytest.approx(float(first), rel=1e-8)
            # quadrature near 0, where x^(a-1) is singular, is good to 8 digits
            assert float(sd) == pytest.approx(float(mpmath.sqrt(second)), rel=1e-7)
            assert float(skewness) == pytest.approx(float(third / second**1.5), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.5, 4.0])
def test_moments_of_a_log_variance_are_those_of_quadrature(alpha):
    """Mean, standard deviation and skewness of y = log x and of (y - E y)^2, x inverse gamma."""
    with mpmath.workdps(30):
        law = lambda y: mpmath.exp(-alpha * y - mpmath.exp(-y)) / mpmath.gamma(alpha)  # noqa: E731
        mean = lambda f: mpmath.quad(lambda y: f(y) * law(y), [-6, -2, 0, 2, 5, 10, 20, 40, 80, 160])  # noqa: E731
        m = mean(lambda y: y)
        functions = {"log": lambda y: y, "squared deviation of log": lambda y: (y - m) ** 2}
        for quantity, found in exact_moments(InverseGamma(alpha, 1.0)).items():
            f = functions[quantity]
            first = mean(f)
            second, third = (mean(lambda y, n=n: (f(y) - first) ** n) for n in (2, 3))  # noqa: B023
            exact = [float(part) for part in (first, mpmath.sqrt(second), third / second**1.5)]
            assert [float(part) for part in found] == pytest.approx(exact, rel=1e-7)


@pytest.mark.parametrize("shape", [1.8, 5.0, 100.0, 1e6])
def test_a_skewed_score_is_worth_its_probability(shape):
    """The score of a gamma quantile is the normal quantile of the same probability; the short tail is left as it is.

    Wilson and Hilferty's cube root stays below it, by 7 % at the largest skewness that is judged (1.5) and 1e-12.
    """
    p = np.array([1e-3, 1e-5, 1e-8, 1e-12])
    z = (stats.gamma.isf(p, shape) - shape) / np.sqrt(shape)
    score = normal_score(z, np.full(4, 2 / np.sqrt(shape)))
    share = score / stats.norm.isf(p)
    assert ((share > 0.93) & (share < 1.0005)).all()
    np.testing.assert_array_equal(normal_score(-z, np.full(4, -2 / np.sqrt(shape))), -score)
    np.testing.assert_array_equal(normal_score(-z, np.full(4, 2 / np.sqrt(shape))), -z)
    np.testing.assert_array_equal(normal_score(z, np.zeros(4)), z)


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


def slow_spread(posterior, chains=2, draws=500):
    """Draws of the exact posterior of independent cells whose deviations keep their size and change their sign.

    As NUTS does on near-normal coordinates: the mean mixes at once, squares stay for some four draws.
    """
    rng = np.random.default_rng(0)
    w = rng.standard_normal((chains, draws, *posterior.phi.a.shape))
    for t in range(1, draws):
        w[:, t] = 0.75 * w[:, t - 1] + np.sqrt(1 - 0.75**2) * w[:, t]
    z = np.abs(w) * rng.choice([-1, 1], w.shape)
    phi = stats.beta.ppf(stats.norm.cdf(z), posterior.phi.a, posterior.phi.b)
    names = {"class": ["0", "1"], "token": [str(j) for j in range(phi.shape[-1])]}
    return xr.DataTree.from_dict({"/posterior": xr.Dataset({"phi": (("chain", "draw", "class", "token"), phi)}, names)})


def present(prior=1.0, tokens=300):
    """A Bernoulli posterior of many tokens, each in about half of the documents; theta known."""
    n = np.array([15 + np.arange(tokens) % 11, 10 + np.arange(tokens) % 11])
    theta = ClassPrior(known=np.array([0.5, 0.5]))
    beta = Beta(np.full(n.shape, prior), np.full(n.shape, 1.0))
    return bernoulli.Posterior(bernoulli.Prior(theta, beta), bernoulli.Statistics([40, 30], n))


def test_squares_that_mix_slowly_are_judged_by_their_own_error():
    """2 x 500 right draws, ESS above 400 for phi and between 100 and 400 for its square, pass; a prior of 2 fails."""
    posterior = present()
    check = check_agreement(slow_spread(posterior), posterior)
    least = check.table.groupby("quantity")["ess"].min()
    assert least["phi"] >= 400
    assert 100 <= least["squared deviation"] < 400
    assert check.passed, str(check)
    assert any("means are off" in reason for reason in check_agreement(slow_spread(present(2.0)), posterior).reasons)


def large(prior, v=3000):
    """Two classes of heavy-tailed counts, most tokens never seen."""
    n = np.random.default_rng(0).multinomial(20_000, 1 / np.arange(1, v + 1) / (1 / np.arange(1, v + 1)).sum(), 2)
    theta = ClassPrior(concentration=np.ones(2))
    return multinomial.Posterior(multinomial.Prior(theta, np.full((2, v), prior)), multinomial.Statistics([5, 5], n))


def test_few_draws_of_many_tokens_pass_where_right_and_fail_where_the_prior_is_shifted():
    """18,000 comparisons of 2 x 500 exact draws; the prior 1.1 in place of 1 is found."""
    right = large(1.0)
    tree = to_tree(right, draws=500, chains=2)
    check = check_agreement(tree, right)
    assert check.passed, str(check)
    assert any("means are off" in reason for reason in check_agreement(tree, large(1.1)).reasons)


def test_small_concentrations_are_compared_where_draws_can_tell():
    """0.01: logarithms of draws that underflow are left out, exact draws pass, those of 0.04 fail; 1e-6: refused."""

    def small(prior):
        return toy(prior=prior, counts=([9, 0] * 7, [0, 9] * 7))

    check = check_agreement(to_tree(small(0.01)), small(0.01))
    assert check.passed, str(check)
    assert (check.table["quantity"] == "log phi").sum() == 14
    assert (check.table["quantity"] == "phi").sum() == 28
    assert not check_agreement(to_tree(small(0.04)), small(0.01)).passed
    with pytest.raises(ValueError, match=r"of phi, token 'coffee' in class 'ham' is so small .* a larger prior"):
        check_agreement(to_tree(small(1e-6)), small(1e-6))


def test_cells_that_are_constant_are_not_compared_but_must_be_one():
    """A column of one category, one token, one class; draws of it other than 1 fail; nothing at all is an error."""
    block, theta = np.array([0, 1, 1]), ClassPrior(concentration=np.ones(2))
    totals = categorical.Statistics([2, 3], [[2, 1, 1], [3, 0, 3]], block)
    posterior = categorical.Posterior(categorical.Prior(theta, np.ones((2, 3)), block), totals)
    tree = to_tree(posterior)
    check = check_agreement(tree, posterior)
    assert check.passed, str(check)
    assert set(check.table["token"]) == {"", "1=0", "1=1"}
    tree["posterior"]["phi"].values[0, 0, 0, 0] = 0.5
    assert "not 1" in str(check_agreement(tree, posterior))
    one = bayesnb.MultinomialNB().fit([[1], [2]], [0, 1])
    assert set(check_agreement(to_tree(one), one).table["parameter"]) == {"theta"}
    alone = bayesnb.MultinomialNB().fit([[1], [2]], [0, 0])
    with pytest.raises(ValueError, match="nothing to compare"):
        check_agreement(to_tree(alone), alone)


def test_draws_that_no_posterior_has_fail_in_words():
    """NaN and negative probabilities are named as such, without a warning of NumPy's."""
    for value, words in ((np.nan, "1 draws of phi are not finite numbers"), (-0.1, "1 draws of phi are no probab")):
        tree = to_tree(toy(), draws=300)
        tree["posterior"]["phi"].values[0, 0, 0, 0] = value
        assert words in str(check_agreement(tree, toy()))


def test_what_are_no_draws_of_this_posterior_is_refused():
    """Another container, event model, dimensions, a theta that is known, and parameters without posterior."""
    tree = to_tree(toy(), draws=20)
    with pytest.raises(ValueError, match=r"expected as the xarray.DataTree that sample returns .* got str"):
        check_agreement("draws.nc", toy())
    with pytest.raises(ValueError, match="draws are of a multinomial posterior, this one is bernoulli"):
        check_agreement(tree, presence())
    with pytest.raises(ValueError, match=r"dimensions .*'word'.*expected chain, draw, class and token"):
        check_agreement(
            xr.DataTree.from_dict({"/posterior": tree["posterior"].to_dataset().rename({"token": "word"})}), toy()
        )
    with pytest.raises(ValueError, match="hold theta, which is known in this posterior"):
        check_agreement(tree, toy(known=[0.5, 0.5]))
    rows = [[0.0], [1.0], [2.0], [4.0]]
    drawn = to_tree(bayesnb.GaussianNB(prior="weak").fit(rows, [0, 0, 1, 1]), draws=20)
    with pytest.raises(ValueError, match="only estimates its parameters, without a prior"):
        check_agreement(drawn, bayesnb.GaussianNB().fit(rows, [0, 0, 1, 1]))


def test_too_few_draws_are_not_said_to_differ():
    """What only the gates stop is not called a disagreement."""
    assert "too few or too unlike to be said to agree" in str(check_agreement(to_tree(toy(), draws=50), toy()))
    assert "do not agree" in str(check_agreement(to_tree(toy(prior=3.0)), toy()))
