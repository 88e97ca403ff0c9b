"""Token ratios of one class against the rest and of every pair; Bayes factors with three priors; what is said."""

import json

import mpmath as mp
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bayesnb
from bayesnb.cli import main
from bayesnb.contrast import log_bayes_factor, surest_first, token_ratios
from bayesnb.events import bernoulli, multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.families import Beta, Dirichlet
from tests.ratio_oracle import log_beta

COUNTS = np.array([[0, 2, 3, 5, 0], [3, 1, 2, 4, 0], [7, 0, 1, 0, 2], [1, 1, 1, 1, 1]], dtype=float)
CLASSES = np.array(["eggs", "ham", "news", "spam"])
TOKENS = np.array(["a", "b", "c", "d", "e"])
DOCUMENTS = np.array([8.0, 6, 9, 3])


def posterior(event, counts=COUNTS, prior=0.5, classes=CLASSES, documents=DOCUMENTS, tokens=TOKENS):
    """A posterior of either event model, with one prior for all or one a class and token."""
    theta = ClassPrior(concentration=np.ones(len(counts)))
    module = {"multinomial": multinomial, "bernoulli": bernoulli}[event]
    prior = module.Prior.resolve(theta, prior, 1.0, "mean", np.shape(counts))
    return module.Posterior(prior, module.Statistics(documents, counts), classes, tokens)


def same_but_ranks(one, other):
    """Bit for bit the same rows; `expected_wrong_direction` depends on what else is in a table."""
    drop = "expected_wrong_direction"
    return one.drop(columns=drop).reset_index(drop=True).equals(other.drop(columns=drop).reset_index(drop=True))


# --- one class against the rest -----------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_the_rest_is_one_class_that_holds_the_sums(event):
    """Against the rest equals a model of two classes, the second with the others' counts and totals added."""
    table = token_ratios(posterior(event), "news", alpha=0.25)
    others = [0, 1, 3]
    counts, documents = ([v[2], v[others].sum(axis=0)] for v in (COUNTS, DOCUMENTS))
    two = posterior(event, np.array(counts), classes=["news", "others"], documents=documents)
    pd.testing.assert_frame_equal(table, token_ratios(two, "news", "others", alpha=0.25), check_exact=True)
    assert table.loc["a", "count_den"] == 4
    assert table.loc["a", "total_den"] == {"multinomial": 25, "bernoulli": 17}[event]
    assert table.attrs["denominator"] == "rest" and table.attrs["pooled"] == ["eggs", "ham", "spam"]
    assert table.attrs["prior"] == posterior(event).prior.describe()


def test_with_two_classes_the_rest_is_the_other_one():
    two = posterior("multinomial", COUNTS[:2], classes=CLASSES[:2], documents=DOCUMENTS[:2])
    table = token_ratios(two, "ham")
    assert table.equals(token_ratios(two, "ham", "eggs"))
    assert table.attrs["denominator"] == "eggs" and "pooled" not in table.attrs


def test_only_the_pooled_classes_need_one_prior():
    """The numerator may have its own; two of the others may not, and are named with the token."""
    prior = np.full((4, 5), 0.5)
    prior[2] = [1, 2, 3, 4, 5]
    for event in ("multinomial", "bernoulli"):
        model = posterior(event, prior=prior)
        table = token_ratios(model, "news")
        two = posterior(
            event,
            np.array([COUNTS[2], COUNTS[[0, 1, 3]].sum(axis=0)]),
            prior=prior[[2, 0]],
            classes=["news", "others"],
            documents=[9, 17],
        )
        assert table.equals(token_ratios(two, "news", "others"))
        with pytest.raises(ValueError, match=r"'eggs' and 'news' have different priors of token 'a'.*name two classes"):
            token_ratios(model, "spam")


def test_a_pooled_mode_keeps_the_digits_of_a_small_alpha():
    """alpha = 1e-20 under "map": an unseen token of "eggs" has the mode 1e-20/10, and 11/22 in the rest."""
    clf = bayesnb.MultinomialNB(alpha=1e-20).fit(COUNTS[:, :4], CLASSES)
    assert clf.token_ratios("eggs").loc[0, "ratio_map"] == pytest.approx(1e-20 / 10 * 22 / 11, rel=1e-12, abs=0)


