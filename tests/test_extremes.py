"""Concentrations from 1e-6 to 1e9 and counts to 1e15: evidence and predictives against multiple precision, sums of
probabilities, and token ratios that follow the counts.

The plain run takes a part of the grid, ``-m long`` ten times as much; both are drawn anew from the seeds they name.
"""

import mpmath
import numpy as np
import pytest

from bayesnb import contrast
from bayesnb.events import bernoulli, categorical, gaussian, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta
from bayesnb.normal import NormalInverseGamma
from bayesnb.uncertainty import class_probability_interval

SIZES = [pytest.param(30, id="some"), pytest.param(300, id="many", marks=pytest.mark.long)]
DIGITS = 60  # of mpmath: counts of 1e15 lose 30 of them where log gammas cancel


def concentrations(rng, shape):
    """From 1e-6 to 1e9, evenly in the logarithm; half of the time one size for all, which cancels the most."""
    low, high = np.log(1e-6), np.log(1e9)
    if rng.random() < 0.5:
        return np.full(shape, np.exp(rng.uniform(low, high)))
    return np.exp(rng.uniform(low, high, shape))


def counts(rng, shape, top=1e15):
    """Whole numbers to 1e15 evenly in the logarithm, a third of them 0, sometimes with a fraction."""
    found = np.floor(np.exp(rng.uniform(0, np.log(top), shape)))
    if rng.random() < 0.3:
        found = found + rng.choice([0.0, 0.25, 0.5], shape)
    return np.where(rng.random(shape) < 1 / 3, 0.0, found)


def theta_of(rng, k):
    return ClassPrior(concentration=concentrations(rng, k))


def log_rising(a, n):
    """log of a (a + 1) ... (a + n - 1)."""
    return mpmath.loggamma(mpmath.mpf(a) + mpmath.mpf(n)) - mpmath.loggamma(mpmath.mpf(a))


def log_dirichlet_evidence(a, n):
    """Of a sequence with counts n under Dirichlet(a)."""
    a, n = [mpmath.mpf(float(v)) for v in a], [mpmath.mpf(float(v)) for v in n]
    return mpmath.fsum(map(log_rising, a, n)) - log_rising(mpmath.fsum(a), mpmath.fsum(n))


def multinomial_case(rng, k, v):
    n, a = counts(rng, (k, v)), concentrations(rng, (k, v))
    theta, docs = theta_of(rng, k), 1 + counts(rng, k, 1e9)
    posterior = multinomial.Posterior(multinomial.Prior(theta, a), multinomial.Statistics(docs, n))
    phi = [log_dirichlet_evidence(a[i], n[i]) for i in range(k)]
    return posterior, theta, docs, phi


def bernoulli_case(rng, k, v):
    docs = 1 + counts(rng, k)
    held = np.floor(docs[:, None] * rng.choice([0.0, 1.0, 0.5, 1e-9], (k, v)))
    a, b = concentrations(rng, (k, v)), concentrations(rng, (k, v))
    theta = theta_of(rng, k)
    posterior = bernoulli.Posterior(bernoulli.Prior(theta, Beta(a, b)), bernoulli.Statistics(docs, held))
    phi = [
        log_dirichlet_evidence([a[i, j], b[i, j]], [held[i, j], docs[i] - held[i, j]])
        for i in range(k)
        for j in range(v)
    ]
    return posterior, theta, docs, phi


def categorical_case(rng, k, v):
    block = np.sort(rng.integers(0, 3, 2 * v + 3))
    block = np.unique(block, return_inverse=True)[1]
    n, a = counts(rng, (k, len(block))), concentrations(rng, (k, len(block)))
    docs = 1 + np.array([max(row[block == j].sum() for j in set(block.tolist())) for row in n])
    theta = theta_of(rng, k)
    posterior = categorical.Posterior(categorical.Prior(theta, a, block), categorical.Statistics(docs, n, block))
    phi = [log_dirichlet_evidence(a[i, block == j], n[i, block == j]) for i in range(k) for j in set(block.tolist())]
    return posterior, theta, docs, phi


