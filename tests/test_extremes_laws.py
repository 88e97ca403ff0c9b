"""Densities, logs, intervals and Bayes factors for concentrations from 1e-6 to 1e15, and what is left of huge totals.

`tests/test_extremes.py` has evidence, predictives, sums and ratios; the plain run takes a part of the grid here too.
"""

import warnings

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from bayesnb import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB, contrast, fit_power
from bayesnb.events import bernoulli, gaussian, multinomial
from bayesnb.events.empirical import BOUNDS
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet, InverseGamma, NormalInverseGamma, StudentT
from bayesnb.logbeta import digamma_drop, trigamma_drop
from bayesnb.special import beta_quantile, beta_share

SIZES = [pytest.param(60, id="some"), pytest.param(600, id="many", marks=pytest.mark.long)]
EPS = float(np.finfo(float).eps)


@pytest.fixture(autouse=True)
def digits():
    """Log gammas of 1e15 are 4e16, and what is left of them is 1e-16: 80 digits are plenty."""
    with mp.workdps(80):
        yield


def spread(rng, shape, low=1e-6, high=1e15):
    """Evenly in the logarithm."""
    return np.exp(rng.uniform(np.log(low), np.log(high), shape))


def log_beta(a, b):
    return mp.loggamma(a) + mp.loggamma(b) - mp.loggamma(a + b)


def near_the_bulk(rng, mean, size):
    """Points some standard deviations around, where a density is asked for."""
    return np.clip(mean * (1 + 3 * rng.standard_normal(len(mean)) / np.sqrt(size + 1)), 1e-280, 1 - 1e-9)


# a point is one rounded number: 1e15 observations tell it from its neighbour by sqrt(1e15) eps, in 20 standard
# deviations; where terms are no larger than the answer that is some eps of it
def close(found, exact, largest):
    return abs(mp.mpf(float(found)) - exact) <= 1e-12 * max(1, abs(exact)) + 50 * EPS * np.sqrt(largest)


