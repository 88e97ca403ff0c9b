"""The law of class probabilities over the posterior: cumulants, intervals, the leading class, explanations."""

from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, special

from bayesnb.model import Settings, State
from bayesnb.special import log_gamma_draw
from bayesnb.uncertainty import class_probability_interval, explain, log_odds_cumulants, probability_largest, quantiles
from bayesnb.uncertainty.classlaw import ClassLaw, read
from bayesnb.uncertainty.inversion import upper_tail

EVENTS = ("multinomial", "bernoulli")


def fitted(event, X, y, **given):
    """Posterior of a small corpus under the estimators' settings."""
    model = Settings(event=event, **given)
    X = np.asarray(X, float)
    return model.posterior(State.learn(event, model.documents(X), np.asarray(y), np.arange(X.shape[1])))


def corpus(classes=2, documents=12, tokens=5, seed=3):
    """Counts and labels, every class with at least two documents."""
    rng = np.random.default_rng(seed)
    return rng.poisson(1.2, (documents, tokens)).astype(float), np.arange(documents) % classes


def drawn_scores(posterior, X, draws, seed=11, power=1.0):
    """Exact posterior draws of log theta_k + power log p(x | phi_k), (draws, n, K)."""
    rng = np.random.default_rng(seed)
    X = posterior._document(X)
    parts = []
    for size in np.diff(np.linspace(0, draws, draws // 500 + 1).astype(int)):
        log_theta, base = posterior.theta.draw(rng, (size,), log=True), 0.0
        if posterior.event == "multinomial":
            log_phi = posterior.phi.draw(rng, (size,), log=True)
        else:  # log phi - log(1 - phi) and log(1 - phi) from two gammas, for 1 - phi rounds to 0
            shape = (size, *posterior.phi.a.shape)
            present, absent = (log_gamma_draw(rng, c, shape) for c in (posterior.phi.a, posterior.phi.b))
            log_phi, base = present - absent, (absent - np.logaddexp(present, absent)).sum(-1)[:, None]
        k, v = log_phi.shape[1:]
        score = (X @ log_phi.reshape(-1, v).T).reshape(-1, size, k).transpose(1, 0, 2)
        parts.append(log_theta[:, None] + power * (score + base))
    return np.concatenate(parts)


def outside(posterior, X, level=0.95, draws=20_000, power=1.0):
    """Shares of exact draws below and above the interval, in standard errors from the tail's probability."""
    ends = class_probability_interval(posterior, X, level, power)
    scores = drawn_scores(posterior, X, draws, power=power)
    tail = (1 - level) / 2
    error = np.sqrt(tail * (1 - tail) / draws)
    worst = []
    for k in range(scores.shape[2]):
        others = special.logsumexp(np.delete(scores, k, axis=2), axis=2)
        odds = scores[..., k] - others
        with np.errstate(divide="ignore"):
            low, high = (np.log(e) - np.log1p(-e) for e in (ends[:, k, 0], ends[:, k, 1]))
        # where the probability itself is 0 or 1 to double precision there are no odds left to compare
        kept = (ends[:, k, 0] > 1e-300) & (ends[:, k, 1] < 1 - 1e-9)
        z = np.stack([(odds < low).mean(0) - tail, (odds > high).mean(0) - tail]) / error
        worst.append(np.abs(z[:, kept]).max(initial=0.0))
    return max(worst)


# --- cumulants ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("given_", [{}, {"class_prior": [0.3, 0.7]}, {"estimate": "mean", "alpha": 0.5}])
def test_cumulants_match_exact_draws(event, given_):
    """Mean, variance, third and fourth cumulant agree with 40,000 exact draws within 5 standard errors."""
    X, y = corpus()
    posterior = fitted(event, X, y, **given_)
    power = 0.7
    exact = log_odds_cumulants(posterior, X[:4], 1, 0, power=power)
    scores = drawn_scores(posterior, X[:4], 40_000, power=power)
    odds = scores[..., 1] - scores[..., 0]
    blocks = np.stack([_k_statistics(block) for block in np.split(odds, 40)])  # (blocks, 4, n)
    z = (blocks.mean(0).T - exact) / (blocks.std(0, ddof=1).T / np.sqrt(40))
    assert np.abs(z).max() < 5, z


def _k_statistics(odds):
    """Unbiased estimates of the first four cumulants (Fisher's k-statistics), so that blocks may be averaged."""
    n = len(odds)
    d = odds - odds.mean(0)
    s2, s3, s4 = ((d**m).sum(0) for m in (2, 3, 4))
    k4 = n * n * ((n + 1) * s4 / n - 3 * (n - 1) * (s2 / n) ** 2) / ((n - 1) * (n - 2) * (n - 3))
    return np.stack([odds.mean(0), s2 / (n - 1), n * s3 / ((n - 1) * (n - 2)), k4])


@pytest.mark.parametrize("event", EVENTS)
def test_cumulants_are_derivatives_of_the_log_moment_integral(event):
    """With theta known, cumulants are the derivatives of log E[odds^s] computed by quadrature over the Betas."""
    X, y = np.array([[2.0, 1], [0, 3], [1, 0], [1, 2]]), [0, 1, 0, 1]
    posterior = fitted(event, X, y, class_prior=[0.4, 0.6])
    x = np.array([[2.0, 0]])
    exact = log_odds_cumulants(posterior, x, 0, 1)[0]

    def log_moment(s):
        total = s * mpmath.log(mpmath.mpf("0.4") / mpmath.mpf("0.6"))
        for k, sign in ((0, 1), (1, -1)):
            total += mpmath.log(_moment(posterior, k, x[0], sign * s))
        return total

    with mpmath.workdps(30):
        numeric = [float(mpmath.diff(log_moment, 0, m, h=mpmath.mpf("1e-4"))) for m in range(1, 5)]
    # a difference quotient of step h = 1e-4 is right to some h^2 times the cumulants, here within 1e-6
    np.testing.assert_allclose(exact, numeric, rtol=1e-6)


def _moment(posterior, k, x, s):
    """E[p(x | phi_k)^s] by quadrature: the two cells of a Dirichlet, or each Beta by itself."""
    if posterior.event == "multinomial":
        a, b = (float(c) for c in posterior.phi.concentration[k])
        return _beta_moment(a, b, s * float(x[0]), s * float(x[1]))
    result = mpmath.mpf(1)
    for a, b, present in zip(posterior.phi.a[k], posterior.phi.b[k], x > 0, strict=True):
        result *= _beta_moment(float(a), float(b), s * float(present), s * float(not present))
    return result


@cache
def _beta_moment(a, b, p, q):
    density = mpmath.quad(lambda u: u ** (a - 1) * (1 - u) ** (b - 1), [0, 0.5, 1])
    return mpmath.quad(lambda u: u ** (a - 1 + p) * (1 - u) ** (b - 1 + q), [0, 0.5, 1]) / density


def test_known_theta_is_a_constant():
    """A known class prior moves the mean by its log ratio and leaves the other cumulants alone."""
    X, y = corpus()
    one, two = (fitted("multinomial", X, y, class_prior=p) for p in ([0.5, 0.5], [0.2, 0.8]))
    difference = log_odds_cumulants(two, X, 0, 1) - log_odds_cumulants(one, X, 0, 1)
    np.testing.assert_allclose(difference[:, 0], np.log(0.2 / 0.8), rtol=1e-12)
    assert not difference[:, 1:].any()


# --- intervals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("given_", [{}, {"estimate": "mean", "alpha": 0.2}, {"class_prior": [0.3, 0.7]}])
def test_two_class_ends_match_exact_draws(event, given_):
    """5 standard errors at 20,000 draws, for skewed and one-token documents and the empty one too."""
    X, y = corpus()
    posterior = fitted(event, X, y, **given_)
    asked = np.vstack([X[:4], [[1, 0, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 0, 0]]])
    asked = asked[:-1] if "class_prior" in given_ and event == "multinomial" else asked
    assert outside(posterior, asked) < 5
    assert outside(posterior, asked, level=0.6, power=0.5) < 5


@pytest.mark.parametrize("event", EVENTS)
def test_three_class_ends_match_exact_draws(event):
    """The lattice holds the tails to 5 standard errors of 20,000 draws."""
    X, y = corpus(classes=3)
    for given_ in ({}, {"estimate": "mean", "alpha": 0.3}):
        assert outside(fitted(event, X, y, **given_), X[:5]) < 5


@pytest.mark.parametrize("given_", [{}, {"estimate": "mean", "alpha": 0.3}])
def test_lattice_points_have_the_law_of_each_score(given_):
    """In every dimension the share of lattice points above one of them is its exact tail probability."""
    X, y = corpus(classes=3, documents=3 if given_ else 30, tokens=30)
    posterior = fitted("multinomial", X, y, **given_)
    documents = read(posterior, np.eye(30)[:4] + np.eye(30)[4:8], 1.0)
    scores = ClassLaw(documents)._scores
    assert scores.plain.all() == (not given_)  # with small concentrations the exact nodes serve
    n = 8191
    for rank in range(3):
        for row in range(4):
            k = int(scores.rank[row, rank])
            nodes = {c: scores._nodes_of(np.arange(4), c) for c in range(3)}
            relative = scores._on_lattice(np.array([row]), n, nodes)[0, rank]
            value = np.sort(relative) + scores.mean[row, scores.rank[row, 0]]
            law = documents.terms(np.array([row]), k)
            mean, sd = scores.mean[[row], k], scores.sd[[row], k]
            for i in (n - 205, n - 819, n - 4095):  # 2.5 %, 10 % and 50 %
                exact = upper_tail(law, value[[i]], mean, sd)[0]
                # 3 % where cumulants serve, 0.3 % where tabulated exact quantiles do
                assert exact == pytest.approx((n - i - 0.5) / n, rel=0.03 if not given_ else 0.003)
            lower = upper_tail(law.negated(), -value[[204]], -mean, sd)[0]
            assert lower == pytest.approx(204.5 / n, rel=0.03 if not given_ else 0.003)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999, 1 - 1e-9])