CASES = {"multinomial": multinomial_case, "bernoulli": bernoulli_case, "categorical": categorical_case}


@pytest.mark.parametrize("event", CASES)
@pytest.mark.parametrize("size", SIZES)
def test_log_evidence_keeps_ten_digits_anywhere(event, size):
    """The relative error of the whole is at most 1e-10; where terms cancel to near 0, of 1."""
    rng = np.random.default_rng(11)
    worst = 0.0
    for _ in range(size):
        k, v = int(rng.integers(1, 4)), int(rng.integers(1, 6))
        with mpmath.workdps(DIGITS):
            posterior, theta, docs, phi = CASES[event](rng, k, v)
            exact = mpmath.fsum(phi) + log_dirichlet_evidence(theta.concentration, docs)
            error = abs((mpmath.mpf(posterior.log_evidence()) - exact) / max(abs(exact), mpmath.mpf(1)))
        worst = max(worst, float(error))
    assert worst < 1e-10


@pytest.mark.parametrize("size", SIZES)
def test_log_evidence_of_measurements_keeps_ten_digits(size):
    """Normal-inverse-gamma, Murphy 2007 section 3; the log is compared with the size of its terms, which cancel."""
    rng = np.random.default_rng(12)
    for _ in range(size):
        prior = [np.array([[v]]) for v in (rng.normal(0, 1e3), *np.exp(rng.uniform(np.log(1e-6), np.log(1e9), 3)))]
        n = float(np.floor(np.exp(rng.uniform(0, np.log(1e12)))))
        mean, spread = rng.normal(0, 1e3), np.exp(rng.uniform(-20, 20))
        statistics = gaussian.Statistics([n], [[n]], [[mean]], [[n * spread]])
        theta = ClassPrior(known=np.ones(1))
        found = gaussian.Posterior(gaussian.Prior(theta, NormalInverseGamma(*prior)), statistics).log_evidence()
        with mpmath.workdps(DIGITS):
            m0, kappa, alpha, beta = (mpmath.mpf(float(p[0, 0])) for p in prior)
            size_, x, m2 = mpmath.mpf(n), mpmath.mpf(mean), mpmath.mpf(float(n * spread))
            beta_n = beta + m2 / 2 + kappa * size_ * (x - m0) ** 2 / (2 * (kappa + size_))
            terms = [
                log_rising(alpha, size_ / 2),
                alpha * mpmath.log(beta),
                -(alpha + size_ / 2) * mpmath.log(beta_n),
                (mpmath.log(kappa) - mpmath.log(kappa + size_)) / 2,
                -size_ / 2 * mpmath.log(2 * mpmath.pi),
            ]
            scale = max(1, *(abs(term) for term in terms))
            assert abs(mpmath.mpf(found) - mpmath.fsum(terms)) / scale < 1e-10


@pytest.mark.parametrize("size", SIZES)
def test_the_predictive_of_counts_keeps_ten_digits(size):
    rng = np.random.default_rng(13)
    for _ in range(size):
        k, v = 2, int(rng.integers(1, 6))
        posterior, *_ = multinomial_case(rng, k, v)
        x = counts(rng, (1, v), 1e7)
        found = posterior.log_predictive(x)[0]
        with mpmath.workdps(DIGITS):
            for i in range(k):
                after = [mpmath.mpf(p) + mpmath.mpf(q) for p, q in zip(*_cells(posterior, i), strict=True)]
                exact = mpmath.fsum(map(log_rising, after, x[0])) - log_rising(mpmath.fsum(after), mpmath.fsum(x[0]))
                # two logs as large as x log C are subtracted, each right to its last digit
                rounded = float(4 * np.finfo(float).eps * x.sum() * mpmath.log(1 + mpmath.fsum(after)))
                assert abs(found[i] - exact) < 1e-10 * max(1, abs(exact)) + rounded


