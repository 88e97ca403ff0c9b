"""Dirichlet, Beta and Point against scipy.stats, mpmath and exact moments."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from bayesnb.families import Beta, Dirichlet, NoModeError, Point

SHAPES = [(0.5, 0.5), (1.0, 3.0), (2.0, 2.0), (5.5, 1.2), (0.01, 3.0), (300.0, 20_000.0)]
ROWS = [[5.0, 3.0, 2.0], [0.5, 0.5, 0.5], [1.0, 1.0, 7.5], [0.01, 40.0, 3.0]]


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_beta_has_the_moments_and_quantiles_of_scipy(a, b):
    beta, reference = Beta(a, b), stats.beta(a, b)
    assert beta.mean() == pytest.approx(reference.mean(), rel=1e-13)
    assert beta.variance() == pytest.approx(reference.var(), rel=1e-12)
    np.testing.assert_allclose(beta.interval(0.9), reference.interval(0.9), rtol=1e-9)


@pytest.mark.parametrize(("a", "b"), SHAPES[:5])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_beta_interval_leaves_equal_tails_by_mpmath(a, b, level):
    """Each tail holds (1 - level)/2 to 1e-9, SciPy's accuracy of quantiles; a lower end may be below every float."""
    lower, upper = Beta(a, b).interval(level)
    tail = (1 - level) / 2
    with mpmath.workdps(40):
        below = mpmath.betainc(a, b, 0, mpmath.mpf(float(lower)), regularized=True)
        above = mpmath.betainc(a, b, mpmath.mpf(float(upper)), 1, regularized=True)
    assert float(below) == pytest.approx(tail, rel=1e-9) or lower <= np.finfo(float).tiny
    assert float(above) == pytest.approx(tail, rel=1e-9)


@pytest.mark.parametrize(("a", "b"), SHAPES)
def test_beta_log_density_and_log_moments_agree_with_mpmath(a, b):
    x = 0.3
    with mpmath.workdps(40):
        log_b = mpmath.log(mpmath.beta(a, b))
        density = (a - 1) * mpmath.log(mpmath.mpf(x)) + (b - 1) * mpmath.log(1 - mpmath.mpf(x)) - log_b
        mean_log = mpmath.psi(0, a) - mpmath.psi(0, a + b)
        variance_log = mpmath.psi(1, a) - mpmath.psi(1, a + b)
    beta = Beta(a, b)
    assert beta.log_normalizer() == pytest.approx(float(log_b), rel=1e-13)
    assert beta.log_density(x) == pytest.approx(float(density), rel=1e-12)
    assert beta.mean_log() == pytest.approx(float(mean_log), rel=1e-12)
    assert beta.variance_log() == pytest.approx(float(variance_log), rel=1e-12)


def test_beta_log_density_is_minus_infinity_outside_its_support():
    """Never NaN: neither at the edges nor beyond them."""
    np.testing.assert_array_equal(Beta(2, 3).log_density([-0.1, 0.0, 1.0, 1.1]), -np.inf)
    assert Beta(1, 1).log_density(0.0) == 0
    assert Beta(0.5, 2).log_density(0.0) == np.inf


def test_beta_mode_is_where_the_density_is_highest():
    beta = Beta([[5.0, 2.0], [1.0, 3.5]], [[2.0, 2.0], [4.0, 1.0]])
    mode = beta.mode()
    np.testing.assert_allclose(mode, [[4 / 5, 1 / 2], [0, 1]], rtol=1e-15)
    for step in (-1e-3, 1e-3):
        assert (beta.log_density(mode) > beta.log_density(mode + step)).all()


@pytest.mark.parametrize(("a", "b", "unbounded"), [(0.999, 3, True), (3, 0.5, True), (1, 1, False), (0.5, 0.5, True)])
def test_beta_without_a_unique_mode_says_so(a, b, unbounded):
    with pytest.raises(NoModeError, match="use the mean instead") as caught:
        Beta(a, b).mode()
    assert caught.value.unbounded is unbounded


def test_missing_mode_names_the_cell():
    with pytest.raises(NoModeError) as caught:
        Dirichlet([[2, 2, 2], [2, 2, 0.5]]).mode()
    assert caught.value.index == (1, 2)
    with pytest.raises(NoModeError) as caught:
        Dirichlet([[2, 1, 1], [1, 1, 1]]).mode()
    assert caught.value.index == (1,) and not caught.value.unbounded


def test_beta_complement_keeps_digits_that_a_subtraction_loses():
    beta = Beta(1e12, 3e-7)
    assert 1 - beta.mean() == 0
    assert beta.complement().mean() == pytest.approx(3e-19, rel=1e-12)
    assert beta.complement().variance() == beta.variance()


@pytest.mark.parametrize("row", ROWS)
def test_dirichlet_has_the_moments_and_density_of_scipy(row):
    dirichlet, reference = Dirichlet(row), stats.dirichlet(row)
    x = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(dirichlet.mean(), reference.mean(), rtol=1e-14)
    np.testing.assert_allclose(dirichlet.variance(), reference.var(), rtol=1e-11)
    assert dirichlet.log_density(x) == pytest.approx(reference.logpdf(x), rel=1e-12)
    for cell in range(3):
        ends = stats.beta(row[cell], sum(row) - row[cell]).interval(0.8)
        np.testing.assert_allclose(dirichlet.interval(0.8)[cell], ends, rtol=1e-9)


