"""The textbook's toy corpus and its figures, under the multinomial model."""

from fractions import Fraction
from math import comb, factorial, log, prod

import numpy as np
import pytest

from bayesnb.events.base import normalise
from bayesnb.events.multinomial import Posterior, Prior, Statistics
from bayesnb.events.theta import ClassPrior


def posterior(toy, a):
    prior = Prior(ClassPrior(concentration=np.ones(2)), np.full((2, 14), a))
    return Posterior(prior, Statistics.from_documents(toy.X, toy.y, 2), toy.classes, toy.tokens)


def test_toy_laplace_probabilities_are_the_exact_fractions(toy):
    post = posterior(toy, 2.0)
    for estimate, figures in (("map", "phi_laplace"), ("mle", "phi_mle")):
        phi = post.phi_hat(estimate)
        for key, fraction in toy.figures[figures].items():
            token, label = key.split("|")
            value = phi[post.class_index(label), post.token_index(token)]
            assert value == pytest.approx(float(Fraction(fraction)), rel=1e-15, abs=0)
    mean = posterior(toy, 1.0).phi_hat("mean")
    np.testing.assert_allclose(mean, post.phi_hat("map"), rtol=1e-15)
    np.testing.assert_allclose(post.theta_hat("map"), [2 / 5, 3 / 5], rtol=1e-15)


def test_toy_counts_are_the_figures(toy):
    statistics = Statistics.from_documents(toy.X, toy.y, 2)
    np.testing.assert_array_equal(statistics.feature_count, [toy.figures["counts_ham"], toy.figures["counts_spam"]])
    np.testing.assert_array_equal(statistics.token_total, [toy.figures["tokens_ham"], toy.figures["tokens_spam"]])


def test_toy_evidence_is_the_figure(toy):
    evidence = posterior(toy, 1.0).log_evidence()
    assert evidence == pytest.approx(toy.figures["log_evidence_dirichlet_1_on_theta_and_phi"], abs=1e-12)


def test_toy_documents_have_the_stated_probabilities_and_classes(toy):
    post = posterior(toy, 2.0)
    log_proba = post.log_proba(toy.test, "map")
    np.testing.assert_allclose(np.exp(log_proba[:, 1]), toy.figures["prob_spam"], rtol=1e-12)
    assert toy.classes[log_proba.argmax(axis=1)].tolist() == toy.figures["predicted"]
    ratio = np.exp(np.abs(np.subtract(*post.log_joint(toy.test, "map").T)))
    np.testing.assert_allclose(ratio, toy.figures["joint_ratio_larger_over_smaller"], atol=5e-9, rtol=0)


def test_toy_joint_with_the_multinomial_coefficient_is_the_figure_and_the_coefficient_cancels(toy):
    """The library leaves the coefficient out; put back, the joints are the printed ones (8 decimals)."""
    joint = posterior(toy, 2.0).log_joint(toy.test, "map")
    coefficient = [log(factorial(int(x.sum())) / prod(factorial(int(n)) for n in x)) for x in toy.test]
    full = joint + np.array(coefficient)[:, None]
    for k, label in enumerate(("ham", "spam")):
        printed = toy.figures["with_multinomial_coefficient"][label]
        np.testing.assert_allclose(np.exp(full[:, k]), printed, atol=5.1e-9, rtol=0)
    np.testing.assert_allclose(normalise(full), normalise(joint), atol=1e-13)


def test_sequences_of_tokens_have_no_coefficient(figures):
    """p = (.9, .1), four tokens: with the coefficient the probabilities sum to 1, without to .7381."""
    check = figures["multinomial_check"]
    post = Posterior(Prior(ClassPrior(concentration=np.ones(1)), np.array([[9.0, 1.0]])), Statistics.zeros(1, 2))
    hits = np.arange(5)
    p = np.exp(post.log_likelihood(np.stack([hits, 4 - hits], axis=1), "mean"))[:, 0]
    np.testing.assert_allclose(p, check["without"], rtol=1e-13)
    with_coefficient = p * [comb(4, h) for h in hits]
    np.testing.assert_allclose(with_coefficient, check["with_coefficient"], rtol=1e-13)
    assert with_coefficient.sum() == pytest.approx(1, abs=1e-14) and p.sum() == pytest.approx(0.7381, abs=1e-14)


def test_log_space_example_gives_the_stated_probability(figures):
    case = figures["underflow"]["log_space_example"]
    theta = case["theta_1"]
    joint = np.array([[log(1 - theta) + case["log_like_0"], log(theta) + case["log_like_1"]]])
    log_p = normalise(joint)[0]
    assert log_p[0] - log_p[1] == pytest.approx(case["log_odds"], abs=1e-12)
    assert round(float(np.exp(log_p[1])), 4) == case["prob_1"]