# --- every pair ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_every_pair_in_one_table_equals_the_tables_of_the_pairs(event):
    """Indexed by (numerator, denominator, token), the class that comes first as numerator."""
    model = posterior(event)
    table = token_ratios(model, level=0.8, tokens=["d", "a"])
    assert table.index.names == ["numerator", "denominator", "token"]
    pairs = [(a, b) for i, a in enumerate(CLASSES) for b in CLASSES[i + 1 :]]
    assert list(table.index) == [(a, b, t) for a, b in pairs for t in ("d", "a")]
    for a, b in pairs:
        assert same_but_ranks(table.loc[a, b], token_ratios(model, a, b, level=0.8, tokens=["d", "a"]))
    assert "numerator" not in table.attrs and table.attrs["level"] == 0.8


def test_wrong_directions_are_expected_among_all_rows_of_the_table():
    """Down the ranking of every pair together, the running mean of min(P, 1 - P)."""
    ranked = surest_first(token_ratios(posterior("multinomial")))
    wrong = np.minimum(ranked["prob_greater"], 1 - ranked["prob_greater"])
    assert ranked["expected_wrong_direction"].to_numpy() == pytest.approx(
        wrong.expanding().mean().to_numpy(), rel=1e-12
    )
    assert len(ranked) == 6 * 5


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_two_of_many_classes_are_compared_as_if_there_were_no_others(event):
    """Each class has a prior of its own, above 1, so that modes exist: all columns are those of these two rows."""
    prior = 1.5 + np.arange(20.0).reshape(4, 5)
    rows = [3, 1]
    alone = posterior(event, COUNTS[rows], prior[rows], CLASSES[rows], DOCUMENTS[rows])
    table = token_ratios(posterior(event, prior=prior), "spam", "ham")
    assert table["ratio_map"].notna().all()
    pd.testing.assert_frame_equal(table, token_ratios(alone, "spam", "ham"), check_exact=True)


def test_labels_and_tokens_keep_their_type_in_the_index_of_pairs():
    """Numbers stay numbers, and a token asked for twice is there twice."""
    clf = bayesnb.MultinomialNB().fit(COUNTS, [3, 1, 2, 2])
    table = clf.token_ratios(tokens=[4, 0, 4])
    assert [level.dtype.kind for level in table.index.levels] == ["i"] * 3
    assert list(table.loc[(1, 3)].index) == [4, 0, 4]


def test_every_estimator_over_tokens_has_all_three_forms():
    """BernoulliNB and TextClassifier as MultinomialNB: pair, rest, every pair."""
    X = np.minimum(COUNTS, 1)
    for clf in (
        bayesnb.BernoulliNB().fit(X, CLASSES),
        bayesnb.TextClassifier(tokens="whitespace").fit(["a a b", "b c", "c d", "a"], CLASSES),
    ):
        assert len(clf.token_ratios()) == 6 * len(clf.posterior_.tokens)
        assert clf.token_ratios("ham").attrs["pooled"] == ["eggs", "news", "spam"]
        assert same_but_ranks(clf.token_ratios("ham", "news"), clf.token_ratios().loc["ham", "news"])


def test_what_cannot_be_compared_is_refused():
    """One line each that says what to give."""
    one = posterior("multinomial", COUNTS[:1], classes=["ham"], documents=[3])
    column = posterior("multinomial", COUNTS[:, :1], tokens=["a"])
    weather = bayesnb.CategoricalNB().fit([[0], [1]], ["dry", "wet"]).posterior_
    cases = [
        (one, (), "two classes; the model has only 'ham'"),
        (one, ("ham",), "two classes"),
        (column, ("ham", "spam"), "'a' is the only one"),
        (posterior("multinomial"), (None, "ham"), "needs a numerator"),
        (posterior("multinomial"), ("beans",), "unknown class 'beans'"),
        (weather, ("dry", "wet"), "'categorical' has no ratios"),
    ]
    for model, names, words in cases:
        with pytest.raises(ValueError, match=words) as caught:
            token_ratios(model, *names)
        assert "\n" not in str(caught.value)