def test_dirichlet_rows_are_independent_distributions():
    both, x = Dirichlet(ROWS), np.full(3, 1 / 3)
    for name in ("mean", "variance", "interval", "log_normalizer", "mean_log", "variance_log"):
        each = np.stack([getattr(Dirichlet(row), name)() for row in ROWS])
        np.testing.assert_array_equal(getattr(both, name)(), each)
    np.testing.assert_array_equal(both.log_density(x), [Dirichlet(row).log_density(x) for row in ROWS])


def test_dirichlet_log_moments_are_polygammas_by_mpmath():
    row = ROWS[3]
    for order, ours in enumerate((Dirichlet(row).mean_log(), Dirichlet(row).variance_log())):
        exact = [float(mpmath.psi(order, a) - mpmath.psi(order, mpmath.fsum(row))) for a in row]
        np.testing.assert_allclose(ours, exact, rtol=1e-12)


def test_textbook_counts_have_the_stated_modes_and_means():
    """Counts (3, 1, 0): under a = 2, 1, 1/2 the exact fractions; a = 1/2 has no mode, and a mean all the same."""
    n = np.array([3, 1, 0])
    np.testing.assert_allclose(Dirichlet(n + 2).mode(), [4 / 7, 2 / 7, 1 / 7], rtol=1e-15)
    np.testing.assert_allclose(Dirichlet(n + 2).mean(), [1 / 2, 3 / 10, 1 / 5], rtol=1e-15)
    np.testing.assert_array_equal(Dirichlet(n + 1).mode(), [3 / 4, 1 / 4, 0])
    np.testing.assert_allclose(Dirichlet(n + 1).mean(), [4 / 7, 2 / 7, 1 / 7], rtol=1e-15)
    np.testing.assert_allclose(Dirichlet(n + 0.5).mean(), [7 / 11, 3 / 11, 1 / 11], rtol=1e-15)
    with pytest.raises(NoModeError):
        Dirichlet(n + 0.5).mode()


def test_dirichlet_mode_is_where_the_density_is_highest():
    dirichlet = Dirichlet([4.0, 2.0, 1.5])
    mode, away = dirichlet.mode(), np.array([1e-3, -2e-3, 1e-3])
    for step in (away, -away, np.roll(away, 1)):
        assert dirichlet.log_density(mode) > dirichlet.log_density(mode + step)


def test_dirichlet_log_density_is_minus_infinity_off_the_simplex_and_finite_where_zero_to_the_zero():
    assert Dirichlet([1, 2, 2]).log_density([-0.1, 0.6, 0.5]) == -np.inf
    assert Dirichlet([1, 2]).log_density([0.0, 1.0]) == pytest.approx(np.log(2), rel=1e-15)


def test_dirichlet_with_two_cells_is_a_beta():
    dirichlet, beta = Dirichlet([2.5, 4.0]), Beta(2.5, 4.0)
    assert dirichlet.log_normalizer() == pytest.approx(beta.log_normalizer(), rel=1e-14)
    np.testing.assert_allclose(dirichlet.mode()[0], beta.mode(), rtol=1e-15)
    np.testing.assert_array_equal(dirichlet.interval()[0], beta.interval())


def test_margins_keep_a_tiny_rest_beside_a_huge_cell():
    """A - a_j must not round to 0: its exact value is the sum of the other cells."""
    margin = Dirichlet([[1e12, 1e-7, 2e-7], [3.0, 4.0, 5.0]]).marginal()
    np.testing.assert_allclose(margin.b[:, 0], [3e-7, 9.0], rtol=1e-15)
    np.testing.assert_allclose(margin.b[0, 1:], 1e12, rtol=1e-15)


def test_variance_keeps_its_digits_beside_a_huge_cell():
    """Exact fractions at concentrations 1e9 and 1e-6, where 1 - mean has rounded."""
    a = [Fraction(10**9), Fraction(1, 2**20)]
    total = sum(a)
    exact = a[0] * a[1] / (total**2 * (total + 1))
    np.testing.assert_allclose(Dirichlet([float(x) for x in a]).variance(), float(exact), rtol=1e-14)


def test_one_cell_is_the_constant_one():
    single = Dirichlet([[0.5], [3.0]])
    np.testing.assert_array_equal(single.mean(), 1)
    np.testing.assert_array_equal(single.mode(), 1)
    np.testing.assert_array_equal(single.variance(), 0)
    np.testing.assert_array_equal(single.interval(), 1)
    np.testing.assert_array_equal(single.draw(np.random.default_rng(0), 4), 1)


def rising_moment(a, total, order):
    """E[x^order] of a cell, exactly a rising factorial over another."""
    return special.poch(a, order) / special.poch(total, order)