def test_empty_document_has_the_law_of_theta(level):
    """Without tokens the class probability is theta, whose quantiles are a Beta's, in both tails and at any level."""
    posterior = fitted("multinomial", np.eye(4)[:3], [0, 1, 1])
    ends = class_probability_interval(posterior, np.zeros((1, 4)), level)[0]
    beta = special.betaincinv, special.betainccinv
    expected = [[f(a, b, (1 - level) / 2) for f in beta] for a, b in ((2, 3), (3, 2))]
    np.testing.assert_allclose(ends, expected, rtol=1e-6)  # the exact transform: the law is far from normal


def test_empty_document_and_known_theta_is_a_point():
    """Nothing is uncertain there: both ends are the known probability."""
    posterior = fitted("multinomial", *corpus(), class_prior=[0.2, 0.8])
    ends = class_probability_interval(posterior, np.zeros((1, 5)))
    np.testing.assert_allclose(ends[0], [[0.2, 0.2], [0.8, 0.8]], rtol=1e-14)
    np.testing.assert_array_equal(probability_largest(posterior, np.zeros((1, 5))), [[0, 1]])


def test_a_class_known_to_be_impossible_has_probability_0():
    """Known class probabilities of 0 give the interval [0, 0], and the others are as if it did not exist."""
    X, y = corpus(classes=3)
    ends = class_probability_interval(fitted("multinomial", X, y, class_prior=[0, 0.4, 0.6]), X)
    keep = y > 0
    two = fitted("multinomial", X[keep], y[keep], class_prior=[0.4, 0.6])
    assert not ends[:, 0].any()
    np.testing.assert_array_equal(ends[:, 1:], class_probability_interval(two, X))