def test_a_shape_out_of_range_names_token_and_class():
    """Not a row of some inner array."""
    prior = np.full((4, 5), 0.5)
    prior[3, 2] = 1e-20
    counts = COUNTS.copy()
    counts[3, 2] = 0
    with pytest.raises(ValueError, match=r"token 'c' in class 'spam' is Beta\(1e-20, .*1e-15 to 1e\+18"):
        token_ratios(posterior("multinomial", counts, prior), "ham", "spam")


# --- Bayes factors ------------------------------------------------------------------------------------------


def exact(n1, m1, n2, m2, b, m, h):
    """The formula at 60 digits: m1 and m2 are the other tokens."""
    with mp.workdps(60):
        (b1, b2), (c1, c2), (h1, h2) = ((mp.mpf(u), mp.mpf(v)) for u, v in (b, m, h))
        apart = log_beta(b1 + n1, b2 + m1) + log_beta(c1 + n2, c2 + m2) - log_beta(b1, b2) - log_beta(c1, c2)
        return float(apart - (log_beta(h1 + n1 + n2, h2 + m1 + m2) - log_beta(h1, h2)))


shape = st.integers(1, 2**20).map(lambda i: i / 1024)  # exact in floating point, also beside a count of 1e9


@settings(max_examples=80, deadline=None)
@given(*[st.integers(0, 10**9)] * 4, *[st.tuples(shape, shape)] * 3)
def test_bayes_factors_with_three_priors_agree_with_multiple_precision(n1, m1, n2, m2, b, m, h):
    """A prior for each class and one for both, any counts up to a billion; exchanged classes give the same bits."""
    ours = log_bayes_factor(n1, n1 + m1, n2, n2 + m2, b, m, shared=h)
    # terms of up to 1e3 log(1e9) are added up
    assert ours == pytest.approx(exact(n1, m1, n2, m2, b, m, h), rel=1e-9, abs=1e-9)
    assert ours == log_bayes_factor(n2, n2 + m2, n1, n1 + m1, m, b, shared=h)


def test_the_bayes_factor_falls_without_bound_as_the_prior_widens():
    """By log 10 for every tenth of the concentration, whatever the data say, for a token that both classes hold."""
    eps = 10.0 ** -np.arange(2, 12)
    for counts in ((1000, 2000, 1, 2000), (3, 10, 2, 12)):
        falling = log_bayes_factor(*counts, (0.3 * eps, 0.7 * eps), (0.3 * eps, 0.7 * eps))
        # the next term is of the order of eps log n
        assert np.diff(falling)[2:] == pytest.approx(-np.log(10), abs=1e-2)
        assert falling[-1] < falling[0] - 20


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_exchanged_classes_give_reciprocal_rows_exactly(event):
    """Logs negate bit for bit, counts change places, evidence and ranking stay."""
    model = posterior(event, prior=np.linspace(0.2, 3, 5))
    there, back = token_ratios(model, "ham", "spam"), token_ratios(model, "spam", "ham")
    for one, other, sign in (
        ("log_lower", "log_upper", -1), ("log_upper", "log_lower", -1), ("log_ratio_mean", "log_ratio_mean", -1),
        ("log_ratio_sd", "log_ratio_sd", 1), ("log_bayes_factor", "log_bayes_factor", 1),
        ("expected_wrong_direction", "expected_wrong_direction", 1), ("count_num", "count_den", 1),
        ("total_den", "total_num", 1),
    ):  # fmt: skip
        np.testing.assert_array_equal(there[one], sign * back[other], err_msg=one)
    assert (there["prob_greater"] + back["prob_greater"] == 1).all()
    for name in ("ratio_median", "ratio_laplace"):
        # two roundings of half a unit each, and that of the product
        assert there[name].to_numpy() * back[name].to_numpy() == pytest.approx(1, rel=1e-15, abs=0)


