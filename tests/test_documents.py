"""Predictive checks of single documents: their exact moments, unknown classes, and what is refused."""

import numpy as np
import pytest
import xarray as xr

import bayesnb
from bayesnb.checks.documents import repeats, sample_documents
from bayesnb.sampling import to_tree

X = np.array([[4, 0, 1], [0, 3, 2], [2, 2, 2], [0, 0, 0]])
Y = ["a", "b", "b", "a"]


def fitted():
    return bayesnb.MultinomialNB().fit(X, Y)


def tree_of(theta, phi, **others):
    """A tree whose 4 x 500 draws are all the same."""
    tree = to_tree(fitted(), draws=500)
    tree["posterior"]["theta"].values[:] = theta
    tree["posterior"]["phi"].values[:] = phi
    draws = tree["posterior"].to_dataset()
    for name, value in others.items():
        draws[name] = (
            ("chain", "draw", "class")[: 2 + np.ndim(value)],
            np.broadcast_to(value, (4, 500, *np.shape(value))),
        )
    tree["posterior"] = xr.DataTree(draws)
    return tree


def first(counts):
    """How often a document holds the first token."""
    return counts[:, 0]


def test_share_of_repeats():
    """a a b a: two of four tokens were there before; an empty document has none."""
    np.testing.assert_allclose(repeats(np.array([[3, 1], [0, 5], [1, 1], [0, 0]])), [0.5, 0.8, 0, 0])


def test_documents_have_the_moments_of_their_class_and_length():
    """Counts are binomial of the observed length; with s they are beta-binomial, so that their variance grows."""
    phi, n = np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3]]), X.sum(axis=1)
    p = phi[[0, 1, 1, 0], 0]
    for s, growth in ((None, 1.0), (np.array([4.0, 9.0]), None)):
        extra = {} if s is None else {"s": s}
        found = sample_documents(fitted(), X, Y, tree_of([0.5, 0.5], phi, **extra), first, draws=500)
        drawn = found["posterior_predictive"]["statistic"].values.reshape(2000, 4)
        if s is not None:
            growth = (s[[0, 1, 1, 0]] + n) / (s[[0, 1, 1, 0]] + 1)
        variance = n * p * (1 - p) * growth
        # 16 comparisons in all at 5 standard errors; the kurtosis of these laws is below 5
        assert (np.abs(drawn.mean(axis=0) - n * p) <= 5 * np.sqrt(variance / 2000)).all()
        assert (np.abs(drawn.var(axis=0) - variance) <= 5 * variance * np.sqrt(4 / 2000)).all()
        np.testing.assert_array_equal(found["observed_data"]["statistic"], X[:, 0])


def test_unknown_classes_are_drawn_with_the_probability_they_have():
    """An unlabelled document follows p(y | x); a label that may be flipped counts by the flip rate."""
    phi = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1]])
    documents = np.array([[1, 0, 0], [1, 0, 0]])
    found = sample_documents(
        fitted(), documents, [None, "b"], tree_of([0.5, 0.5], phi, flip_rate=0.25), first, draws=500
    )
    drawn = found["posterior_predictive"]["statistic"].values.reshape(2000, 2).mean(axis=0)
    # P(a | tea) = 8/9; with the label b, flipped with chance 1/4: 8/4 : 1 * 3/4 = 8/11
    share = np.array([8 / 9, 8 / 11])
    exact = share * 0.8 + (1 - share) * 0.1
    assert (np.abs(drawn - exact) < 5 * np.sqrt(exact * (1 - exact) / 2000)).all()


def test_draws_are_spread_over_the_chains_and_repeatable():
    """At most as many as asked for; the same seed gives the same replicates."""
    tree = to_tree(fitted(), draws=50)
    one, two = (sample_documents(fitted(), X, Y, tree, draws=7, seed=3) for _ in range(2))
    assert one.identical(two)
    assert dict(one["posterior_predictive"].sizes) == {"chain": 4, "draw": 7, "document": 4}
    assert sample_documents(fitted(), X, Y, draws=3, chains=2)["posterior_predictive"].sizes["chain"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"X": X * 0.5}, "must hold whole counts: a row a label"),
        ({"y": Y[:2]}, r"X of shape \(4, 3\)"),
        ({"y": ["a", "b", "c", "a"]}, r"y\[2\] is 'c'"),
        ({"statistic": np.sum}, r"statistic gave shape \(\) for 4 documents"),
        ({"draws": 0}, "draws must be a whole number of at least 1, got 0"),
        ({"seed": -1}, "seed must be a whole number of at least 0, got -1"),
        ({"clf_or_posterior": bayesnb.BernoulliNB().fit(X, Y)}, "this posterior is bernoulli"),
        ({"tree": to_tree(bayesnb.MultinomialNB().fit(X[:, :2], Y), draws=5)}, "not of the token names"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        sample_documents(**{"clf_or_posterior": fitted(), "X": X, "y": Y} | arguments)
