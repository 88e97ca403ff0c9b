"""Do credible intervals hold the truth as often as they say? 2,000 corpora drawn from the prior; run on purpose.

python -m tests.benchmarks.coverage [corpora] [seed]

Parameters are drawn from the prior and a small corpus from the parameters; then each interval of level p holds its
truth with probability p exactly, whatever the prior. Exact binomial tests, one a row; FAILURE_RATE is the chance, at
most, that correct intervals fail any of them (Bonferroni over all rows of all settings).

The document that is scored is fixed, or comes from a draw of the prior of its own. Drawn from the simulated parameters
it would carry knowledge of them that the posterior does not have, and its interval would seem too narrow: that is the
control, and it must fail.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from scipy import special, stats

from bayesnb.contrast.law import summarise
from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta
from bayesnb.uncertainty import class_probability_interval

CORPORA = 2000
LEVELS = (0.5, 0.8, 0.95)
FAILURE_RATE = 1e-4
DOCUMENTS, LENGTH = 5, 6  # of a corpus: small, so that prior and likelihood both matter
TOKENS, SCORED = 10, 8  # the vocabulary, and tokens of the document that is scored
# between 0.6 and 2.4, no two alike
_CONCENTRATION = 0.6 + np.arange(3 * TOKENS).reshape(3, TOKENS) * 7 % 31 / 17
_OTHER = 0.6 + np.arange(3 * TOKENS).reshape(3, TOKENS) * 12 % 31 / 17  # b of the Bernoulli model
_FIXED = {"multinomial": [3.0, 0, 0, 2, 0, 1, 0, 0, 2, 0], "bernoulli": [1.0, 0, 0, 1, 0, 1, 0, 0, 1, 0]}


@dataclass(frozen=True)
class Setting:
    """An event model and a number of classes."""

    module: ModuleType
    n_classes: int

    @property
    def event(self):
        return self.module.Posterior.event

    @property
    def prior(self):
        a, b = _CONCENTRATION[: self.n_classes], _OTHER[: self.n_classes]
        theta = ClassPrior(concentration=np.array([1.5, 1.0, 2.0])[: self.n_classes])
        return self.module.Prior(theta, a if self.event == "multinomial" else Beta(a, b))

    def parameters(self, n, rng):
        """Draws of the prior: theta (n, K), phi (n, K, V)."""
        prior = self.prior
        theta = rng.dirichlet(prior.theta.concentration, n)
        if self.event == "bernoulli":
            return theta, rng.beta(prior.phi.a, prior.phi.b, (n, *prior.shape))
        gamma = rng.standard_gamma(prior.phi, (n, *prior.shape))
        return theta, gamma / gamma.sum(-1, keepdims=True)

    def corpora(self, theta, phi, rng):
        """Totals of a corpus from each: documents (n, K) and counts (n, K, V) by class."""
        documents = rng.multinomial(DOCUMENTS, theta)
        if self.event == "bernoulli":
            return documents, rng.binomial(documents[..., None], phi)
        return documents, rng.multinomial(LENGTH * documents, phi)

    def documents(self, theta, phi, rng):
        """One document from each, of a class drawn from theta: (n, V)."""
        label = (rng.random(len(theta))[:, None] > theta.cumsum(-1)).sum(-1).clip(max=self.n_classes - 1)
        own = phi[np.arange(len(phi)), label]
        drawn = rng.binomial(1, own) if self.event == "bernoulli" else rng.multinomial(SCORED, own)
        return drawn.astype(float)

    def first_class_probability(self, theta, phi, x):
        """P(y = first class | x, theta, phi), with x (n, d, V): (n, d)."""
        log = np.einsum("ndv,nkv->ndk", x, np.log(phi))
        if self.event == "bernoulli":
            log += np.einsum("ndv,nkv->ndk", 1 - x, np.log1p(-phi))
        return special.softmax(log + np.log(theta)[:, None], axis=-1)[..., 0]

    @property
    def quantities(self):
        """What is tested; more than two classes are scored on a lattice, slowly: one document there, no control."""
        return QUANTITIES[: -1 if self.n_classes > 2 else None]


SETTINGS = (Setting(multinomial, 2), Setting(bernoulli, 2), Setting(multinomial, 3))
QUANTITIES = (
    "phi, first class and token", "phi, second class, last token", "ratio of the first token",
    "ratio of the last token", "P(class | a document of its own)", "P(class | a fixed document)",
)  # fmt: skip
CONTROL = "control: the document tells of the truth"
ROWS = sum(len(setting.quantities) for setting in SETTINGS) * len(LEVELS)  # that must pass: without the controls


def coverage(setting, corpora, seed):
    """How many of the corpora's intervals hold the truth: {quantity: {level: hits}}, the control last."""
    rng = np.random.default_rng([seed, SETTINGS.index(setting)])
    theta, phi = setting.parameters(corpora, rng)
    documents, counts = setting.corpora(theta, phi, rng)
    posteriors = [
        setting.module.Posterior(setting.prior, setting.module.Statistics(*totals))
        for totals in zip(documents, counts, strict=True)
    ]
    own = setting.documents(*setting.parameters(corpora, rng), rng)
    x = [own, np.tile(_FIXED[setting.event], (corpora, 1)), setting.documents(theta, phi, rng)]
    x = np.stack(x[: 1 if setting.n_classes > 2 else 3], axis=1)
    truth = setting.first_class_probability(theta, phi, x)
    names, hits = (*setting.quantities, *([CONTROL] if x.shape[1] == 3 else ())), {}
    for level in LEVELS:
        found = [*_of_phi(posteriors, phi, level), *_of_ratios(posteriors, phi, level)]
        found += list(_of_documents(posteriors, x, truth, level))
        for name, inside in zip(names, found, strict=True):
            hits.setdefault(name, {})[level] = int(inside.sum())
    return hits