@pytest.mark.parametrize("size", SIZES)
def test_a_beta_density_keeps_its_digits_at_any_concentration(size):
    """(a - 1) log x less log B would leave nothing: both are 1e16 where the answer is 17."""
    rng = np.random.default_rng(21)
    a, b = spread(rng, (2, size))
    b[: size // 3] = a[: size // 3]
    x = near_the_bulk(rng, a / (a + b), np.minimum(a, b))
    found = Beta(a, b).log_density(x)
    for row in zip(a, b, x, found, strict=True):
        p, q, at, _ = (mp.mpf(float(v)) for v in row)
        exact = (p - 1) * mp.log(at) + (q - 1) * mp.log1p(-at) - log_beta(p, q)
        assert close(row[3], exact, max(row[:2])), row


@pytest.mark.parametrize("size", SIZES)
def test_a_dirichlet_density_and_its_normalizer_keep_their_digits(size):
    rng = np.random.default_rng(22)
    for _ in range(size):
        a = spread(rng, int(rng.integers(2, 8)))
        a = np.full_like(a, a[0]) if rng.random() < 0.4 else a
        # off the mean by a standard deviation; cells sum to 1 up to rounding, which the reference takes out
        x = np.abs(a / a.sum() * (1 + rng.standard_normal(len(a)) / np.sqrt(a + 1))) + 1e-280
        x = x / x.sum()
        c, at = [mp.mpf(v) for v in a.tolist()], [mp.mpf(v) for v in x.tolist()]
        normalizer = mp.fsum(map(mp.loggamma, c)) - mp.loggamma(mp.fsum(c))
        parts = sorted(abs(log_beta(p, mp.fsum(c[i + 1 :]))) for i, p in enumerate(c[:-1]))
        # a sum of log betas of either sign
        assert abs(float(Dirichlet(a).log_normalizer()) - normalizer) <= 1e-13 * max(1, parts[-1])
        exact = mp.fsum((p - 1) * mp.log(v / mp.fsum(at)) for p, v in zip(c, at, strict=True)) - normalizer
        assert close(Dirichlet(a).log_density(x), exact, len(a) * a.max()), (a, x)


@pytest.mark.parametrize("size", SIZES)
def test_densities_of_variances_keep_their_digits_in_any_units(size):
    """Inverse gamma and normal-inverse-gamma with beta from 1e-130 to 1e130."""
    rng = np.random.default_rng(23)
    alpha, kappa, beta, m = (
        spread(rng, size),
        spread(rng, size),
        spread(rng, size, 1e-130, 1e130),
        rng.normal(0, 1, size),
    )
    x = beta / alpha * np.exp(np.clip(rng.standard_normal(size) / np.sqrt(alpha), -300, 300))
    mu = m + np.sqrt(x / kappa) * rng.standard_normal(size)
    one, both = InverseGamma(alpha, beta).log_density(x), NormalInverseGamma(m, kappa, alpha, beta).log_density(mu, x)
    for i in range(size):
        p, k, scale, centre, at, point = (mp.mpf(float(v[i])) for v in (alpha, kappa, beta, m, x, mu))
        exact = p * mp.log(scale) - mp.loggamma(p) - (p + 1) * mp.log(at) - scale / at
        assert close(one[i], exact, alpha[i])
        square = k * (point - centre) ** 2 / at
        # the mean is a number of size 1: beside a narrow law its rounding moves the square
        rounding = float(2 * EPS * mp.sqrt(square * k / at) * abs(centre))
        exact += (mp.log(k / (2 * mp.pi * at)) - square) / 2
        assert abs(both[i] - exact) <= rounding + 1e-12 * max(1, abs(exact)) + 50 * EPS * np.sqrt(alpha[i])


@pytest.mark.parametrize("size", SIZES)
def test_moments_of_logs_keep_their_digits_beside_a_tiny_rest(size):
    """psi(5) - psi(5 + 1e-12) is 2e-13 to sixteen digits, and so on from 1e-15 to 1e15."""
    rng = np.random.default_rng(24)
    a, b = spread(rng, (2, size), 1e-15, 1e15)
    a[::2] = spread(rng, len(a[::2]), 0.1, 30)  # around the place where series and steps meet
    for p, q, mean, variance in zip(a, b, digamma_drop(a, b), trigamma_drop(a, b), strict=True):
        first, second = (mp.psi(m, mp.mpf(p)) - mp.psi(m, mp.mpf(p) + mp.mpf(q)) for m in (0, 1))
        # some ten additions of one sign each; the series' first term left out is 1e-16, and 2e-14 of a small difference
        assert abs(mean - first) <= 1e-14 * abs(first) and abs(variance - second) <= 3e-14 * second, (p, q)


def test_moments_of_logs_do_not_depend_on_the_layout_of_the_shapes():
    """Columns of a larger array, its transpose and broadcast numbers are the same laws."""
    a, b = np.random.default_rng(25).uniform(0.1, 30, (2, 6, 4))
    for drop in (digamma_drop, trigamma_drop):
        whole = drop(a, b)
        np.testing.assert_array_equal(drop(np.asfortranarray(a), b), whole)
        np.testing.assert_array_equal(drop(a.T, b.T), whole.T)
        np.testing.assert_array_equal(drop(a[:, ::2], b[:, ::2]), whole[:, ::2])
        np.testing.assert_array_equal(drop(0.5, b), drop(np.full_like(b, 0.5), b))


@pytest.mark.parametrize("tail", [0.025, 0.25, 1e-9])
@pytest.mark.parametrize("df", [1e-6, 1e-3, 0.01, 0.05, 0.3, 1, 7, 1e6, 1e15])
def test_a_students_interval_leaves_its_tails_or_ends_at_infinity(df, tail):
    """The tail beyond an end is I(df/2, 1/2)/2; SciPy's quantile leaves 0.35 above it at df = 0.001 and 0.025."""
    for scale2 in (1e-300, 1.0, 1e300):
        low, high = StudentT(df, 0.0, scale2).interval(1 - 2 * tail)
        assert low == -high
        with mp.workdps(30):
            t2 = mp.mpf(float(np.minimum(high, 1e308))) ** 2 / mp.mpf(scale2)
            u = df / (df + t2)
            if high == np.inf or df < 2:  # below every float, u^(df/2) is the whole law
                power = df * mp.mpf(0.5)
                above = u**power / (2 * power * mp.beta(power, 0.5)) * mp.hyp2f1(power, 0.5, power + 1, u)
            else:
                above = mp.mpf(float(special.stdtr(df, -float(mp.sqrt(t2)))))
        if high == np.inf:
            assert above > tail  # the largest float is not far enough
        else:
            # 1 - level has lost the last places of a tail of 1e-9
            assert float(above) == pytest.approx(tail, rel=1e-6)


@pytest.mark.parametrize("level", [1e-12, 0.5, 0.95, 1 - 1e-12])
def test_intervals_at_the_ends_of_the_grid_are_intervals(level):
    """In order, within [0, 1], and the complement's mirrored: 22 x 22 pairs of shapes, 1000 and 1e9 among them."""
    a, b = np.meshgrid(10.0 ** np.arange(-6, 16), 10.0 ** np.arange(-6, 16))
    ends, other = Beta(a, b).interval(level), Beta(b, a).interval(level)
    assert ((ends >= 0) & (ends <= 1)).all() and (ends[..., 0] <= ends[..., 1]).all()
    # an end near 1 is one rounded number; both are right to 1e-7 of the tail
    np.testing.assert_allclose(ends, 1 - other[..., ::-1], atol=1e-9)
    narrow = Beta(a, b).interval(level / 2)
    assert (ends[..., 0] <= narrow[..., 0] * (1 + 1e-9)).all() and (ends[..., 1] >= narrow[..., 1] * (1 - 1e-9)).all()


@pytest.mark.parametrize(
    ("a", "b"), [(1000, 1e9), (1000, 1e10), (1000, 1e8), (1000, 1e6), (3, 1e9), (17.5, 3e7), (1, 1e8)]
)
def test_quantiles_of_rare_tokens_leave_their_tails(a, b):
    """1000 of 1e9 tokens: SciPy's lower quantile is twice the mean there, for an a of exactly 1000."""
    for tail in (0.025, 0.25, 0.4):
        low, high = (beta_quantile(a, b, tail, upper=side) for side in (False, True))
        assert low < high
        for below, part in ((_share(a, b, low), tail), (_share(a, b, high), 1 - tail)):
            assert float(below) == pytest.approx(part, abs=1.1e-7 * tail)  # 1e-7 of the tail is promised
            assert beta_share(a, b, low) == pytest.approx(float(_share(a, b, low)), abs=1e-12)
    mirrored = Beta([a], [b]).interval(0.5), Beta([b], [a]).interval(0.5)
    np.testing.assert_allclose(mirrored[0], 1 - mirrored[1][:, ::-1], atol=1e-15)


@pytest.mark.parametrize("size", SIZES)
def test_the_distribution_function_of_rare_tokens_keeps_twelve_digits(size):
    """Shapes from 1e-3 to 50 beside 1e5 to 1e15; SciPy's is off by up to 5e-8 for whole ones, half of these here."""
    rng = np.random.default_rng(29)
    a, b = spread(rng, size, 1e-3, 50), spread(rng, size, 1e5, 1e15)
    a[::2], b[::2] = np.floor(rng.uniform(2, 38, len(a[::2]))), np.floor(spread(rng, len(a[::2]), 1e7, 2e9))
    x = a / (a + b) * rng.choice([1e-3, 0.3, 0.9, 1.2, 3.0], size)
    found, above = beta_share(a, b, x), beta_share(a, b, x, upper=True)
    for row in zip(a, b, x, found, strict=True):
        assert abs(row[3] - _share(*row[:3])) < 1e-12, row
    np.testing.assert_allclose(found + above, 1, atol=1e-14)
    np.testing.assert_array_equal(beta_share(a, b, 1.0), 1)
    np.testing.assert_array_equal(beta_share(a, b, 0.0), 0)


def _share(a, b, x):
    """I_x(a, b) = x^a (1-x)^b / (a B(a, b)) sum_n (a+b)_n / (a+1)_n x^n, all of one sign (DLMF 8.17.8)."""
    a, b, x = (mp.mpf(float(v)) for v in (a, b, x))
    term = total = mp.exp(a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - log_beta(a, b))
    n = 0
    while n == 0 or term > total * mp.mpf(10) ** -20:
        term *= (a + b + n) / (a + 1 + n) * x
        total, n = total + term, n + 1
    return total


@pytest.mark.parametrize("size", SIZES)
def test_bayes_factors_keep_their_digits_whatever_the_priors(size):
    """Own priors, and a shared one up to 15 magnitudes away; right to the last places of the evidences compared."""
    rng = np.random.default_rng(26)
    for _ in range(5 * size):
        b, m, h = spread(rng, (3, 2), high=1e9)
        m, h = (b if rng.random() < 0.5 else prior for prior in (m, h))
        totals = np.floor(spread(rng, 2, 1, 1e15))
        n1, n2 = (np.floor(total * rng.choice([0, 1, 0.5, 1e-9, 0.3])) for total in totals)
        found = float(contrast.log_bayes_factor(n1, totals[0], n2, totals[1], b, m, h))
        counts = [(n, total - n) for n, total in zip((n1, n2), totals, strict=True)]
        counts.append(tuple(map(sum, zip(*counts, strict=True))))
        logs = [_log_evidence(prior, n) for prior, n in zip((b, m, h), counts, strict=True)]
        exact = logs[0] + logs[1] - logs[2]
        assert abs(found - exact) <= 1e-10 * abs(exact) + 8 * EPS * max(map(abs, logs)) + 1e-13, (b, m, h, counts)


@pytest.mark.parametrize(
    ("b", "m", "h", "first", "second"),
    [
        # the prior of "same" 12 magnitudes below the others': differences of priors hold none of its digits
        ((6.5e8, 3e6), (6.5e8, 3e6), (1.38e-4, 3.3e-6), (51355337796, 0), (92309337, 215388454)),
        # a token all but impossible under one prior and all but certain under the other
        ((1.77e-6, 9.9e7), (9.17e8, 0.0185), (1.77e-6, 9.9e7), (18085273969, 0), (0, 808729688)),
        # evidences of 6 nats and less, put together from parts of 1e9
        ((3.9e-6, 3.09e8), (8.5e7, 2.86e7), (2.78e-6, 4535.1), (0, 9), (0, 1)),
        ((3.4e-5, 2.6e-5), (9.7e-4, 3.3e8), (3.4e-5, 2.6e-5), (0, 7237751), (0, 92)),
    ],
)
def test_bayes_factors_of_priors_that_were_once_wrong_by_up_to_millions_of_nats(b, m, h, first, second):
    pooled = tuple(map(sum, zip(first, second, strict=True)))
    logs = [_log_evidence(prior, n) for prior, n in ((b, first), (m, second), (h, pooled))]
    found = float(contrast.log_bayes_factor(first[0], sum(first), second[0], sum(second), b, m, h))
    # to the last places of the largest evidence
    assert abs(found - (logs[0] + logs[1] - logs[2])) <= 8 * EPS * max(map(abs, logs)) + 1e-13


def _log_evidence(prior, counts):
    a, b = (mp.mpf(float(v)) for v in prior)
    return log_beta(a + mp.mpf(float(counts[0])), b + mp.mpf(float(counts[1]))) - log_beta(a, b)


@pytest.mark.parametrize("size", SIZES)
def test_ratios_of_powers_of_uniform_variables_have_laplaces_law(size):
    """Beta(a, 1) is U^(1/a): log R is asymmetric Laplace for every a, a closed form from 1e-15 to 1e18."""
    rng = np.random.default_rng(27)
    a1, a2 = spread(rng, (2, size), 1e-15, 1e18)
    a2[: size // 3] = a1[: size // 3] * np.exp(0.1 * rng.standard_normal(size // 3))
    p = rng.choice([1e-9, 1e-6, 0.025, 0.3, 0.5, 0.8, 0.975, 1 - 1e-6], size)
    r = contrast.log_ratio_quantile(p, a1, 1, a2, 1)
    greater = contrast.prob_greater(a1, 1, a2, 1)
    for c, d, at, want, above in zip(a1, a2, r, p, greater, strict=True):
        c, d, at = mp.mpf(c), mp.mpf(d), mp.mpf(at)
        below = 1 - c / (c + d) * mp.exp(-d * at) if at >= 0 else d / (c + d) * mp.exp(c * at)
        assert abs(below - want) <= 1e-10  # what `log_ratio_cdf` promises to 1e11; here the law is smooth to 1e18
        assert abs(above - c / (c + d)) <= 1e-9 * c / (c + d)  # relative, also where it is tiny
    np.testing.assert_allclose(contrast.log_ratio_cdf(r, a1, 1, a2, 1), p, atol=1e-8)  # promised of the quantile


@pytest.mark.parametrize("scale", [1e3, 1e12, 1e15, 2.0**53])
@pytest.mark.parametrize("estimate", ["map", "mean", "predictive", "mle"])
@pytest.mark.parametrize("part", [0.0, 0.25])
def test_leaving_a_document_out_of_huge_totals_loses_no_digits(scale, estimate, part):
    """1e15 less 1 is exact, and a total of 7 less 1 beside it is 6."""
    X, own = np.array([[3.0, 1, 0], [0, 2, 1], [1, 0, 1], [2, 2, 2]]) + part, np.array([0, 1, 0, 1])
    totals = np.array([[scale, scale / 4, 7.0], [5.0, scale, scale]])
    np.add.at(totals, own, X)
    a = {"map": 2.0, "mle": 1.0}.get(estimate, 0.5)
    prior = multinomial.Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 3), a))
    posterior = multinomial.Posterior(prior, multinomial.Statistics([scale, scale], totals))
    found = posterior.log_likelihood_left_out(X, own, np.ones(4), estimate)
    for x, k, value in zip(X, own, found, strict=True):
        add = {"map": a - 1, "mle": 0.0}.get(estimate, a)
        c = [mp.mpf(t) - mp.mpf(v) + add for t, v in zip(totals[k].tolist(), x.tolist(), strict=True)]
        if estimate == "predictive":
            pairs = [*zip(c, x.tolist(), [1] * 3, strict=True), (mp.fsum(c), x.sum(), -1)]
            exact = mp.fsum(sign * (mp.loggamma(v + float(n)) - mp.loggamma(v)) for v, n, sign in pairs)
        else:
            exact = mp.fsum(float(n) * (mp.log(v) - mp.log(mp.fsum(c))) for v, n in zip(c, x, strict=True) if n)
        # a document of seven tokens is seven logs below 40, each to its last digits
        assert abs(value - exact) <= 1e-13 * max(1, abs(exact))


