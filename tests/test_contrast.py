"""Token ratios: worked cases, exact laws in multiple precision, symmetries, the table."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayesnb import contrast
from bayesnb.contrast import (
    expected_wrong_direction,
    log_bayes_factor,
    log_ratio_cdf,
    log_ratio_mean,
    log_ratio_quantile,
    log_ratio_sd,
    prob_greater,
    token_ratios,
)
from bayesnb.contrast.law import summarise
from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.logbeta import digamma_drop, trigamma_drop
from tests.ratio_oracle import by_betainc, by_contour, direction, log_beta

# fmt: off
COLUMNS = [
    "count_num", "count_den", "total_num", "total_den", "ratio_map", "ratio_laplace", "ratio_median", "lower", "upper",
    "log_lower", "log_upper", "log_ratio_mean", "log_ratio_sd", "prob_greater", "log_bayes_factor",
    "expected_wrong_direction",
]
# fmt: on
magnitude = st.floats(-3, 9).map(lambda e: 10.0**e)  # every shape the method promises
vocabulary = st.floats(0.7, 9).map(lambda e: 10.0**e)  # the rest of a vocabulary: phi is not within rounding of 1


def posterior(counts, concentration=1.0, tokens=None):
    """A multinomial posterior of classes ham and spam (the rows of counts)."""
    counts = np.asarray(counts, dtype=float)
    prior = multinomial.Prior(ClassPrior(concentration=np.ones(2)), np.full(counts.shape, concentration))
    return multinomial.Posterior(prior, multinomial.Statistics([1, 1], counts), np.array(["ham", "spam"]), tokens)


def quantiles(a1, b1, a2, b2):
    return log_ratio_quantile(np.array([0.025, 0.5, 0.975]), a1, b1, a2, b2)


# --- worked cases -------------------------------------------------------------------------------------------


def test_a_token_seen_in_one_class_only_has_a_finite_wide_interval():
    """Spam 3 of 10, ham 0 of 10, V = 5, concentration 1: the figures derived by exact fractions and quadrature."""
    shapes = 4, 11, 1, 14
    assert prob_greater(*shapes) == pytest.approx(214 / 225, rel=1e-12)
    lower, median, upper = np.exp(quantiles(*shapes))
    # given to 5 or 6 digits
    assert (lower, median, upper) == pytest.approx((0.76376, 5.2034, 147.294), rel=1e-5)
    assert log_ratio_mean(*shapes) == pytest.approx(11 / 6, rel=1e-14)
    assert log_ratio_sd(*shapes) == pytest.approx(1.33824, abs=5e-6)


def test_two_zero_counts_give_exactly_one_and_reciprocal_ends():
    """0 of 10 against 0 of 10: median exactly 1, P exactly 1/2, ends reciprocal."""
    lower, median, upper = quantiles(1, 14, 1, 14)
    assert median == 0.0
    assert prob_greater(1, 14, 1, 14) == 0.5
    assert np.exp([lower, upper]) == pytest.approx([0.027383, 36.5185], rel=2e-5)
    assert log_ratio_quantile(0.025, 1, 14, 1, 14) == -log_ratio_quantile(0.025, 1, 14, 1, 14, upper=True)


def test_ten_against_none_with_a_small_concentration():
    """Counts 10 and 0, concentration 0.5, large totals."""
    shapes = 10.5, 1e6, 0.5, 1e6
    assert prob_greater(*shapes) == pytest.approx(0.99984, abs=5e-6)
    assert np.exp(quantiles(*shapes)) == pytest.approx([3.60, 44.5, 20_900], rel=3e-3)  # given to 3 digits


def test_the_bayes_factor_of_the_worked_case():
    """Spam (2, 1), ham (0, 2), V = 2: evidence 1/36 against 1/60, with no multinomial coefficient on either side."""
    assert np.exp(log_bayes_factor(2, 3, 0, 2, (1, 1), (1, 1))) == pytest.approx(5 / 3, rel=1e-13)


def test_tiny_concentrations_keep_log_quantiles_where_ratios_underflow():
    """Concentration 0.001 and no counts: log quantiles in the thousands, the ratio's own ends 0 and inf."""
    shapes = 1e-3, 1e4, 1e-3, 1e4
    lower, upper = log_ratio_quantile(0.025, *shapes), log_ratio_quantile(0.025, *shapes, upper=True)
    # both tails are exponential of rate 1/1000: P(log R > r) = e^(-r/1000) / 2 but for terms of a few units of r
    assert upper == pytest.approx(1000 * np.log(0.5 / 0.025), abs=5)
    assert lower == -upper
    table = token_ratios(posterior([[0, 9], [0, 9]], 1e-3), "spam", "ham")
    assert table["upper"].iloc[0] == np.inf and table["lower"].iloc[0] == 0.0
    assert np.isfinite(table[["log_lower", "log_upper"]].to_numpy()).all()


