"""Every published number we reproduce, from real mail where there is real mail."""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import bayesnb
from bayesnb.events.theta import ClassPrior


@pytest.fixture(scope="session")
def figures(shared):
    return json.loads((shared / "figures.json").read_text())


@pytest.fixture(scope="session")
def toy(figures):
    return figures["toy_spam"]


@pytest.fixture(scope="session")
def toy_fit(toy):
    return bayesnb.TextClassifier(tokens="space").fit(toy["train"], toy["labels"])


def test_toy_counts(toy, toy_fit):
    assert toy_fit.feature_count_.tolist() == [toy["counts_ham"], toy["counts_spam"]]
    assert toy_fit.feature_count_.sum(axis=0).tolist() == toy["counts_total"]
    assert toy_fit.feature_count_.sum(axis=1).tolist() == [toy["tokens_ham"], toy["tokens_spam"]]


@pytest.mark.parametrize(("figure", "estimate"), [("phi_laplace", "map"), ("phi_mle", "mle")])
def test_toy_phi(toy, toy_fit, figure, estimate):
    phi = toy_fit.posterior_.phi_hat(estimate)
    for name, fraction in toy[figure].items():
        token, label = name.split("|")
        at = toy_fit.posterior_.class_index(label), toy_fit.posterior_.token_index(token)
        assert phi[at] == pytest.approx(float(Fraction(fraction)), rel=1e-14, abs=0)


def test_toy_theta(toy, toy_fit):
    want = [float(Fraction(toy["theta"][label])) for label in toy_fit.classes_]
    np.testing.assert_allclose(toy_fit.posterior_.theta_hat("map"), want, rtol=1e-14)


def test_toy_predictions(toy, toy_fit):
    probability = toy_fit.predict_proba(toy["test"])
    assert toy_fit.predict(toy["test"]).tolist() == toy["predicted"]
    np.testing.assert_allclose(probability[:, 1], toy["prob_spam"], atol=1e-12)
    gap = np.abs(np.diff(toy_fit.predict_joint_log_proba(toy["test"]), axis=1))[:, 0]
    # the figures are printed to eight decimals
    np.testing.assert_allclose(np.exp(gap), toy["joint_ratio_larger_over_smaller"], atol=5e-9, rtol=0)


def test_the_multinomial_coefficient_cancels(toy, toy_fit):
    known = set(toy_fit.posterior_.tokens)
    counts = [[text.split(" ").count(token) for token in sorted(known)] for text in toy["test"]]
    for k, label in enumerate(toy_fit.classes_):
        phi = toy_fit.posterior_.phi_hat("map")[k]
        theta = toy_fit.posterior_.theta_hat("map")[k]
        pmf = [theta * stats.multinomial.pmf(x, sum(x), phi) for x in counts]
        np.testing.assert_allclose(pmf, toy["with_multinomial_coefficient"][label], atol=5e-9, rtol=0)


def test_multinomial_coefficient_against_the_sequence(figures):
    check = figures["multinomial_check"]
    p, n = np.array(check["p"]), check["n"]
    documents = np.array([[a, n - a] for a in range(n + 1)])
    # phi known to be p: a posterior so concentrated that its mean is p to the last digit printed
    clf = bayesnb.MultinomialNB(prior=1e12 * p, estimate="mean").fit([[0, 0]], [0])
    sequence = np.exp(clf.predict_joint_log_proba(documents))[:, 0]
    np.testing.assert_allclose(sequence, check["without"], atol=5e-13)
    with_coefficient = sequence * stats.multinomial.pmf(documents, n, p) / np.prod(p**documents, axis=1)
    np.testing.assert_allclose(with_coefficient, check["with_coefficient"], atol=5e-13)
    assert sequence.sum() == pytest.approx(0.7381, abs=1e-12) and with_coefficient.sum() == pytest.approx(1)


def test_toy_log_evidence(toy, toy_fit):
    flat = bayesnb.TextClassifier(tokens="space", prior=1.0).fit(toy["train"], toy["labels"])
    assert flat.posterior_.log_evidence() == pytest.approx(toy["log_evidence_dirichlet_1_on_theta_and_phi"], abs=1e-11)


def test_long_documents_do_not_underflow(figures):
    example = figures["underflow"]["log_space_example"]
    assert 0.999**8000 > 0 and np.prod(np.full(10_000, 0.5)) == 0
    joint = np.array([[example["log_like_0"], example["log_like_1"]]])
    joint += np.log([1 - example["theta_1"], example["theta_1"]])
    from bayesnb.events.base import normalise

    log_odds = joint[0, 0] - joint[0, 1]
    assert log_odds == pytest.approx(example["log_odds"], abs=1e-12)
    assert np.exp(normalise(joint))[0, 1] == pytest.approx(0.28646984, abs=5e-9)
    clf = bayesnb.MultinomialNB().fit([[5, 4], [4, 5]], [0, 1])
    assert np.isfinite(clf.predict_joint_log_proba([[5000, 5000]])).all()


@pytest.mark.parametrize(
    ("case", "lowest", "highest"), [("same", 0.45, 0.55), ("slight", 0.75, 0.83), ("marked", 0.999, 1)]
)
def test_synthetic_cases(figures, case, lowest, highest):
    """Of 2,000 documents: the sd of an accuracy of one half is .011, so .45-.55 is 4.5 sd; slight has its own range."""
    setup = figures["synthetic_three_cases"]
    sizes = dict(zip("ABCDE", (8000, 500, 500, 500, 500), strict=True))
    rng = np.random.default_rng()

    def documents(blocks, n):
        parts = zip(sizes.values(), blocks.split(), strict=True)
        return np.hstack([rng.choice(5, (n, v), p=setup["count_pmf"][b]).astype(np.int8) for v, b in parts])

    def labelled(n):
        return np.vstack([documents(setup["class_0"], n), documents(setup[case]["class_1"], n)]), np.repeat([0, 1], n)

    clf = bayesnb.MultinomialNB()
    for _ in range(10):  # in batches: 10,000 documents x 10,000 tokens at once would take gigabytes
        clf.partial_fit(*labelled(500))
    X, y = labelled(1000)
    assert lowest <= (clf.predict(X) == y).mean() <= highest