@pytest.mark.parametrize("batches", [1, 7, 1000])
@pytest.mark.parametrize(("offset", "sd"), [(1e8, 1e-3), (1e15, 100.0), (-1e8, 1.0), (1e150, 1e140), (1e-140, 1e-150)])
def test_moments_of_narrow_measurements_far_from_0(offset, sd, batches):
    """All at once to rounding; in batches as well as two means tell where they are."""
    x = offset + sd * np.random.default_rng(28).standard_normal(1000)
    whole = gaussian.Statistics.zeros(1, 1)
    for part in np.array_split(x, batches):
        whole = whole + gaussian.Statistics.from_documents(part[:, None], np.zeros(len(part), int), 1)
    exact = [mp.mpf(v) for v in x.tolist()]
    mean = mp.fsum(exact) / 1000
    m2 = mp.fsum((v - mean) ** 2 for v in exact)
    # half a last place for each merge; the part left of it is what the mean of a thousand can be known to
    place = np.spacing(abs(offset))
    assert abs(whole.mean[0, 0] - mean) <= batches * place
    # so far may two means be from where they should, and as far their distance, which is squared with 1000 behind it;
    # batches of 143 lie sd/12 apart, of 1 a few sd, with a weight of 1
    apart = sd / 12 if batches == 7 else 4 * sd
    moved = 0.0 if batches == 1 else batches * min(1000 / batches, 143) * (2 * apart * place + place**2)
    assert abs(whole.M2[0, 0] - m2) <= 1e-13 * m2 + moved