# --- exact laws ---------------------------------------------------------------------------------------------


def spread_out(n, low, high, rest_low, rest_high, seed):
    """Shapes over all magnitudes, and the r of a probability for each."""
    rng = np.random.default_rng(seed)
    a, b = 10 ** rng.uniform(low, high, (2, n)), 10 ** rng.uniform(rest_low, rest_high, (2, n))
    p = rng.choice([0.025, 0.3, 0.5, 0.975], n)
    shapes = a[0], b[0], a[1], b[1]
    return log_ratio_quantile(p, *shapes), shapes


@pytest.mark.parametrize(
    ("oracle", "limits"),
    [(by_contour, (-1, 9, 2, 9)), (by_betainc, (-1, 2, -1, 2))],
    ids=["large shapes", "small shapes"],
)
def test_distribution_function_agrees_with_multiple_precision(oracle, limits):
    """Twenty tokens of each kind, within 1e-9 (1e-8 is promised; 1e-11 is usual)."""
    r, shapes = spread_out(20, *limits, seed=11)
    ours = log_ratio_cdf(r, *shapes)
    for i, row in enumerate(zip(*shapes, strict=True)):
        # each route integrates over the beta on the lower side
        exact = 1 - oracle(r[i], *row) if r[i] >= 0 else oracle(-r[i], *row[2:], *row[:2])
        assert abs(float(ours[i] - exact)) < 1e-9, (row, r[i])


@pytest.mark.parametrize(
    "shapes",
    [(3, 1e4, 60, 1e4), (0.01, 1e5, 40, 1e6), (1, 3, 30, 2), (2e3, 1e6, 3e3, 1e6), (5, 90, 80, 9)],
)
def test_a_small_probability_of_direction_keeps_its_relative_precision(shapes):
    """P(phi_a > phi_b) far below rounding of 1 - p agrees with mpmath to 1e-9 of itself."""
    exact = direction(*shapes)
    assert exact < 1e-3
    assert prob_greater(*shapes) == pytest.approx(exact, rel=1e-9)


@settings(max_examples=150, deadline=None)
@given(st.floats(1e-6, 1 - 1e-6), magnitude, vocabulary, magnitude, vocabulary)
def test_the_quantile_inverts_the_distribution_function(p, a1, b1, a2, b2):
    """|cdf(quantile(p)) - p| <= 1e-8 for shapes from 1e-3 to 1e9."""
    r = log_ratio_quantile(p, a1, b1, a2, b2)
    assert abs(log_ratio_cdf(r, a1, b1, a2, b2) - p) <= 1e-8


@settings(max_examples=60, deadline=None)
@given(st.floats(0.001, 0.999), magnitude, magnitude, magnitude, magnitude)
def test_the_quantile_inverts_also_where_phi_is_near_one(p, a1, b1, a2, b2):
    """The same for any second shape, except where the log ratio is nearer 0 than floating point reaches."""
    r = log_ratio_quantile(p, a1, b1, a2, b2)
    assert r == 0 or abs(log_ratio_cdf(r, a1, b1, a2, b2) - p) <= 1e-8


@settings(max_examples=60, deadline=None)
@given(magnitude, magnitude, magnitude, magnitude, st.floats(0.01, 0.999))
def test_exchanging_the_classes_negates_every_log_exactly(a1, b1, a2, b2, level):
    """Bit for bit: lower of a to b is minus upper of b to a, medians negate, the probabilities exchange."""
    there = summarise(level, *(np.array([v]) for v in (a1, b1, a2, b2)))
    back = summarise(level, *(np.array([v]) for v in (a2, b2, a1, b1)))
    assert there["lower"] == -back["upper"] and there["upper"] == -back["lower"]
    assert there["median"] == -back["median"]
    assert there["greater"] == back["less"] and there["less"] == back["greater"]
    assert there["greater"] + there["less"] == 1


@settings(max_examples=40, deadline=None)
@given(magnitude, magnitude, st.floats(0.01, 0.999))
def test_equal_laws_have_median_one_exactly(a, b, level):
    """Two classes with one posterior: log median 0, probability 1/2, ends that mirror each other."""
    law = summarise(level, *(np.array([v]) for v in (a, b, a, b)))
    assert law["median"] == 0 and law["greater"] == 0.5
    assert law["lower"] == -law["upper"]