def _cells(posterior, i):
    return posterior.prior.phi[i].tolist(), posterior.statistics.feature_count[i].tolist()


@pytest.mark.parametrize("event", CASES)
@pytest.mark.parametrize("size", SIZES)
def test_probabilities_sum_to_one(event, size):
    rng = np.random.default_rng(14)
    for _ in range(size):
        k, v = int(rng.integers(2, 50)), int(rng.integers(1, 60))
        posterior, *_ = CASES[event](rng, k, v)
        assert abs(posterior.theta.mean().sum() - 1) < 1e-12
        if event == "multinomial":
            np.testing.assert_allclose(posterior.phi.mean().sum(axis=1), 1, atol=1e-12)
        columns = posterior.statistics.feature_count.shape[1]
        X = np.minimum(counts(rng, (5, columns), 1e7), 1 if event != "multinomial" else np.inf)
        if event == "categorical":  # one category a column
            X = np.zeros_like(X)
            for j in set(posterior.statistics.block.tolist()):
                at = np.flatnonzero(posterior.statistics.block == j)
                X[np.arange(5), rng.choice(at, 5)] = 1
        for estimate in ("mean", "predictive"):
            p = np.exp(posterior.log_proba(X, estimate))
            np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
            assert np.isfinite(p).all()


@pytest.mark.parametrize("size", SIZES)
def test_ratios_rise_with_the_numerator_and_fall_with_the_denominator(size):
    """Another occurrence never lowers the ratio's quantiles, nor the probability that it is above 1."""
    rng = np.random.default_rng(15)
    names = ["ratio_median", "log_lower", "log_upper", "prob_greater"]
    for _ in range(size):
        a, n = concentrations(rng, (2, 3)), counts(rng, (2, 3))
        side, factor = int(rng.integers(2)), 1 + rng.choice([1e-3, 0.5, 10.0])
        more = n.copy()
        more[side, 0] = max(more[side, 0] + 1, np.floor(more[side, 0] * factor))
        tables = [
            contrast.token_ratios(
                multinomial.Posterior(
                    multinomial.Prior(ClassPrior(concentration=np.ones(2)), a), multinomial.Statistics([1, 1], cells)
                ),
                1, 0, tokens=[0],
            )[names].iloc[0]
            for cells in (n, more)
        ]  # fmt: skip
        sign = 1 if side == 1 else -1
        assert np.isfinite(tables[0][["log_lower", "log_upper"]].to_numpy(float)).all()
        for table in tables:  # a median may be too large for a number, whose log is not
            table["ratio_median"] = np.log(np.clip(table["ratio_median"], 1e-300, 1e300))
        before, after = (table.to_numpy(float) for table in tables)
        # ends are right to 1e-10 in probability (that is what the oracle's test says): a hair of slack in logs
        slack = 1e-8 * np.maximum(1, np.abs(before)) + 1e-9
        assert (sign * (after - before) >= -slack).all(), (a, n, more, before, after)


@pytest.mark.parametrize("size", SIZES)
def test_intervals_of_class_probabilities_are_intervals_for_documents_of_any_length(size):
    """Ends in order, within [0, 1], wider at a higher level, and those of two classes mirror each other."""
    rng = np.random.default_rng(16)
    for _ in range(size):
        posterior, *_ = multinomial_case(rng, 2, 4)
        X = counts(rng, (3, 4), 1e7)
        narrow, wide = (class_probability_interval(posterior, X, level) for level in (0.5, 0.95))
        for ends in (narrow, wide):
            assert ((ends >= 0) & (ends <= 1)).all() and (ends[..., 0] <= ends[..., 1]).all()
            np.testing.assert_allclose(ends[:, 0, 0], 1 - ends[:, 1, 1], atol=1e-12)
        # quantiles are found to 1e-6 in probability: a law with a sharp end may move by as much as its density is low
        assert (wide[..., 0] <= narrow[..., 0] + 1e-9).all() and (wide[..., 1] >= narrow[..., 1] - 1e-9).all()