def test_small_side_keeps_its_digits():
    """Ends far below 1e-16 are the logistic function of the log-odds, and mirror each other's odds."""
    X = np.array([[30.0, 0], [0, 30]])
    posterior = fitted("multinomial", X, [0, 1], class_prior=[0.5, 0.5])
    ends = class_probability_interval(posterior, [[40.0, 0]])[0]
    assert 0 < ends[1, 0] < ends[1, 1] < 1e-16
    swapped = class_probability_interval(posterior, [[0, 40.0]])[0]
    np.testing.assert_allclose(swapped[0], ends[1], rtol=1e-9)


@pytest.mark.parametrize("event", EVENTS)
def test_huge_counts_tend_to_the_plug_in(event):
    """Ten thousand million documents a class leave an interval that closes on the plug-in probability."""
    X, y = corpus()
    base = fitted(event, X, y)
    # every token is seen in every class, and misses in some document of it
    many = type(base.statistics)([6e10, 6e10], [[1e10, 2e10, 3e10, 4e10, 5e10], [2e10, 2e10, 4e10, 1e10, 3e10]])
    posterior = type(base)(base.prior, many)
    ends, p = class_probability_interval(posterior, X), np.exp(posterior.log_proba(X))
    # the log-odds have a standard deviation below sqrt(12 tokens, squared counts up to 16, 4e-10 each) = 3e-4
    np.testing.assert_allclose(ends, np.repeat(p[..., None], 2, axis=2), rtol=1e-3)
    assert (ends[..., 0] < ends[..., 1]).all()