def test_more_counts_in_the_numerator_raise_every_summary():
    """Quantiles and P(ratio > 1) rise strictly with the numerator's count and fall with the denominator's."""
    n = np.arange(40.0)
    rising = summarise(0.9, 0.5 + n, 1e4 - n, np.full(40, 7.5), np.full(40, 1e4))
    falling = summarise(0.9, np.full(40, 7.5), np.full(40, 1e4), 0.5 + n, 1e4 - n)
    for name in ("median", "lower", "upper", "greater"):
        assert (np.diff(rising[name]) > 0).all() and (np.diff(falling[name]) < 0).all(), name


def test_repeated_rows_and_their_order_change_nothing():
    """A row's answer is the same alone, repeated, or among 9,000 others solved in blocks by threads."""
    rng = np.random.default_rng(4)
    shapes = [rng.uniform(0.5, 50, 9000), rng.uniform(1e3, 1e4, 9000), rng.uniform(0.5, 50, 9000), np.full(9000, 2e3)]
    together = summarise(0.95, *shapes)
    some = rng.choice(9000, 50)
    apart = summarise(0.95, *(v[some] for v in shapes))
    for name, value in together.items():
        np.testing.assert_array_equal(value[some], apart[name])


def test_monte_carlo_agrees_within_five_standard_errors():
    """Shares of 400,000 exact draws below each quantile, with standard error sqrt(p (1-p) / n)."""
    rng, n = np.random.default_rng(20), 400_000
    for shapes in ((4, 11, 1, 14), (10.5, 1e5, 0.5, 1e5), (300, 2e4, 250, 1e4), (2, 0.5, 0.7, 3)):
        a1, b1, a2, b2 = shapes
        log_ratio = np.log(rng.beta(a1, b1, n)) - np.log(rng.beta(a2, b2, n))
        for p in (0.025, 0.5, 0.9):
            share = (log_ratio <= log_ratio_quantile(p, *shapes)).mean()
            assert abs(share - p) < 5 * np.sqrt(p * (1 - p) / n), (shapes, p)
        assert abs(log_ratio.mean() - log_ratio_mean(*shapes)) < 5 * log_ratio_sd(*shapes) / np.sqrt(n)
        greater = float(prob_greater(*shapes))
        assert abs((log_ratio > 0).mean() - greater) <= 5 * np.sqrt(greater * (1 - greater) / n)


# --- moments and Bayes factors ------------------------------------------------------------------------------


@settings(max_examples=80, deadline=None)
@given(magnitude, magnitude)
def test_moments_of_log_phi_keep_their_digits(a, b):
    """psi(a) - psi(a+b) and its trigamma counterpart, also where a is 1e9 and b is 1e-3."""
    with mp.workdps(50):
        mean = mp.digamma(a) - mp.digamma(mp.mpf(a) + b)
        variance = mp.psi(1, a) - mp.psi(1, mp.mpf(a) + b)
    # below a = 10 two digammas of order 1 to 1000 are subtracted: b = 1e-3 costs four digits
    assert float(digamma_drop(a, b)) == pytest.approx(float(mean), rel=1e-11)
    assert float(trigamma_drop(a, b)) == pytest.approx(float(variance), rel=1e-11)


def exact_log_bayes_factor(n1, m1, n2, m2, a, rest):
    """At 50 digits; m1 and m2 are the other tokens."""
    with mp.workdps(50):
        a, rest = mp.mpf(a), mp.mpf(rest)
        apart = log_beta(a + n1, rest + m1) + log_beta(a + n2, rest + m2) - log_beta(a, rest)
        return float(apart - log_beta(a + n1 + n2, rest + m1 + m2))


@settings(max_examples=60, deadline=None)
@given(*[st.integers(0, 10**9)] * 4, st.floats(-3, 2).map(lambda e: 10.0**e), st.floats(0, 5).map(lambda e: 10.0**e))
def test_bayes_factors_agree_with_multiple_precision(n1, m1, n2, m2, a, rest):
    """Any counts up to a billion, any prior."""
    ours = float(log_bayes_factor(n1, n1 + m1, n2, n2 + m2, (a, rest), (a, rest)))
    # shapes of 1e9 hold a prior of 1e-3 to 1e-7, and d log BF / d prior is at most log(1e9): 2e-6 of rounding of inputs
    assert ours == pytest.approx(exact_log_bayes_factor(n1, m1, n2, m2, a, rest), rel=1e-9, abs=2e-6)


