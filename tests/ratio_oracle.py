"""P(log R > r) by two routes in multiple precision that share nothing with bayesnb.contrast.quadrature."""

import mpmath as mp


def by_contour(r, a1, b1, a2, b2):
    """Mellin inversion: (1/2 pi i) integral of E[R^s] e^(-s r) / s ds along Re s = c, 0 < c < a2."""
    with mp.workdps(20):
        r, a1, b1, a2, b2 = map(mp.mpf, (r, a1, b1, a2, b2))
        gamma = mp.loggamma
        known = gamma(a1 + b1) - gamma(a1) + gamma(a2 + b2) - gamma(a2)
        sd = mp.sqrt(mp.psi(1, a1) - mp.psi(1, a1 + b1) + mp.psi(1, a2) - mp.psi(1, a2 + b2))
        c = min(a2 / 2, 1 / sd)

        def integrand(t):
            s = mp.mpc(c, t)
            log = gamma(a1 + s) - gamma(a1 + b1 + s) + gamma(a2 - s) - gamma(a2 + b2 - s) + known - s * r
            return mp.re(mp.exp(log) / s)

        total, left, right = mp.mpf(0), mp.mpf(0), 1 / (8 * sd)
        while True:
            piece = mp.quad(integrand, mp.linspace(left, right, 3))
            total += piece
            if right > 4 / sd and abs(piece) < mp.mpf(10) ** -13:
                return total / mp.pi
            left, right = right, 2 * right


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
