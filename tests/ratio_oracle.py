"""P(log R > r) by routes in multiple precision that share nothing with bayesnb.contrast.quadrature."""

from itertools import pairwise

import mpmath as mp
import numpy as np

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)


def by_contour(r, a1, b1, a2, b2):
    """Mellin inversion, r >= 0: (1/2 pi i) integral of E[R^s] e^(-s r) / s ds along Re s = c, through the saddle.

    Left of the pole at s = 0 that is the probability less 1.
    """
    if r > 20 + max(0, mp.log((b2 + 1) / (b1 + 1))):
        return by_residues(r, a1, b1, a2, b2)
    # log-gammas of b log b are subtracted: their digits are added to the 18 that are wanted
    with mp.workdps(18 + int(mp.log10(a1 + b1 + a2 + b2 + 10))):
        r, a1, b1, a2, b2 = map(mp.mpf, (r, a1, b1, a2, b2))
        gamma = mp.loggamma
        known = gamma(a1 + b1) - gamma(a1) + gamma(a2 + b2) - gamma(a2)

        def slope(s, order=0):  # of the log of E[R^s] e^(-s r), and where order is 1 the variance
            parts = (
                mp.psi(order, a1 + s) - mp.psi(order, a1 + b1 + s),
                mp.psi(order, a2 - s) - mp.psi(order, a2 + b2 - s),
            )
            return parts[0] + parts[1] if order else parts[0] - parts[1] - r

        def value(t):
            s = mp.mpc(c, t)
            log = gamma(a1 + s) - gamma(a1 + b1 + s) + gamma(a2 - s) - gamma(a2 + b2 - s) + known - s * r
            return complex(mp.exp(log) / s)

        low, high = -a1, a2
        for _ in range(40):
            c = (low + high) / 2
            low, high = (low, c) if slope(c) > 0 else (c, high)
        step = 1 / (8 * mp.sqrt(slope(mp.mpf(0), 1)))
        c = c if abs(c) > 4 * step else min(4 * step, a2 / 2)  # not too near the pole at 0
        total, left, right = 0.0, 0.0, float(min(1 / (8 * mp.sqrt(slope(c, 1))), abs(c)))
        while True:
            # poles are as far as a panel is long, and the phase turns by 3 radians in each: 24 nodes reach 1e-20
            # there, and what is added up needs no more than floating point
            turning = max(abs(mp.re(slope(mp.mpc(c, t)))) for t in (left, right))
            for start, end in pairwise(np.linspace(left, right, 3 + int(turning * (right - left) / 3))):
                values = [value(t).real for t in (start + end) / 2 + (end - start) / 2 * _NODES]
                total += (end - start) / 2 * float(_WEIGHTS @ values)
            if right * abs(value(right)) < 1e-15:
                return total / np.pi + (c < 0)
            left, right = right, 2 * right


def by_residues(r, a1, b1, a2, b2):
    """The same contour closed to the right, round the poles s = a2 + k: a series in e^(-r), quick where r is large."""
    with mp.workdps(18 + int(mp.log10(a1 + b1 + a2 + b2 + 10))):
        r, a1, b1, a2, b2 = map(mp.mpf, (r, a1, b1, a2, b2))
        gamma, total = mp.loggamma, mp.mpf(0)
        known = gamma(a1 + b1) - gamma(a1) + gamma(a2 + b2) - gamma(a2)
        for k in range(200):
            size = gamma(a1 + a2 + k) - gamma(a1 + b1 + a2 + k) + known - (a2 + k) * r
            term = (-1) ** k * mp.exp(size) * mp.rgamma(b2 - k) / (mp.factorial(k) * (a2 + k))
            total += term
            if abs(term) <= abs(total) * mp.mpf(10) ** -18:
                return total
        raise ValueError("the series has not converged; r is too small for it")


def by_betainc(r, a1, b1, a2, b2):
    """The double integral, the inner one by mpmath's hypergeometric series, in logit(phi_1); for moderate shapes."""
    with mp.workdps(16):
        r, a1, b1, a2, b2 = map(mp.mpf, (r, a1, b1, a2, b2))
        rho, norm = mp.exp(-r), mp.log(mp.beta(a1, b1))

        def integrand(t):
            phi, rest = 1 / (1 + mp.exp(-t)), 1 / (1 + mp.exp(t))
            x = min(phi * rho, mp.mpf(1))
            inner = mp.betainc(a2, b2, 0, x, regularized=True)
            return mp.exp(a1 * mp.log(phi) + b1 * mp.log(rest) - norm) * inner

        bend, mode = mp.log((a2 + 1) / (b2 + 1)) + r, mp.log((a1 + 1) / (b1 + 1))
        ends = {-45 / a1 + min(mode, 0) - 5, mode, bend, mp.mpf(0), mode - 3, mode + 3, bend - 3, bend + 3}
        ends.add(45 / b1 + max(mode, 0) + 5)
        return mp.quad(integrand, sorted(e for e in ends if -45 / a1 - 50 < e < 45 / b1 + 50))


def direction(a1, b1, a2, b2):
    """P(phi_1 > phi_2) for whole a2 and b2: at least a2 of a2 + b2 - 1 uniform points lie below phi_1."""
    with mp.workdps(30):
        a1, b1 = mp.mpf(a1), mp.mpf(b1)
        n, k, total = int(a2 + b2) - 1, int(a2), mp.mpf(0)
        while k <= n:
            term = mp.exp(log_beta(a1 + k, b1 + n - k) - log_beta(mp.mpf(k + 1), mp.mpf(n - k + 1)))
            total += term / (n + 1)
            if term < total * mp.mpf(10) ** -18:
                break
            k += 1
        return float(total / mp.exp(log_beta(a1, b1)))


def log_beta(x, y):
    """Log B(x, y) at the working precision."""
    return mp.loggamma(x) + mp.loggamma(y) - mp.loggamma(x + y)