@pytest.mark.parametrize("apart", [0, 1000, 100_000, -400_000])
@pytest.mark.parametrize(("n", "m"), [(3 * 10**8, 7 * 10**8), (10**9, 10**9), (5, 10**9), (10**5, 10**9)])
def test_bayes_factors_keep_their_digits_where_classes_nearly_agree(n, m, apart):
    """Log-betas of 1e9 leave an answer of 10: integer priors, so that shapes are exact; betaln is off by 1e-6."""
    other = max(n + apart, 0)
    ours = float(log_bayes_factor(n, n + m, other, other + m, (1, 4), (1, 4)))
    assert ours == pytest.approx(exact_log_bayes_factor(n, m, other, m, 1, 4), rel=1e-10, abs=1e-9)


def test_bayes_factors_that_have_no_meaning_are_missing():
    """Fractional counts, and classes with different priors unless the shared one is given."""
    assert np.isnan(log_bayes_factor(2.5, 3.5, 0, 2, (1, 1), (1, 1)))
    assert np.isnan(log_bayes_factor(2, 3, 0, 2, (1, 1), (2, 1)))
    assert np.isfinite(log_bayes_factor(2, 3, 0, 2, (1, 1), (2, 1), shared=(1, 1)))


# --- the table ----------------------------------------------------------------------------------------------


def test_the_table_has_the_promised_columns_and_figures():
    """Columns by name and order, tokens as index, point ratios by their formulas."""
    tokens = np.array(["a", "b", "c", "d", "e"])
    table = token_ratios(posterior([[0, 2, 3, 5, 0], [3, 1, 2, 4, 0]], tokens=tokens), "spam", "ham", alpha=0.5)
    assert list(table.columns) == COLUMNS
    assert table.index.name == "token" and list(table.index) == list(tokens)
    first = table.loc["a"]
    assert (first.count_num, first.count_den, first.total_num, first.total_den) == (3, 0, 10, 10)
    assert first.ratio_laplace == pytest.approx(3.5 / 0.5)
    assert table.loc["b"].ratio_map == pytest.approx(0.5)
    assert first.ratio_median == pytest.approx(5.2034, rel=1e-5)
    assert np.exp(first.log_lower) == first.lower
    assert np.isnan(table.loc["e"].ratio_map)  # 0/0
    assert table.attrs["numerator"] == "spam" and table.attrs["level"] == 0.95


def test_the_laplace_ratio_smooths_each_class_by_its_own_total():
    """(n1+s)(N2+sV) / ((n2+s)(N1+sV)) with unequal totals, and 2s for the Bernoulli event."""
    table = token_ratios(posterior([[1, 3, 0], [2, 0, 8]]), "spam", "ham", alpha=2.0)
    assert table["ratio_laplace"].iloc[0] == pytest.approx((2 + 2) * (4 + 6) / ((1 + 2) * (10 + 6)))
    prior = bernoulli.Prior.resolve(ClassPrior(concentration=np.ones(2)), 1.0, 1.0, "mean", (2, 1))
    presence = bernoulli.Posterior(prior, bernoulli.Statistics([4, 10], [[1], [2]]), np.array(["ham", "spam"]))
    table = token_ratios(presence, "spam", "ham", alpha=2.0)
    assert table["ratio_laplace"].iloc[0] == pytest.approx((2 + 2) * (4 + 4) / ((1 + 2) * (10 + 4)))
    assert table["prob_greater"].iloc[0] == pytest.approx(float(prob_greater(3, 9, 2, 4)), rel=1e-12)
    assert list(table[["total_num", "total_den"]].iloc[0]) == [10, 4]


def test_no_mode_means_no_map_ratio():
    """A concentration below 1 with a zero count leaves the class without a mode."""
    table = token_ratios(posterior([[0, 2], [3, 1]], 0.5), "spam", "ham")
    assert table["ratio_map"].isna().all()
    assert table["ratio_median"].notna().all()


def test_chosen_tokens_come_in_the_order_asked_for_with_the_same_law():
    """`tokens` selects rows; each row's posterior is that of the whole table."""
    tokens = np.array(["a", "b", "c"])
    whole = token_ratios(posterior([[1, 3, 0], [2, 0, 8]], tokens=tokens), "spam", "ham")
    part = token_ratios(posterior([[1, 3, 0], [2, 0, 8]], tokens=tokens), "spam", "ham", tokens=["c", "a"])
    assert list(part.index) == ["c", "a"]
    columns = [c for c in COLUMNS if c != "expected_wrong_direction"]  # of the tokens in the table
    assert part[columns].equals(whole.loc[["c", "a"], columns])


