"""Log evidence of Beta and Dirichlet counts against mpmath at 60 digits."""

import mpmath as mp
import numpy as np
import pytest

from bayesnb.logbeta import log_beta_step, log_dirichlet_step

# what is asked for; measured 1.3e-13 for one cell and 5e-15 for a row
RTOL = 1e-12


def exact(a, n):
    """Log prod_j (a_j)_(n_j) / (A)_N."""
    with mp.workdps(60):
        a, n = [mp.mpf(v) for v in a], [mp.mpf(v) for v in n]
        each = sum(mp.loggamma(x + y) - mp.loggamma(x) for x, y in zip(a, n, strict=True))
        return each - mp.loggamma(sum(a) + sum(n)) + mp.loggamma(sum(a))


def off(got, a, n):
    truth = exact(a, n)
    return abs(float((truth - mp.mpf(float(got))) / truth)) if truth else abs(float(got))


def test_a_beta_step_keeps_its_digits_over_the_whole_range():
    """Shapes 1e-6 to 1e9, whole counts to 1e15, a third of them with no hit or no miss."""
    rng = np.random.default_rng(1)
    a, b = 10 ** rng.uniform(-6, 9, (2, 400))
    n, m = np.floor(10 ** rng.uniform(-1, 15, (2, 400)))
    n[:60] = 0
    m[60:120] = 0
    got = log_beta_step(a, b, n, m)
    assert max(off(g, (w, x), (y, z)) for g, w, x, y, z in zip(got, a, b, n, m, strict=True)) < RTOL


def test_a_beta_step_of_fractional_counts():
    """Below a count of 1 a shape under 10 costs digits of a result of 1e-9 and less, hence also 1e-18 absolute."""
    rng = np.random.default_rng(2)
    a, b = 10 ** rng.uniform(-6, 9, (2, 300))
    n, m = 10 ** rng.uniform(-8, 3, (2, 300))
    got = log_beta_step(a, b, n, m)
    for g, w, x, y, z in zip(got, a, b, n, m, strict=True):
        truth = float(exact((w, x), (y, z)))
        assert g == pytest.approx(truth, rel=RTOL, abs=1e-18)


def test_a_dirichlet_step_keeps_its_digits_in_any_order_of_the_cells():
    rng = np.random.default_rng(3)
    for _ in range(60):
        v = rng.integers(2, 8)
        a, n = 10 ** rng.uniform(-6, 9, v), np.floor(10 ** rng.uniform(-1, 15, v)) * (rng.random(v) < 0.7)
        order = rng.permutation(v)
        assert off(log_dirichlet_step(a, n), a, n) < RTOL
        assert off(log_dirichlet_step(a[order], n[order]), a, n) < RTOL


@pytest.mark.parametrize("size", [1e-100, 1e100])
@pytest.mark.parametrize("count", [0.0, 1.0, 3.5, 1e100])
def test_steps_are_finite_at_the_ends_of_what_is_accepted(size, count):
    shapes = np.array([size, 1.0, 1 / size])
    got = log_beta_step(shapes[:, None], shapes, count, np.array([0.0, 1.0, 1e100])[:, None, None])
    assert np.isfinite(got).all() and (got <= 0).all()


def test_no_data_and_one_cell_are_certain():
    assert log_dirichlet_step([1.0, 2.0], [0.0, 0.0]) == 0
    np.testing.assert_array_equal(log_dirichlet_step([[2.0], [3.0]], [[5.0], [0.0]]), [0, 0])
    assert log_dirichlet_step(np.ones((3, 0)), np.zeros((3, 0))).tolist() == [0, 0, 0]