def _shapes(posteriors):
    """Beta shapes of every cell of every corpus, two arrays (n, K, V)."""
    margins = [p.phi if isinstance(p.phi, Beta) else p.phi.marginal() for p in posteriors]
    return np.stack([m.a for m in margins]), np.stack([m.b for m in margins])


def _of_phi(posteriors, phi, level):
    a, b = _shapes(posteriors)
    ends = Beta(a, b).interval(level)
    inside = (ends[..., 0] <= phi) & (phi <= ends[..., 1])
    return inside[:, 0, 0], inside[:, 1, -1]


def _of_ratios(posteriors, phi, level):
    a, b = _shapes(posteriors)
    for j in (0, -1):
        law = summarise(level, a[:, 1, j], b[:, 1, j], a[:, 0, j], b[:, 0, j])
        truth = np.log(phi[:, 1, j]) - np.log(phi[:, 0, j])
        yield (law["lower"] <= truth) & (truth <= law["upper"])


def _of_documents(posteriors, x, truth, level):
    def ends(i):
        return class_probability_interval(posteriors[i], x[i], level)[:, 0]

    with ThreadPoolExecutor() as pool:
        low, high = np.moveaxis(np.array(list(pool.map(ends, range(len(posteriors))))), -1, 0)
    return ((low <= truth) & (truth <= high)).T


def p_value(hits, corpora, level):
    """Of the exact two-sided binomial test."""
    return stats.binomtest(hits, corpora, level).pvalue


def main(corpora=CORPORA, seed=1):
    limit, wrong = FAILURE_RATE / ROWS, 0
    print(
        f"{corpora:,} corpora a setting, seed {seed}; p below {FAILURE_RATE:g}/{ROWS} = {limit:.1e} fails", flush=True
    )
    for setting in SETTINGS:
        start = time.perf_counter()
        hits = coverage(setting, corpora, seed)
        print(f"{setting.event}, {setting.n_classes} classes, {time.perf_counter() - start:.0f} s")
        for name, by_level in hits.items():
            shares = "  ".join(f"{100 * level:g} %: {n / corpora:.4f}" for level, n in by_level.items())
            smallest = min(p_value(n, corpora, level) for level, n in by_level.items())
            wrong += (smallest < limit) != (name == CONTROL)
            verdict = "fails" if smallest < limit else "covers"
            print(f"  {name:42s} {shares}  smallest p {smallest:.1e}  {verdict}", flush=True)
    print(
        "every interval covers as it says, and the controls fail"
        if not wrong
        else f"{wrong} rows are not as they must be"
    )
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