@pytest.mark.parametrize("size", [1e9 + 1 / 3, 1e12, 1e16, 1e18])
def test_bayes_factors_keep_their_digits_under_large_concentrations(size):
    """Against a = 1e16 a count of 1 is half a unit of the last place; the answer is about 1e-15, not -2 or 4."""
    for n1, total1, n2, total2 in ((3, 4, 0, 2), (0, 75, 0, 1), (500, 900, 20, 700)):
        got = log_bayes_factor(n1, total1, n2, total2, (size, 3 * size), (size, 3 * size))
        exact = exact_log_bayes_factor(n1, total1 - n1, n2, total2 - n2, size, 3 * size)
        assert got == pytest.approx(exact, rel=1e-9, abs=1e-13)


def test_a_shape_far_below_the_other_has_a_law():
    """Beta(a, b) with b below the rounding of a + b; I_x(a2, 1) = x^a2 gives P(log R > r) in closed form."""
    r, a1, b1, a2 = 1e-3, 1e3, 1e-15, 500.0
    exact = np.exp(-r * a2)  # B(a1 + a2, b1)/B(a1, b1) is within 1e-14 of 1
    assert 1 - log_ratio_cdf(r, a1, b1, a2, 1.0) == pytest.approx(exact, abs=1e-11)
    assert np.isfinite(log_ratio_quantile(0.3, 3.0, 2e-15, 2e-15, 3.0))


@pytest.mark.parametrize("a", [1e-20, 1e60])
def test_shapes_beyond_the_laws_range_are_refused_with_that_range(a):
    with pytest.raises(ValueError, match=r"law of a ratio is computed for Beta shapes .* from 1e-15 to 1e\+18"):
        token_ratios(posterior([[1, 3, 0], [2, 0, 8]], a), "spam", "ham")


def test_bad_names_and_levels_are_refused_by_name():
    """One line that says what was wrong and what there is."""
    post = posterior([[1, 3], [2, 8]], tokens=np.array(["a", "b"]))
    for arguments, words in (
        (("spam", "eggs"), "unknown class 'eggs'; there are 'ham', 'spam'"),
        (("spam", "spam"), "both 'spam'"),
        (("spam", "ham", 1.0), "level"),
        (("spam", "ham", 0.9, ["z"]), "unknown token 'z'"),
    ):
        with pytest.raises(ValueError, match=words) as caught:
            token_ratios(post, *arguments)
        assert "\n" not in str(caught.value)


def test_shapes_and_probabilities_out_of_range_are_refused():
    """Never a silent NaN from the functions themselves."""
    for shapes in ((0, 1, 1, 1), (1, -1, 1, 1), (1, 1, np.nan, 1), (1, 1, 1, np.inf)):
        with pytest.raises(ValueError, match="above 0"):
            prob_greater(*shapes)
    with pytest.raises(ValueError, match="between 0 and 1"):
        log_ratio_quantile(1.5, 1, 1, 1, 1)
    with pytest.raises(ValueError, match="NaN"):
        log_ratio_cdf(np.nan, 1, 1, 1, 1)
    assert list(log_ratio_quantile([0, 1], 1, 2, 3, 4)) == [-np.inf, np.inf]
    assert list(log_ratio_cdf([-np.inf, np.inf], 1, 2, 3, 4)) == [0, 1]


def test_the_share_of_wrong_directions_is_a_running_mean_down_the_ranking():
    """Three tokens, ranked by the interval end nearest 1; values by hand, in token order."""
    lower, upper = np.array([-1.0, 2.0, -3.0]), np.array([1.0, 4.0, -0.5])  # scores -1, 2, 0.5
    wrong = np.array([0.4, 0.01, 0.1])
    assert expected_wrong_direction(lower, upper, wrong) == pytest.approx([0.17, 0.01, 0.055])


def test_both_zero_sorts_below_a_token_that_was_seen():
    """The token without data ranks last by the end nearest 1, so its share is the mean over all tokens."""
    table = token_ratios(posterior([[0, 1, 30], [0, 9, 22]]), "spam", "ham")
    wrong = np.minimum(table["prob_greater"], 1 - table["prob_greater"])
    assert table["expected_wrong_direction"].iloc[0] == pytest.approx(wrong.mean())


def test_an_empty_choice_of_tokens_is_an_empty_table():
    """No tokens asked for, no rows, all columns."""
    table = token_ratios(posterior([[1, 3], [2, 8]]), "spam", "ham", tokens=[])
    assert len(table) == 0 and list(table.columns) == COLUMNS


def test_public_names_are_in_all():
    """What the module says it offers exists."""
    assert all(hasattr(contrast, name) for name in contrast.__all__)
