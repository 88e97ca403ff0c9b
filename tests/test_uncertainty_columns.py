"""The law of class probabilities for rows of categories and of measurements, against quadrature and exact draws."""

from functools import cache
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, special, stats

from bayesnb import BernoulliNB, CategoricalNB, GaussianNB, NormalInverseGamma
from bayesnb.events import gaussian
from bayesnb.events.theta import ClassPrior
from bayesnb.uncertainty import class_probability_interval, explain, log_odds_cumulants, probability_largest, quantiles
from bayesnb.uncertainty.classlaw import read
from bayesnb.uncertainty.inversion import LogGammaSum, upper_tail
from bayesnb.uncertainty.normalsum import NormalSum
from tests.test_uncertainty import _assert_binomial, _k_statistics

DRAWS = 20_000


def colours(classes=2, rows=14, seed=3):
    """Rows of codes in columns of 2, 3, 4 and 1 categories, all of which occur, and labels."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, [2, 3, 4, 1], (rows, 4))
    X[:4] = np.minimum(np.arange(4)[:, None], [1, 2, 3, 0])
    return X, np.arange(rows) % classes


def flowers(classes=2, rows=14, columns=3, seed=3):
    """Measurements of several scales, and labels."""
    rng = np.random.default_rng(seed)
    y = np.arange(rows) % classes
    return (rng.normal(size=(rows, columns)) + 0.7 * y[:, None]) * 10.0 ** np.arange(columns), y


def categorical(classes=2, **given_):
    X, y = colours(classes)
    clf = CategoricalNB(**given_).fit(X, y)
    return clf.posterior_, clf._counts(X[:6], clf._fitted)


def measured(classes=2, **given_):
    X, y = flowers(classes)
    asked = X[:7].copy()
    asked[1, 0] = asked[2, :2] = asked[3] = np.nan
    asked[4] *= 4  # far from every class
    return GaussianNB(**({"prior": "weak", "missing": "ignore"} | given_)).fit(X, y).posterior_, asked


MODELS = {
    "categorical": categorical,
    "categorical, mean": lambda classes=2: categorical(classes, estimate="mean", alpha=0.5),
    "categorical, known theta": lambda classes=2: categorical(classes, class_prior=np.full(classes, 1 / classes)),
    "gaussian": measured,
    "gaussian, own prior": lambda classes=2: measured(classes, prior=NormalInverseGamma([0, 1, 2], 0.3, 0.8, 2)),
    "gaussian, known theta": lambda classes=2: measured(classes, class_prior=np.full(classes, 1 / classes)),
}
models = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


def drawn_scores(posterior, X, draws=DRAWS, power=1.0, seed=11):
    """Log theta_k + power log p(x | parameters of k) at the exact draws of `posterior.draw`, (draws, n, K)."""
    drawn = {name: np.concatenate(value) for name, value in posterior.draw(draws // 4, 4, seed).items()}
    theta = np.log(drawn["theta"])[:, None]
    if posterior.event == "categorical":
        return theta + power * np.einsum("nv,dkv->dnk", X.toarray(), np.log(drawn["phi"]))
    total = np.zeros((draws, *theta.shape[2:] * 0, len(X), theta.shape[2]))
    for i, x in enumerate(X):
        known = ~np.isnan(x)
        mu, sigma2 = (drawn[name][..., known] for name in ("mu", "sigma2"))
        total[:, i] = stats.norm.logpdf(x[known], mu, np.sqrt(sigma2)).sum(-1)
    return theta + power * total


# --- cumulants and transforms -----------------------------------------------------------------------------------


@models
def test_cumulants_match_exact_draws(make):
    """Mean, variance, third and fourth cumulant agree with 40,000 exact draws within 5 standard errors."""
    posterior, X = make()
    exact = log_odds_cumulants(posterior, X[:4], 1, 0, power=0.7)
    scores = drawn_scores(posterior, X[:4], 40_000, power=0.7)
    odds = scores[..., 1] - scores[..., 0]
    blocks = np.stack([_k_statistics(block) for block in np.split(odds, 40)])
    error = blocks.std(0, ddof=1).T / np.sqrt(40)
    # a row of nothing under a known theta is a constant, and its k-statistics are rounding
    z = (blocks.mean(0).T - exact) / np.maximum(error, 1e-10)
    # third and fourth k-statistics of a heavy tail are themselves far from normal: means and variances are judged there
    judged = slice(None) if posterior.event == "categorical" else slice(2)
    assert np.abs(z[:, judged]).max() < 5, z


CELLS = [
    (1.5, 1.0, 0.01, 0.0),
    (2.0, 1.0, 1.01, 3.0),
    (30.0, 20.0, 60.0, 0.8),
    (3.0, 2.0, 1000.0, 0.1),
    (0.7, 4.0, 0.5, 9.0),
]


def one_cell(alpha, beta, kappa, d, theta=(1.0,)):
    """Posterior of one column whose value lies d from m, and the value."""
    k = len(theta)
    parts = (np.broadcast_to(part, (k, 1)) for part in (-0.5, kappa, alpha, beta))
    none = gaussian.Statistics(np.zeros(k), *np.zeros((3, k, 1)))
    prior = gaussian.Prior(ClassPrior(known=np.array(theta)), NormalInverseGamma(*parts))
    return gaussian.Posterior(prior, none), np.array([[d - 0.5]])


def laid_out(cell):
    """Log density on a grid of log tau and of the standardised mean, and the posterior probability of each point.

    The trapezoidal rule converges geometrically for these integrands, which vanish at both ends.
    """
    alpha, beta, kappa, d = cell
    u, z = np.linspace(-38 / alpha - 10 / np.sqrt(alpha), 5, 1201) + np.log(alpha / beta), np.linspace(-13, 13, 1301)
    y = u[:, None] / 2 - np.log(2 * np.pi) / 2 - (d * np.exp(u / 2)[:, None] - z / np.sqrt(kappa)) ** 2 / 2
    of_tau = np.exp(alpha * (u + np.log(beta)) - beta * np.exp(u) - special.gammaln(alpha)) * (u[1] - u[0])
    return y, of_tau, np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * (z[1] - z[0])


@pytest.mark.parametrize("cell", CELLS)
def test_cumulants_of_a_log_density_are_those_of_its_moments(cell):
    """Six cumulants from the mean and central moments by quadrature over mu and tau."""
    posterior, x = one_cell(*cell)
    y, of_tau, of_mu = laid_out(cell)
    assert of_tau.sum() * of_mu.sum() == pytest.approx(1, rel=1e-12)
    mean = of_tau @ y @ of_mu
    m2, m3, m4, m5, m6 = (of_tau @ (y - mean) ** m @ of_mu for m in range(2, 7))
    fifth, sixth = m5 - 10 * m3 * m2, m6 - 15 * m4 * m2 - 10 * m3**2 + 30 * m2**3
    exact = read(posterior, x, 1.0).score_cumulants(6)[0, :, 0]
    # where the law is near normal the sixth is a difference of moments a thousand times as large
    np.testing.assert_allclose(exact, [mean, m2, m3, m4 - 3 * m2**2, fifth, sixth], rtol=1e-8)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("s", [0.4 + 1.3j, 2 - 0.5j, -0.004 + 0.3j])
def test_the_transform_is_the_integral_over_mu_and_tau(cell, s):
    """E[p(x | mu, sigma2)^s] for complex s by quadrature over mu and tau."""
    posterior, x = one_cell(*cell)
    y, of_tau, of_mu = laid_out(cell)
    law = read(posterior, x, 1.0).terms(np.array([0]), 0).take(np.array([0]))
    found = np.exp(law.transform()(np.array([s]), np.zeros(1)))[0, 0]
    assert found == pytest.approx(of_tau @ np.exp(s * y) @ of_mu, rel=1e-9)


@pytest.mark.parametrize("cell", CELLS[1:])
def test_tails_of_a_log_density_match_the_noncentral_chi_square(cell):
    """P(Y > q) as the integral over tau of a noncentral chi-square probability, on both sides and far out."""
    alpha, beta, kappa, d = cell
    posterior, x = one_cell(*cell)
    documents = read(posterior, x, 1.0)
    mean, variance = documents.score_cumulants(2)[0, :, 0]
    law, sd = documents.terms(np.array([0]), 0), np.sqrt(variance)
    for z in (-3.0, -1.0, 0.3, 0.9):
        q = mean + z * sd

        def at(u, q=q):
            room = u - np.log(2 * np.pi) - 2 * q
            inside = stats.ncx2.cdf(max(room, 0.0) * kappa, 1, kappa * d * d * np.exp(u)) if room > 0 else 0.0
            return inside * np.exp(alpha * (u + np.log(beta)) - beta * np.exp(u) - special.gammaln(alpha))

        middle, start = np.log(alpha / beta), np.log(2 * np.pi) + 2 * q
        ends = [start, *(p for p in middle + np.array([-3, 0, 2]) / np.sqrt(alpha) if p > start), middle + 9]
        pieces = [integrate.quad(at, a, b, epsabs=1e-13, epsrel=1e-11)[0] for a, b in pairwise(ends)]
        expected, point = sum(pieces), np.array([q])
        if z > 0:
            found = upper_tail(law, point, np.array([mean]), np.array([sd]))[0]
        else:
            found, expected = upper_tail(law.negated(), -point, -np.array([mean]), np.array([sd]))[0], 1 - expected
        # the rule's own error is 1.5e-8 of a tail; at the sharp upper end of a law with kappa << 1 the taper adds to it
        assert found == pytest.approx(expected, abs=1e-8 if kappa > 0.9 else 2e-5)


@pytest.mark.parametrize("columns", [8, 60, 600, 4000])
@pytest.mark.parametrize("z", [1, 2, 3, 4.5, 6])
def test_the_aliases_of_long_tails_are_outrun(columns, z):
    """Chi-square variates, the energies about a known variance: at 300 degrees the rate alone tells too little."""
    none, ones = np.empty(0), np.ones(columns)
    nothing = LogGammaSum(none.astype(int), none, none, none, np.zeros(1), (none, none, none))
    law = NormalSum(nothing, np.zeros(columns, int), ones, ones, 0 * ones, -ones)
    mean, sd = np.array([columns / 2]), np.sqrt([columns / 2])
    found = upper_tail(law, mean + z * sd, mean, sd)[0]
    # the midpoint rule's first alias is exp(-18) = 1.5e-8 of the tail
    assert found == pytest.approx(special.gammaincc(columns / 2, mean[0] + z * sd[0]), rel=1.5e-8)


# --- intervals ---------------------------------------------------------------------------------------------------


def outside(posterior, X, level=0.95, power=1.0):
    """Shares of exact draws below and above the interval, in standard errors from the tail's probability."""
    ends = class_probability_interval(posterior, X, level, power)
    scores = drawn_scores(posterior, X, power=power)
    tail, worst = (1 - level) / 2, 0.0
    error = np.sqrt(tail * (1 - tail) / len(scores))
    for k in range(scores.shape[2]):
        odds = scores[..., k] - special.logsumexp(np.delete(scores, k, axis=2), axis=2)
        low, high = special.logit(ends[:, k, 0]), special.logit(ends[:, k, 1])
        kept = (ends[:, k, 1] < 1 - 1e-9) & (high > low)  # beyond, or in a constant, there are no odds to compare
        z = np.stack([(odds < low).mean(0) - tail, (odds > high).mean(0) - tail]) / error
        worst = max(worst, np.abs(z[:, kept]).max(initial=0.0))
    return worst