@pytest.mark.parametrize("prior", ["weak", None])
@pytest.mark.parametrize("X", [[1e200, -1e200, 1, 2], [1.7e308, -1.7e308, 1, 2], [1e300, 1e300, 1e-300, 2e-300]])
def test_measurements_whose_squares_are_beyond_floating_point_are_refused_by_column(X, prior):
    """One line with the remedy, in place of an infinite variance, and no warning beside it."""
    with pytest.raises(ValueError, match=r"column 1.*1e154 and more .*rescale the column"):
        GaussianNB(prior=prior).fit(np.column_stack([np.arange(4.0), X]), list("aabb"))


def test_a_constant_column_too_large_to_be_squared_is_refused_where_its_square_is_needed():
    """As the scale of a prior, or of what is added where every column is constant; beside others it says nothing."""
    constant, y = np.full((4, 1), 1e200), list("aabb")
    for prior in ("weak", None):
        with pytest.raises(ValueError, match=r"column 0 has the mean 1e\+200.*rescale"):
            GaussianNB(prior=prior).fit(constant, y)
    others = np.arange(4.0)[:, None]
    both, one = GaussianNB().fit(np.hstack([others, constant]), y), GaussianNB().fit(others, y)
    np.testing.assert_allclose(both.predict_proba(np.hstack([others, constant])), one.predict_proba(others), rtol=1e-12)