shapes = st.lists(st.integers(0, 6), min_size=4, max_size=4)


@settings(max_examples=40, deadline=None)
@given(shapes, st.sampled_from(EVENTS), st.floats(0.05, 3), st.floats(0.02, 0.98), st.integers(0, 99))
def test_swapping_the_classes_swaps_the_intervals(x, event, alpha, level, seed):
    """Classes in the other order give the same intervals in the other order."""
    X, y = corpus(tokens=4, seed=seed)
    one, two = (fitted(event, X, labels, estimate="mean", alpha=alpha) for labels in (y, 1 - y))
    first, second = (class_probability_interval(p, [x], level) for p in (one, two))
    # quantiles are found twice by Newton's method, whose last step is far below 1e-10
    np.testing.assert_allclose(first, second[:, ::-1], rtol=1e-10, atol=1e-300)
    largest = probability_largest(one, [x])
    np.testing.assert_allclose(largest, probability_largest(two, [x])[:, ::-1], rtol=1e-6, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(shapes, st.sampled_from(EVENTS), st.floats(0.05, 3), st.integers(2, 3), st.integers(0, 99))
def test_intervals_nest(x, event, alpha, classes, seed):
    """A higher level contains the lower one; ends are ordered numbers in [0, 1]."""
    X, y = corpus(tokens=4, classes=classes, seed=seed)
    posterior = fitted(event, X, y, estimate="mean", alpha=alpha)
    narrow, wide = (class_probability_interval(posterior, [x], level) for level in (0.7, 0.9))
    for ends in (narrow, wide):
        assert np.isfinite(ends).all() and (ends >= 0).all() and (ends <= 1).all()
        assert (ends[..., 0] <= ends[..., 1]).all()
    assert (wide[..., 0] <= narrow[..., 0]).all() and (narrow[..., 1] <= wide[..., 1]).all()


def test_permuting_three_classes_permutes_the_intervals():
    """The lattice serves classes by their score, so that their order does not matter."""
    X, y = corpus(classes=3)
    order = np.array([2, 0, 1])
    one, two = fitted("multinomial", X, y), fitted("multinomial", X, order[y])
    ends = class_probability_interval(two, X)[:, order]
    np.testing.assert_allclose(class_probability_interval(one, X), ends, rtol=1e-9)


def test_cornish_fisher_error_is_within_its_promise():
    """Where four cumulants are trusted, the exact transform finds the tail within 3 % of what was asked."""
    X, y = corpus(documents=60, tokens=40, seed=5)
    posterior = fitted("multinomial", X, y)
    documents = read(posterior, np.random.default_rng(1).poisson(0.3, (200, 40)), 1.0)
    kappa = documents.difference_cumulants(0, 1, 4)
    g1, g2 = quantiles.standardised(kappa)
    mean, sd = kappa[:, 0], np.sqrt(kappa[:, 1])
    law = documents.terms(np.arange(200), 0, 1)
    for z in (0.7, 1.96, 2.6):
        held = quantiles.trusted(z, quantiles.departure(kappa))
        assert held.mean() > 0.1
        found = upper_tail(law, mean + sd * quantiles.cornish_fisher(z, g1, g2), mean, sd)
        np.testing.assert_allclose(found[held], special.ndtr(-z), rtol=0.03)


def covered(corpora, seed):
    """Share of corpora, drawn from the prior, whose 80 % interval holds the true class probability of a document."""
    rng = np.random.default_rng(seed)
    x, hits = np.array([[1.0, 2, 0, 0, 1, 0]]), 0
    for _ in range(corpora):
        theta, phi = rng.dirichlet([1, 1]), rng.dirichlet(np.full(6, 2.0), 2)
        y = np.append(rng.choice(2, 8, p=theta), [0, 1])[:8]
        X = np.array([rng.multinomial(6, phi[k]) for k in y], float)
        state = State.learn("multinomial", sparse.csr_array(X), y, np.arange(6), classes=np.arange(2))
        posterior = Settings().posterior(state)
        low, high = class_probability_interval(posterior, x, 0.8)[0, 1]
        truth = special.expit(np.log(theta[1] / theta[0]) + (x[0] * np.log(phi[1] / phi[0])).sum())
        hits += low <= truth <= high
    return hits


def _assert_binomial(hits, n, p):
    """Both tails of the exact binomial above 5e-7: one failure in a million runs."""
    assert special.bdtr(hits, n, p) > 5e-7 and special.bdtrc(hits - 1, n, p) > 5e-7, hits / n


def test_intervals_cover_at_their_level():
    """Over 400 corpora drawn from the prior, 80 % intervals hold the truth as often as a binomial may."""
    _assert_binomial(covered(400, 1), 400, 0.8)


@pytest.mark.long
def test_intervals_cover_at_their_level_long():
    """The same over 20,000 corpora."""
    _assert_binomial(covered(20_000, 2), 20_000, 0.8)


@cache
def _cs229(path):
    lines = path.read_text().splitlines()
    n, v = map(int, lines[1].split())
    X, y = np.zeros((n, v)), np.zeros(n, int)
    for i, line in enumerate(lines[3 : 3 + n]):
        label, *pairs = map(int, line.split())
        y[i] = label
        X[i, np.cumsum(pairs[:-1:2])] = pairs[1::2]
    return X, y


@pytest.mark.parametrize("given_", [{}, pytest.param({"estimate": "mean"}, marks=pytest.mark.long)])
def test_cs229_intervals_match_exact_draws(shared, given_):
    """200 real mails after 100: shares of 20,000 exact draws beyond each end, within 5 standard errors."""
    X, y = _cs229(shared / "data/cs229_spam/MATRIX.TRAIN.100")
    asked, _ = _cs229(shared / "data/cs229_spam/MATRIX.TEST")
    assert outside(fitted("multinomial", X, y, **given_), asked[:200]) < 5


# --- the leading class ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("event", EVENTS)
def test_probability_largest_matches_exact_draws(event, classes):
    """Shares of 20,000 exact draws in which each class leads, within 5 standard errors and the lattice's 0.002."""
    X, y = corpus(classes=classes)
    posterior = fitted(event, X, y)
    largest = probability_largest(posterior, X)
    leads = drawn_scores(posterior, X, 20_000).argmax(2)
    share = np.stack([(leads == k).mean(0) for k in range(classes)], axis=1)
    assert (np.abs(share - largest) < 0.002 + 5 * np.sqrt(largest * (1 - largest) / 20_000)).all()
    np.testing.assert_allclose(largest.sum(1), 1, rtol=1e-12)


# --- explanations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimate", ["map", "mean", "predictive", "mle"])
@pytest.mark.parametrize("event", EVENTS)
def test_contributions_sum_to_the_score(event, estimate):
    """Rows add up to the difference of the joint log probabilities of predicted class and runner-up."""
    X, y = corpus(classes=3)
    X[:3] += 1  # every token in every class, so that the mle is finite
    X[3:6] *= 0
    posterior = fitted(event, X, y, estimate=estimate)
    x = X[[7]]
    table = explain(posterior, x, estimate, 0.8)
    joint = np.sort(posterior.log_joint(x, estimate, 0.8)[0])
    np.testing.assert_allclose(table["contribution"].sum(), joint[-1] - joint[-2], rtol=1e-12)
    assert table.index[0] == "(class prior)"
    assert ("(absent tokens)" in table.index) == (event == "bernoulli")
    assert ("(length)" in table.index) == (event == "multinomial" and estimate == "predictive")
    assert table.notna().all(axis=None) and (table["lower"] <= table["upper"]).all()


@pytest.mark.parametrize("event", EVENTS)
def test_explained_intervals_match_exact_draws(event):
    """Class prior, tokens and absent tokens: shares of 20,000 draws below each end within 5 standard errors."""
    X, _ = corpus()
    posterior = fitted(event, X, [0] * 3 + [1] * 9)  # classes of different sizes, so that their totals differ
    x = np.array([[2.0, 0, 1, 0, 0]])
    table = explain(posterior, x, classes=[1, 0], level=0.9)
    rng, size = np.random.default_rng(5), 20_000
    log_theta, log_phi = posterior.theta.draw(rng, (size,), log=True), posterior.phi.draw(rng, (size,), log=True)
    ratio = log_phi[:, 1] - log_phi[:, 0]
    count = x[0] if event == "multinomial" else np.minimum(x[0], 1)
    parts = [log_theta[:, 1] - log_theta[:, 0], count[0] * ratio[:, 0], count[2] * ratio[:, 2]]
    if event == "bernoulli":
        absent = np.log1p(-np.exp(log_phi))[:, :, [1, 3, 4]].sum(-1)
        parts.append(absent[:, 1] - absent[:, 0])
    drawn = np.stack(parts, axis=1)
    error = 5 * np.sqrt(0.05 * 0.95 / size)
    assert np.abs((drawn < table["lower"].to_numpy()).mean(0) - 0.05).max() < error
    assert np.abs((drawn > table["upper"].to_numpy()).mean(0) - 0.05).max() < error


def test_swapping_the_named_classes_turns_the_signs():
    """Named the other way round, contributions and intervals are mirrored."""
    posterior = fitted("multinomial", *corpus())
    one, two = (explain(posterior, [[1.0, 2, 0, 0, 3]], classes=c) for c in ([0, 1], [1, 0]))
    assert one.attrs["classes"] == (0, 1)
    np.testing.assert_allclose(one["contribution"], -two["contribution"], rtol=1e-12)
    np.testing.assert_allclose(one["lower"], -two["upper"], rtol=1e-6)


# --- bad input ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 95, np.nan, "high"])
def test_level_must_lie_between_0_and_1(level):
    """Any other level is refused in one line."""
    posterior = fitted("multinomial", *corpus())
    for call in (class_probability_interval, lambda p, X, level: explain(p, X[:1], level=level)):
        with pytest.raises(ValueError, match="level must lie strictly between 0 and 1"):
            call(posterior, corpus()[0], level=level)


def test_explain_refuses_what_it_cannot_compare():
    """Several documents, one label, and a label twice are each named."""
    posterior = fitted("multinomial", *corpus())
    X = corpus()[0]
    with pytest.raises(ValueError, match="takes one document, got 12"):
        explain(posterior, X)
    with pytest.raises(ValueError, match="two different labels"):
        explain(posterior, X[:1], classes=[1, 1])
    with pytest.raises(ValueError, match="class 7 is not among"):
        explain(posterior, X[:1], classes=[1, 7])


def test_one_class_is_certain():
    """A model of one class gives it probability 1 with certainty."""
    posterior = fitted("multinomial", np.eye(2), ["a", "a"])
    np.testing.assert_array_equal(class_probability_interval(posterior, np.eye(2)), np.ones((2, 1, 2)))
    np.testing.assert_array_equal(probability_largest(posterior, np.eye(2)), np.ones((2, 1)))