@models
@pytest.mark.parametrize("classes", [2, 3])
def test_ends_match_exact_draws(make, classes):
    """Within 5 standard errors of 20,000 draws, with rows that miss some or all columns and rows far out."""
    posterior, X = make(classes)
    assert outside(posterior, X) < 5
    assert outside(posterior, X, level=0.6, power=0.5) < 5


@models
@pytest.mark.parametrize("classes", [2, 3])
def test_probability_largest_matches_exact_draws(make, classes):
    """Shares of 20,000 exact draws in which each class leads, within 5 standard errors and the lattice's 0.002."""
    posterior, X = make(classes)
    largest = probability_largest(posterior, X)
    np.testing.assert_allclose(largest.sum(1), 1, rtol=1e-12)
    leads = drawn_scores(posterior, X).argmax(2)
    share = np.stack([(leads == k).mean(0) for k in range(classes)], axis=1)
    spread = np.ptp(class_probability_interval(posterior, X), axis=2).max(axis=1) > 0  # else a certain tie
    assert (np.abs(share - largest) < 0.002 + 5 * np.sqrt(largest * (1 - largest) / DRAWS))[spread].all()


@given(st.integers(0, 2**32), st.sampled_from([0.05, 0.5, 1.0, 4.0]), st.floats(0.05, 0.99))
@settings(max_examples=25, deadline=None)
def test_columns_of_two_categories_are_a_bernoulli_model(seed, alpha, level):
    """The same intervals and leading classes as BernoulliNB, whose law is written in other terms."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, (9, 5)), np.arange(9) % 2
    given_ = {"alpha": alpha, "estimate": "mean"}
    one, two = CategoricalNB(min_categories=2, **given_).fit(X, y), BernoulliNB(**given_).fit(X, y)
    # each inverts its transform along a line of its own, right to 1e-6 of the tail: they differ by twice that at most
    np.testing.assert_allclose(one.predict_interval(X, level), two.predict_interval(X, level), rtol=2e-6, atol=1e-300)
    laws = [probability_largest(clf.posterior_, clf._counts(X, clf._fitted)) for clf in (one, two)]
    np.testing.assert_allclose(*laws, rtol=2e-6, atol=1e-12)
    cumulants = [log_odds_cumulants(clf.posterior_, clf._counts(X, clf._fitted), 0, 1) for clf in (one, two)]
    # a concentration of 0.05 has a fourth cumulant of 1e6, which the Bernoulli tables add and take away
    np.testing.assert_allclose(*cumulants, rtol=1e-9, atol=1e-8)


@given(st.integers(0, 2**32), st.floats(0.02, 0.98), st.integers(2, 3))
@settings(max_examples=8, deadline=None)
def test_intervals_are_free_of_units_and_of_the_order_of_columns_and_classes(seed, level, classes):
    """Shifted, stretched and permuted measurements under "weak", and classes in another order."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(10, 3)), np.arange(10) % classes
    asked = rng.normal(size=(4, 3)) * 2
    order, back = rng.permutation(3), rng.permutation(classes)
    stretch, shift = 10.0 ** rng.integers(-6, 6, 3), rng.integers(-3, 3, 3)
    turn = lambda values: (values * stretch + shift * stretch)[:, order]  # noqa: E731
    clf = GaussianNB(prior="weak").fit(X, y)
    other = GaussianNB(prior="weak").fit(turn(X), back[y])
    expected = clf.predict_interval(asked, level)
    # rounding of the shifted values, 1e-15 of at most 4 standard deviations, and Newton's last step
    np.testing.assert_allclose(other.predict_interval(turn(asked), level)[:, back], expected, rtol=1e-8)