@pytest.fixture(scope="session")
def cs229(shared):
    folder = shared / "data" / "cs229_spam"
    names = ["TRAIN", "TEST", *(f"TRAIN.{n}" for n in (50, 100, 200, 400, 800, 1400))]
    return {name: bayesnb.read_corpus(folder / f"MATRIX.{name}") for name in names}


def errors(clf, train, test):
    return int((clf.fit(train.X, train.y).predict(test.X) != test.y).sum())


def with_shares(clf, train):
    """Class prior n_c/N, as the figures have it: under the mean, theta would be (n_c + 1)/(N + 2)."""
    return clf.set_params(class_prior=np.bincount(train.y) / len(train.y))


def test_cs229_errors(figures, cs229):
    want = figures["cs229_spam"]
    parts = [cs229[f"TRAIN.{n}"] for n in want["train_sizes"]]
    assert [errors(bayesnb.MultinomialNB(), part, cs229["TEST"]) for part in parts] == want["errors"]
    assert errors(bayesnb.MultinomialNB(), cs229["TRAIN"], cs229["TEST"]) == want["errors_full_train"]
    other = want["other_checked_values"]
    for clf, name in (
        (bayesnb.BernoulliNB(prior=1.0, estimate="mean"), "bernoulli_beta_1_1_mean"),
        (bayesnb.MultinomialNB(estimate="predictive"), "dirichlet_multinomial_predictive_alpha_1"),
    ):
        assert [errors(with_shares(clf, part), part, cs229["TEST"]) for part in parts] == other[name]


def test_cs229_with_a_flat_class_prior(cs229):
    """The first of the six counts becomes 32, by one test document with a margin of 4.6e-4."""
    assert errors(bayesnb.MultinomialNB(fit_prior=False), cs229["TRAIN.50"], cs229["TEST"]) == 32


def test_cs229_top_tokens(figures, cs229):
    train = cs229["TRAIN"]
    clf = bayesnb.MultinomialNB().fit(train.X, train.y)
    contrast = np.diff(clf.feature_log_prob_, axis=0)[0]
    order = np.argsort(-contrast, kind="stable")[:50]
    ours = [(train.tokens[j], round(contrast[j], 12)) for j in order]
    published = figures["cs229_spam"]["top_50_tokens_by_ratio"]
    value = dict(zip(train.tokens, np.round(contrast, 12), strict=True))
    # equal ratios tie and may stand in either order: compare the tokens at each value of the ratio
    assert sorted(ours, key=lambda r: (-r[1], r[0])) == sorted(
        ((t, value[t]) for t in published), key=lambda r: (-r[1], r[0])
    )
    assert [value[t] for t in published] == sorted((value[t] for t in published), reverse=True)


def test_lingspam(figures, shared):
    want, folder = figures["lingspam"], shared / "data" / "lingspam"
    train = bayesnb.read_corpus({"nonspam": folder / "nonspam-train", "spam": folder / "spam-train"})
    test = bayesnb.read_corpus({"nonspam": folder / "nonspam-test", "spam": folder / "spam-test"})
    assert np.unique(train.y, return_counts=True)[1].tolist() == want["train"]
    assert np.unique(test.y, return_counts=True)[1].tolist() == want["test"]
    for prior, estimate, wrong in ((None, "map", 11), (1.0, "mean", 11), (2.0, "mean", want["beta_2_2_mean_errors"])):
        tc = bayesnb.TextClassifier(event="bernoulli", tokens="space", prior=prior, estimate=estimate)
        tc.fit(train.texts, train.y)
        assert tc.posterior_.statistics.n_tokens == want["features"]
        assert int((tc.predict(test.texts) != test.y).sum()) == wrong
    assert want["errors"] == 11 and 100 * 11 / want["test_documents"] == pytest.approx(
        want["error_rate_percent"], abs=5e-4
    )


def test_federalist():
    """Function words give all twelve disputed papers to Madison; leave-one-out misjudges none of the other 65."""
    papers = bayesnb.load_federalist()
    X = papers.X
    known, disputed = np.isin(papers.y, ["HAMILTON", "MADISON"]), papers.y == "HAMILTON OR MADISON"
    clf = bayesnb.MultinomialNB(fit_prior=False).fit(X[known], papers.y[known])
    assert set(clf.predict(X[disputed])) == {"MADISON"} and disputed.sum() == 12
    rows = np.flatnonzero(known)
    for i in rows:
        rest = rows[rows != i]
        left_out = bayesnb.MultinomialNB(fit_prior=False).fit(X[rest], papers.y[rest])
        assert left_out.predict(X[[i]])[0] == papers.y[i]


def test_class_prior_is_the_share_of_documents(cs229):
    train = cs229["TRAIN.50"]
    clf = bayesnb.MultinomialNB().fit(train.X, train.y)
    np.testing.assert_allclose(clf.posterior_.theta_hat("map"), np.bincount(train.y) / len(train.y), rtol=1e-14)
    assert isinstance(clf.posterior_.prior.theta, ClassPrior)