@pytest.mark.parametrize(
    ("event", "shared", "shapes"),
    [
        ("multinomial", 2.0, lambda j: (2, 8)),
        ("multinomial", Dirichlet(np.arange(1.0, 6)), lambda j: (j + 1, 14 - j)),
        ("bernoulli", [1, 2, 3, 4, 5], lambda j: (j + 1, j + 1)),
        ("bernoulli", Beta(np.full(5, 2.0), np.full(5, 3.0)), lambda j: (2, 3)),
    ],
)
def test_a_shared_prior_is_read_as_the_estimators_read_theirs(event, shared, shapes):
    """Where the classes' priors differ the Bayes factor is missing, with a note, until `shared` is given."""
    prior = np.full((4, 5), 0.5)
    prior[1] = 1.5
    model = posterior(event, prior=prior)
    without = token_ratios(model, "ham", "spam")
    assert without["log_bayes_factor"].isna().all()
    assert "missing in 5 of 5 rows: the classes' priors differ; give shared=" in without.attrs["note"]
    table = token_ratios(model, "ham", "spam", shared=shared)
    assert table.attrs["note"] == ""
    for j, row in enumerate(table.itertuples()):
        rest = 4 if event == "multinomial" else 1
        exactly = exact(
            row.count_num, row.total_num - row.count_num, row.count_den, row.total_den - row.count_den,
            (1.5, 1.5 * rest), (0.5, 0.5 * rest), shapes(j),
        )  # fmt: skip
        assert row.log_bayes_factor == pytest.approx(exactly, rel=1e-11, abs=1e-12)


def test_fractional_counts_have_no_bayes_factor_and_the_table_says_so():
    """Weights of a half: every total is fractional. Whole tokens of whole totals beside them keep theirs."""
    clf = bayesnb.BernoulliNB().fit(np.minimum(COUNTS, 1), CLASSES, sample_weight=[1, 0.5, 2, 1])
    table = clf.token_ratios()
    missing = table["log_bayes_factor"].isna()
    assert (missing == [("ham" in pair) for pair in zip(*map(table.index.get_level_values, (0, 1)), strict=True)]).all()
    assert table.attrs["note"].startswith("log_bayes_factor is missing in 15 of 30 rows: counts are fractional")
    assert clf.token_ratios("eggs", "news").attrs["note"] == ""


def test_shared_priors_of_the_wrong_kind_are_refused():
    for event, shared, words in (
        ("multinomial", Beta(np.ones(5), np.ones(5)), "Beta; give a concentration"),
        ("bernoulli", Dirichlet(np.ones(5)), r"Dirichlet; give a Beta\(a, b\)"),
        ("multinomial", np.ones(4), "shared has shape"),
        ("bernoulli", 0.0, "shared must be above 0"),
    ):
        with pytest.raises(ValueError, match=words):
            token_ratios(posterior(event), "ham", "spam", shared=shared)


def test_impossible_counts_and_improper_priors_have_no_evidence():
    """Never a silent NaN."""
    for arguments, words in (
        ((5, 3, 0, 2, (1, 1), (1, 1)), "n1 is 5 of total1 = 3 in row 0"),
        ((1, 3, [0, -1], 2, (1, 1), (1, 1)), "n2 is -1 of total2 = 2 in row 1"),
        ((1, np.inf, 0, 2, (1, 1), (1, 1)), "n1 is 1 of total1 = inf"),
        ((1, 3, 0, 2, (0, 1), (1, 1)), "prior1 must be .*improper"),
        ((1, 3, 0, 2, (1, 1), (1, np.nan)), "prior2 must be"),
    ):
        with pytest.raises(ValueError, match=words):
            log_bayes_factor(*arguments)
    with pytest.raises(ValueError, match="shared must be"):
        log_bayes_factor(1, 3, 0, 2, (1, 1), (1, 1), shared=(1, -1))


# --- the command line ---------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model file of three classes, one of them a number below 0, in the working folder."""
    monkeypatch.chdir(tmp_path)
    texts = ["free prices now win", "win money", "coffee at ten", "prices rise at ten"]
    bayesnb.TextClassifier().fit(texts, ["spam", "spam", "ham", "-1"]).save("m.model")
    return "m.model"