@given(st.integers(0, 2**32))
@settings(max_examples=15, deadline=None)
def test_intervals_nest(seed):
    """A higher level contains the lower one, from one document a class on and for rows far out."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 20))
    X, y = rng.normal(size=(rows, 2)), np.arange(rows) % 2
    posterior = GaussianNB(prior="weak").fit(X, y).posterior_
    asked = rng.normal(size=(3, 2)) * [[1], [5], [50]]
    narrow, wide = (class_probability_interval(posterior, asked, level) for level in (0.7, 0.9))
    assert np.isfinite(wide).all() and (wide >= 0).all() and (wide <= 1).all()
    assert (wide[..., 0] <= narrow[..., 0]).all() and (narrow[..., 0] <= narrow[..., 1]).all()
    assert (narrow[..., 1] <= wide[..., 1]).all()


@pytest.mark.parametrize("level", [0.5, 0.95, 1 - 1e-9])
def test_a_row_of_nothing_has_the_law_of_theta(level):
    """Unseen categories and missing cells drop out, and theta's quantiles are a Beta's."""
    nothing = CategoricalNB().fit([["a", 0], ["b", 1], ["b", 2]], [0, 1, 1]).predict_interval([["z", 9]], level)
    blank = GaussianNB(prior="weak", missing="ignore").fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    expected = [
        [f(a, b, (1 - level) / 2) for f in (special.betaincinv, special.betainccinv)] for a, b in ((2, 3), (3, 2))
    ]
    np.testing.assert_allclose(nothing[0], expected, rtol=1e-6)
    np.testing.assert_allclose(blank.predict_interval([[np.nan]], level)[0], expected, rtol=1e-6)


def test_many_documents_leave_the_plug_in():
    """Ten thousand million a class: the interval closes on the plug-in probability, and does not vanish."""
    X, y = flowers(rows=40)
    base = GaussianNB(prior="weak").fit(X, y).posterior_
    n = base.statistics
    many = gaussian.Statistics(n.class_count * 1e9, n.n * 1e9, n.mean, n.M2 * 1e9)
    codes, labels = colours()
    clf = CategoricalNB().fit(np.vstack([codes, 1 - (codes > 0)]), np.concatenate([labels, 1 - labels]))
    totals = clf.posterior_.statistics
    more = type(totals)(totals.class_count * 1e9, (totals.feature_count + 1) * 1e8, totals.block, None, totals.columns)
    for posterior, asked in (
        (gaussian.Posterior(base.prior, many), X),
        (type(clf.posterior_)(clf.posterior_.prior, more), clf._counts(codes, clf._fitted)),
    ):
        ends, p = class_probability_interval(posterior, asked), np.exp(posterior.log_proba(asked))
        # standard deviations below sqrt(3 columns (2 + squared distance)/1e10) = 1e-4
        np.testing.assert_allclose(ends, np.repeat(p[..., None], 2, axis=2), rtol=1e-3)
        assert (ends[..., 0] < ends[..., 1]).all()


@pytest.mark.parametrize("columns", [1, 3, 12])
@pytest.mark.parametrize("rows", [6, 60, 600, 4000])
def test_cornish_fisher_error_is_within_its_promise(columns, rows):
    """The tail at its quantile is no more wrong than is said, and within 3 % where it is trusted."""
    X, y = flowers(rows=rows, columns=columns, seed=columns)
    documents = read(GaussianNB(prior="weak", class_prior=[0.5, 0.5]).fit(X, y).posterior_, X[:60] * 1.5, 1.0)
    every, trusted = np.arange(documents.X.shape[0]), 0
    scores = documents.score_cumulants(documents.orders)[:, :, 0], documents.terms(every, 0)
    odds = documents.difference_cumulants(0, 1, documents.orders), documents.terms(every, 0, 1)
    for (kappa, law), z in product((scores, odds), (0.7, 1.96, 3.3, 4.3)):
        mean, sd, m = kappa[:, 0], np.sqrt(kappa[:, 1]), quantiles.departure(kappa)
        point = mean + sd * quantiles.cornish_fisher(z, *quantiles.standardised(kappa))
        wrong = np.abs(upper_tail(law, point, mean, sd) / special.ndtr(-z) - 1)
        told = quantiles.relative_error(z, m)
        assert (wrong <= told + 1e-7)[told < 0.3].all()  # the exact tail is right to some 1e-8
        held = quantiles.trusted(z, m)
        assert (wrong[held] <= 0.03).all()
        trusted += held.sum()
    assert trusted > 100 or rows < 4000


@pytest.mark.parametrize(("alpha", "ratio", "d"), [(300, 10, 1.0), (3000, 0.1, 0.0), (3000, 10, 1.0), (3000, 100, 1.0)])
def test_a_score_whose_third_cumulant_vanishes_is_not_called_normal(alpha, ratio, d):
    """Parts of mean and variance cancel in the third cumulant, not in the fifth: the promise holds there too."""
    documents = read(*one_cell(alpha, alpha, 2 * alpha * ratio, d), 1.0)
    kappa, law = documents.score_cumulants(documents.orders)[:, :, 0], documents.terms(np.array([0]), 0)
    mean, sd = kappa[:, 0], np.sqrt(kappa[:, 1])
    for z in (0.7, 1.96, 3.3, 4.3):
        told = quantiles.relative_error(z, quantiles.departure(kappa))
        point = mean + sd * quantiles.cornish_fisher(z, *quantiles.standardised(kappa))
        assert np.abs(upper_tail(law, point, mean, sd) / special.ndtr(-z) - 1) <= told + 1e-7


@cache
def covered(corpora, seed):
    """How many corpora drawn from the prior have 80 % intervals that hold the true class probability of a row."""
    rng, hits, x = np.random.default_rng(seed), 0, np.array([[0.3, -1.0]])
    prior = NormalInverseGamma(0, 1, 2, 1)
    for _ in range(corpora):
        theta, (mu, sigma2) = rng.dirichlet([1, 1]), prior.broadcast_to((2, 2)).draw(rng)
        y = rng.choice(2, 8, p=theta)
        X = rng.normal(mu[y], np.sqrt(sigma2[y]))
        posterior = GaussianNB(prior=prior).partial_fit(X, y, classes=[0, 1]).posterior_
        low, high = class_probability_interval(posterior, x, 0.8)[0, 1]
        density = stats.norm.logpdf(x, mu, np.sqrt(sigma2)).sum(-1)
        hits += low <= special.expit(np.log(theta[1] / theta[0]) + density[1] - density[0]) <= high
    return hits


def test_intervals_cover_at_their_level():
    """Over 400 corpora drawn from the prior, 80 % intervals hold the truth as often as a binomial may."""
    _assert_binomial(covered(400, 1), 400, 0.8)


# --- explanations ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["categorical", "gaussian"])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive", "mle"])
def test_contributions_sum_to_the_score(event, estimate):
    """Rows add up to the difference of the joint log probabilities of predicted class and runner-up."""
    if event == "categorical":
        clf = CategoricalNB().fit(*colours(3, rows=90))  # every category in every class, so that the mle is finite
        posterior, X = clf.posterior_, clf._counts(np.vstack([colours()[0], [[1, 7, 7, 0]]]), clf._fitted)
    else:
        posterior, X = measured(3)
    for i in range(X.shape[0]):
        table = explain(posterior, X[[i]], estimate, 0.8)
        joint = np.sort(posterior.log_joint(X[[i]], estimate, 0.8)[0])
        np.testing.assert_allclose(table["contribution"].sum(), joint[-1] - joint[-2], rtol=1e-11, atol=1e-11)
        assert table.index.name == "column" and table.index[0] == "(class prior)"
        assert (table["lower"] <= table["upper"]).all()


@pytest.mark.parametrize("name", ["categorical", "gaussian"])
def test_explained_intervals_match_exact_draws(name):
    """Of each column: shares of 20,000 draws beyond each end within 5 standard errors."""
    posterior, X = MODELS[name]()
    x = X[[0]]
    table = explain(posterior, x, classes=[1, 0], level=0.9)
    drawn = {part: np.concatenate(value) for part, value in posterior.draw(DRAWS // 4, 4, 5).items()}
    if name == "categorical":
        density = np.log(drawn["phi"])[..., x.indices]
    else:
        density = stats.norm.logpdf(x, drawn["mu"], np.sqrt(drawn["sigma2"]))
    parts = np.concatenate([np.log(drawn["theta"])[:, :, None], density], axis=2)
    odds = parts[:, 1] - parts[:, 0]
    spread = (table["upper"] > table["lower"]).to_numpy()
    assert spread.sum() == 4  # the last column of the categories has but one
    below, above = (odds < table["lower"].to_numpy()).mean(0), (odds > table["upper"].to_numpy()).mean(0)
    error = 5 * np.sqrt(0.05 * 0.95 / DRAWS)
    assert np.abs(below - 0.05)[spread].max() < error and np.abs(above - 0.05)[spread].max() < error


def test_swapping_the_named_classes_turns_the_signs():
    """Named the other way round, contributions and intervals are mirrored."""
    for make in (categorical, measured):
        posterior, X = make()
        one, two = (explain(posterior, X[[0]], classes=c) for c in ([0, 1], [1, 0]))
        np.testing.assert_allclose(one["contribution"], -two["contribution"], rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(one["lower"], -two["upper"], rtol=1e-6, atol=1e-12)


# --- edges -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1e6, 1e9, 1e12, 1e15, 1e18])
def test_an_all_but_certain_category_keeps_its_digits(n):
    """Seen n and 3n times in two classes, and 0.001 times not: log phi is -Gamma(2.001)/n, but for a share of 1/n."""
    clf = CategoricalNB(class_prior=[0.5, 0.5]).fit([[0], [1], [0], [1]], [0, 0, 1, 1], [n, 1e-3, 3 * n, 1e-3])
    documents = read(clf.posterior_, clf._counts([[0]], clf._fitted), 1.0)
    kappa = documents.difference_cumulants(0, 1, 2)[0] * [n, n * n]
    np.testing.assert_allclose(kappa, [-2.001 * 2 / 3, 2.001 * 10 / 9], rtol=1e-5)
    low, high = clf.predict_interval([[0]])[0, 0]
    assert low <= 0.5 <= high and high - low <= 4 / n + 1e-15
    if n <= 1e12:  # the probability itself, 0.5 + odds/4, is then far from its rounding
        g = np.random.default_rng(2).gamma(2.001, size=(2, DRAWS))
        odds = (g[1] / 3 - g[0]) / n
        error = 5 * np.sqrt(0.025 * 0.975 / DRAWS)
        assert (
            abs((odds < 4 * (low - 0.5)).mean() - 0.025) < error
            and abs((odds > 4 * (high - 0.5)).mean() - 0.025) < error
        )


def test_values_beyond_floating_point_are_refused_by_row():
    """1e200 standard deviations out the moments overflow: an error, never a NaN."""
    posterior = GaussianNB(prior="weak").fit(*flowers()).posterior_
    for call in (class_probability_interval, probability_largest, lambda p, X: log_odds_cumulants(p, X, 0, 1)):
        with pytest.raises(ValueError, match="row 1 lies so far from a class"):
            call(posterior, [[0.0, 0, 0], [1e200, 0, 0]])


def test_a_class_known_to_be_impossible_has_probability_0():
    """The other classes are as if it did not exist."""
    X, y = flowers(3)
    whole = GaussianNB(prior=NormalInverseGamma(0, 1, 2, 1), class_prior=[0, 0.4, 0.6]).fit(X, y)
    part = GaussianNB(prior=NormalInverseGamma(0, 1, 2, 1), class_prior=[0.4, 0.6]).fit(X[y > 0], y[y > 0])
    ends = whole.predict_interval(X)
    assert not ends[:, 0].any()
    np.testing.assert_array_equal(ends[:, 1:], part.predict_interval(X))


def test_an_event_model_without_a_law_says_so():
    """A posterior of some other kind is refused in one line that lists those that have one."""

    class Other:
        event = "poisson"

    with pytest.raises(
        ValueError, match=r"'poisson' has no law of log-odds here; those of multinomial, .*gaussian have"
    ):
        class_probability_interval(Other(), [[1.0]])