@pytest.mark.parametrize("unit", [5e-324, 1e-310, 1e-170])
def test_measurements_whose_squares_vanish_are_a_constant_column(unit):
    """Half each, and nothing that is no number: a spread below 1e-154 has no variance."""
    clf = GaussianNB(prior="weak").fit(unit * np.array([[1.0], [2], [5], [6]]), list("aabb"))
    np.testing.assert_array_equal(clf.predict_proba([[unit]]), [[0.5, 0.5]])
    assert np.isfinite(clf.predict_interval([[unit]])).all()


@pytest.mark.parametrize("unit", [1e-140, 1.0, 1e140])
def test_probabilities_do_not_depend_on_the_unit_of_measurement(unit):
    X = np.array([[1.0], [2], [5], [6]])
    plain, scaled = (GaussianNB(prior="weak").fit(u * X, list("aabb")).predict_proba(u * X) for u in (1.0, unit))
    # logs of 1e280 and their differences, in units of eps
    np.testing.assert_allclose(scaled, plain, rtol=1e-11)


DEGENERATE = {
    "one document": ([[3, 1]], ["a"]),
    "all counts equal": ([[2, 2]] * 6, list("ababab")),
    "nothing at all": ([[0, 0]] * 4, list("abab")),
    "apart": ([[9, 0], [8, 0], [0, 9], [0, 8]], list("aabb")),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("prior", ["empirical", "empirical-background"])
@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_empirical_priors_of_degenerate_data_end_within_their_bounds(name, prior, event):
    """Where evidence rises for ever, at `BOUNDS`; where it is flat, at one pseudo-count a cell."""
    X, y = DEGENERATE[name]
    codes = np.unique(y, return_inverse=True)[1]
    module = {"multinomial": multinomial, "bernoulli": bernoulli}[event]
    statistics = module.Statistics.from_documents(X, codes, codes.max() + 1)
    theta = ClassPrior(concentration=np.ones(statistics.n_classes))
    phi = module.Prior.resolve(theta, prior, 1.0, "mean", (statistics.n_classes, 2), statistics).phi
    cells = phi if event == "multinomial" else np.stack([phi.a, phi.b])
    mean = cells.sum() / cells.size
    assert BOUNDS[0] * (1 - 1e-12) <= mean <= BOUNDS[1] * (1 + 1e-12)
    expected = {
        ("all counts equal", "multinomial"): BOUNDS[1],  # one phi fits all: the more alike the better
        ("apart", "multinomial"): BOUNDS[0],
        ("nothing at all", "multinomial"): 1.0,
    }.get((name, event))
    assert expected is None or mean == pytest.approx(expected)


@pytest.mark.parametrize(
    "estimator", [MultinomialNB(estimate="mean"), CategoricalNB(estimate="mean"), GaussianNB(prior="weak")]
)
@pytest.mark.parametrize("largest", [1.0, 50.0])
def test_the_power_of_degenerate_data_is_one_of_its_ends(estimator, largest):
    """Classes without a mistake: the largest; documents that say nothing but for the one left out: the smallest."""
    for name, expected in (("apart", largest), ("all counts equal", 1e-6)):
        X, y = DEGENERATE[name]
        assert fit_power(estimator, X, y, largest=largest) == expected, name


def test_the_power_of_a_single_class_is_the_largest():
    """Nothing to tell apart: every power is as good."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a column that every document has
        for estimator in (MultinomialNB(estimate="mean"), BernoulliNB(estimate="mean")):
            assert fit_power(estimator, [[3, 1]], ["a"]) == 1.0
