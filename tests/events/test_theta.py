"""Class probabilities: how the class prior is read, its posterior, estimates and evidence."""

from fractions import Fraction
from math import log, prod

import numpy as np
import pytest

from bayesnb.events.theta import ClassPrior
from bayesnb.families import Dirichlet, Point

CLASSES = np.array(["ham", "spam"])


@pytest.mark.parametrize("given", [1, 1.0, np.float32(1), None])
def test_a_number_is_the_concentration_of_theta(given):
    np.testing.assert_array_equal(ClassPrior.resolve(given, CLASSES).concentration, [1, 1])


def test_a_dirichlet_gives_one_concentration_a_class():
    np.testing.assert_array_equal(ClassPrior.resolve(Dirichlet([2, 1]), CLASSES).concentration, [2, 1])
    with pytest.raises(ValueError, match="does not fit"):
        ClassPrior.resolve(Dirichlet([2, 1, 1]), CLASSES)


def test_a_sequence_follows_the_sorted_classes_and_a_mapping_its_names():
    np.testing.assert_array_equal(ClassPrior.resolve([0.9, 0.1], CLASSES).known, [0.9, 0.1])
    np.testing.assert_array_equal(ClassPrior.resolve({"spam": 0.1, "ham": 0.9}, CLASSES).known, [0.9, 0.1])
    numbers = np.array([0, 1])
    np.testing.assert_array_equal(ClassPrior.resolve({1: 0.25, 0: 0.75}, numbers).known, [0.75, 0.25])


def test_a_mapping_that_names_other_classes_says_which():
    with pytest.raises(ValueError, match="'eggs', which is not among the classes 'ham', 'spam'"):
        ClassPrior.resolve({"ham": 0.5, "eggs": 0.5}, CLASSES)
    with pytest.raises(ValueError, match=r"Number of priors must match number of classes.*'spam'"):
        ClassPrior.resolve({"ham": 1.0}, CLASSES)


def test_without_fit_prior_theta_is_known_to_be_uniform():
    np.testing.assert_array_equal(ClassPrior.resolve(1.0, CLASSES, fit_prior=False).known, [0.5, 0.5])


@pytest.mark.parametrize("bad", [0, -1, np.nan])
def test_concentrations_of_theta_are_positive(bad):
    with pytest.raises(ValueError, match="class_prior must be above 0"):
        ClassPrior.resolve(bad, CLASSES)


def test_exactly_one_of_concentration_and_known_is_given():
    for fields in ({}, {"concentration": np.ones(2), "known": np.array([0.5, 0.5])}):
        with pytest.raises(ValueError, match="either"):
            ClassPrior(**fields)
    with pytest.raises(ValueError, match="should be 1"):
        ClassPrior(known=np.array([0.5, 0.9]))


@pytest.mark.parametrize("c", [1, 2, 3.5])
def test_estimates_are_the_stated_fractions(c):
    """mle n/N, map (n + c - 1)/(N + K(c - 1)), mean and predictive (n + c)/(N + Kc)."""
    n, prior = np.array([3.0, 1.0]), ClassPrior.resolve(c, CLASSES)
    np.testing.assert_array_equal(prior.estimate(n, "mle", CLASSES), [3 / 4, 1 / 4])
    np.testing.assert_allclose(prior.estimate(n, "map", CLASSES), (n + c - 1) / (4 + 2 * (c - 1)), rtol=1e-15)
    for estimate in ("mean", "predictive"):
        np.testing.assert_allclose(prior.estimate(n, estimate, CLASSES), (n + c) / (4 + 2 * c), rtol=1e-15)


def test_a_declared_class_not_yet_seen_has_a_mean_and_a_mode_of_zero():
    """One ham, one spam, none of t: (2/5, 2/5, 1/5) on average, (1/2, 1/2, 0) at the mode."""
    prior = ClassPrior.resolve(1.0, np.array(["h", "s", "t"]))
    n = np.array([1.0, 1.0, 0.0])
    np.testing.assert_allclose(prior.estimate(n, "mean", CLASSES), [2 / 5, 2 / 5, 1 / 5], rtol=1e-15)
    np.testing.assert_array_equal(prior.estimate(n, "map", CLASSES), [1 / 2, 1 / 2, 0])


def test_a_known_theta_ignores_the_counts_and_has_no_spread():
    prior, n = ClassPrior(known=np.array([0.9, 0.1])), np.array([2.0, 8.0])
    for estimate in ("mle", "map", "mean", "predictive"):
        np.testing.assert_array_equal(prior.estimate(n, estimate, CLASSES), [0.9, 0.1])
    assert isinstance(prior.posterior(n), Point)
    assert prior.log_evidence(n) == pytest.approx(2 * log(0.9) + 8 * log(0.1), rel=1e-15)
    assert ClassPrior(known=np.array([1.0, 0.0])).log_evidence(np.array([3.0, 0.0])) == 0
    assert ClassPrior(known=np.array([1.0, 0.0])).log_evidence(np.array([3.0, 1.0])) == -np.inf


def test_missing_estimates_say_why_and_name_the_class():
    nothing = np.zeros(2)
    with pytest.raises(ValueError, match="theta has no unique mode"):
        ClassPrior.resolve(1.0, CLASSES).estimate(nothing, "map", CLASSES)
    with pytest.raises(ValueError, match="'spam' is below 1"):
        ClassPrior.resolve(0.5, CLASSES).estimate(np.array([2.0, 0.0]), "map", CLASSES)
    with pytest.raises(ValueError, match="0/0"):
        ClassPrior.resolve(1.0, CLASSES).estimate(nothing, "mle", CLASSES)


def test_evidence_of_labels_is_the_product_of_one_step_ahead_fractions():
    c, labels = [Fraction(1, 2), Fraction(3)], [0, 1, 1, 0, 1, 1, 1]
    seen, steps = [Fraction(0)] * 2, []
    for k in labels:
        steps.append((c[k] + seen[k]) / (sum(c) + sum(seen)))
        seen[k] += 1
    prior = ClassPrior(concentration=np.array([0.5, 3.0]))
    assert prior.log_evidence(np.array([2.0, 5.0])) == pytest.approx(log(prod(steps)), rel=1e-14)


@pytest.mark.parametrize("n", [[1e-15, 2.5e-15], [1e-16, 3e-16], [1e-17, 1e-17], [1e-300, 3e-300]])
def test_the_mode_keeps_the_digits_of_small_weights(n):
    """With concentration 1 the mode is n/N whatever the size of n; (1 + n) - 1 rounds it away."""
    theta = ClassPrior.resolve(1.0, CLASSES).estimate(np.array(n), "map", CLASSES)
    np.testing.assert_allclose(theta, np.array(n) / sum(n), rtol=1e-14)


def test_a_concentration_that_counts_bring_to_one_up_to_rounding_has_mode_zero():
    """0.7 + 0.3 is 1.0 in floating point; 0.7 - 1 + 0.3 is -5.6e-17, which is no missing mode."""
    theta = ClassPrior(concentration=np.array([0.7, 2.0])).estimate(np.array([0.3, 1.0]), "map", CLASSES)
    np.testing.assert_array_equal(theta, [0, 1])