@pytest.mark.parametrize("row", ROWS)
def test_dirichlet_draws_have_exact_first_and_second_moments(row):
    """Means of x and x^2 within 5 standard errors, which come from the exact moments up to the fourth."""
    n, a = 40_000, np.array(row)
    x = Dirichlet(row).draw(np.random.default_rng(2), (n,))
    np.testing.assert_allclose(x.sum(axis=1), 1, rtol=1e-12)
    for power in (1, 2):
        exact = rising_moment(a, a.sum(), power)
        error = np.sqrt((rising_moment(a, a.sum(), 2 * power) - exact**2) / n)
        assert (abs((x**power).mean(axis=0) - exact) < 5 * error).all()


def check_log_draws(log_x, a, total):
    """Mean and variance of log x against their exact values; fourth cumulants give the standard errors."""
    n = len(log_x)
    cumulant = [special.polygamma(m, a) - special.polygamma(m, total) for m in range(4)]
    assert np.isfinite(log_x).all()
    assert (abs(log_x.mean(axis=0) - cumulant[0]) < 5 * np.sqrt(cumulant[1] / n)).all()
    spread = ((log_x - cumulant[0]) ** 2).mean(axis=0)
    assert (abs(spread - cumulant[1]) < 5 * np.sqrt((cumulant[3] + 2 * cumulant[1] ** 2) / n)).all()


@pytest.mark.parametrize("row", [*ROWS, [1e-3, 1e-3, 1e-3], [1e-3, 5.0, 1e3]])
def test_dirichlet_log_draws_never_underflow_and_have_exact_cumulants(row):
    log_x = Dirichlet(row).draw(np.random.default_rng(3), (40_000,), log=True)
    check_log_draws(log_x, np.array(row), sum(row))
    np.testing.assert_allclose(special.logsumexp(log_x, axis=1), 0, atol=1e-12)


@pytest.mark.parametrize(("a", "b"), [*SHAPES, (1e-3, 1e-3), (1e-3, 1e3)])
def test_beta_log_draws_never_underflow_and_have_exact_cumulants(a, b):
    log_x = Beta([a], [b]).draw(np.random.default_rng(4), (40_000,), log=True)
    check_log_draws(log_x, np.array([a]), a + b)


def test_plain_and_log_draws_of_one_seed_are_the_same_draws():
    for family in (Dirichlet(ROWS), Beta([0.2, 3.0], [4.0, 1.0])):
        plain = family.draw(np.random.default_rng(5), (7,))
        np.testing.assert_allclose(np.log(plain), family.draw(np.random.default_rng(5), (7,), log=True), rtol=1e-12)


@pytest.mark.parametrize(("size", "shape"), [((), ()), (None, ()), (3, (3,)), ((2, 5), (2, 5))])
def test_size_of_a_draw_is_read_as_numpy_reads_it(size, shape):
    rng = np.random.default_rng(0)
    assert Dirichlet(ROWS).draw(rng, size).shape == (*shape, 4, 3)
    assert Beta([1.0, 2.0], 3.0).draw(rng, size).shape == (*shape, 2)
    assert Point([0.9, 0.1]).draw(rng, size).shape == (*shape, 2)


def test_point_is_its_value_with_certainty():
    point = Point([0.75, 0.25, 0.0])
    np.testing.assert_array_equal(point.mode(), point.mean())
    np.testing.assert_array_equal(point.variance(), 0)
    np.testing.assert_array_equal(point.interval(0.5), np.stack([point.value, point.value], axis=-1))
    np.testing.assert_array_equal(point.mean_log(), [np.log(0.75), np.log(0.25), -np.inf])


@pytest.mark.parametrize("bad", [0, -1, np.nan, np.inf, "abc", None, [1.0, 0.0]])
def test_concentration_must_be_positive_and_finite(bad):
    with pytest.raises(ValueError, match="above 0"):
        Dirichlet(bad)
    with pytest.raises(ValueError, match="above 0"):
        Beta(1.0, bad)


@pytest.mark.parametrize("bad", [0, 1, 95, -0.5, np.nan, "abc", None])
def test_level_must_lie_between_0_and_1(bad):
    for family in (Beta(1, 1), Dirichlet([1, 1]), Dirichlet([1]), Point([1.0])):
        with pytest.raises(ValueError, match="level"):
            family.interval(bad)


@pytest.mark.parametrize(("a", "b"), [(1e9, 1e-3), (1e12, 2.0), (50.0, 1e-9)])
def test_moments_of_the_log_keep_their_digits_where_one_shape_is_far_the_larger(a, b):
    """psi(1e12) and psi(1e12 + 2) agree in all but two digits; their difference is known to all."""
    with mpmath.workdps(50):
        exact = [float(mpmath.psi(i, mpmath.mpf(a)) - mpmath.psi(i, mpmath.mpf(a) + mpmath.mpf(b))) for i in (0, 1)]
    for family in (Beta(a, b), Dirichlet([a, b])):
        mean, variance = np.ravel(family.mean_log())[0], np.ravel(family.variance_log())[0]
        assert (mean, variance) == pytest.approx(exact, rel=1e-12, abs=1e-300)