def rows(arguments, capsys):
    assert main(["ratios", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("words", "numerator", "denominator"),
    [
        (["m.model", "--classes", "spam"], "spam", "rest"),
        (["--classes", "spam", "m.model"], "spam", "rest"),
        (["--classes=spam", "m.model"], "spam", "rest"),
        (["m.model", "--classes", "spam", "--top", "3"], "spam", "rest"),
        (["--classes", "spam", "--top=3", "m.model"], "spam", "rest"),
        (["m.model", "--classes", "spam", "ham"], "spam", "ham"),
        (["--classes", "spam", "ham", "m.model"], "spam", "ham"),
        (["--classes", "spam", "ham", "--top", "3", "m.model"], "spam", "ham"),
        (["m.model", "--classes", "spam", "-1"], "spam", "-1"),
        (["m.model", "--classes", "-1"], "-1", "rest"),
        (["m.model", "--classes", "all"], None, None),
        (["--classes", "all", "m.model"], None, None),
    ],
)
def test_classes_takes_one_label_or_two_or_all(model, capsys, words, numerator, denominator):
    """Wherever the option stands; the two labels of before mean what they meant."""
    found = rows(words, capsys)
    assert (found["numerator"], found["denominator"]) == (numerator, denominator)
    table = surest_first(bayesnb.load(model).token_ratios(numerator, None if denominator == "rest" else denominator))
    for row, (key, exactly) in zip(found["rows"], table.iterrows(), strict=False):
        assert row["log_lower"] == exactly["log_lower"]
        assert (row["token"] if numerator else (row["numerator"], row["denominator"], row["token"])) == key
    if denominator == "rest":
        assert found["pooled"] == [c for c in ("-1", "ham", "spam") if c != numerator]


def test_the_printed_table_names_what_is_compared(model, capsys):
    """The rest's classes above it; the pair in every row of all pairs; nothing wider than a terminal."""
    assert main(["ratios", model, "--classes", "spam", "--top", "2"]) == 0
    out = capsys.readouterr().out
    assert "phi_spam / phi_rest" in out and "rest: -1, ham, pooled as one class" in out
    assert main(["ratios", model, "--classes", "all", "--top", "2", "--csv", "all.csv"]) == 0
    out = capsys.readouterr().out
    assert "ham / spam" in out or "-1 / spam" in out or "-1 / ham" in out
    assert all(len(line) <= 80 for line in out.splitlines()[1:])
    written = pd.read_csv("all.csv")
    assert list(written.columns[:3]) == ["numerator", "denominator", "token"]
    assert len(written) == 3 * len(bayesnb.load(model).vocabulary_)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["m.model"], "there are 3 classes"),
        (["m.model", "--classes"], "requires one label or two"),
        (["m.model", "--classes", "beans"], "class 'beans' is not one of"),
        (["m.model", "--classes", "spam", "ham", "-1"], "-1"),
        (["--classes", "spam"], "MODEL"),
        (["m.model", "--classes", "all", "--plot", "r.png"], "draws one pair"),
    ],
)
def test_classes_that_cannot_be_read_are_one_line(model, capsys, words, said):
    assert main(["ratios", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and len(err.splitlines()) == 1 and said in err


def test_a_class_named_all_is_that_class(tmp_path, capsys):
    """A label that exists wins over the word for every pair."""
    path = tmp_path / "m.model"
    bayesnb.TextClassifier().fit(["free win", "coffee ten", "rise"], ["all", "ham", "news"]).save(path)
    assert rows([str(path), "--classes", "all"], capsys)["pooled"] == ["ham", "news"]


def test_a_class_that_is_named_rest_is_told_from_the_rest():
    clf = bayesnb.MultinomialNB().fit([[3, 1], [1, 3], [2, 2]], ["rest", "ham", "spam"])
    table = clf.token_ratios("rest")
    assert table.attrs["numerator"] == "rest" and table.attrs["denominator"] == "the rest"
    other = bayesnb.MultinomialNB().fit([[3, 1], [1, 3], [2, 2]], ["best", "ham", "spam"]).token_ratios("best")
    assert table["ratio_median"].tolist() == other["ratio_median"].tolist()
