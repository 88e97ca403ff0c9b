"""The whole page says what leaving each document out, fitting again and explaining would say."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import bayesnb
from bayesnb import report
from bayesnb.cli import main
from bayesnb.corpus import Corpus
from bayesnb.report.page import Facts, Figure, Table, Text
from bayesnb.report.page_text import number

TEXTS = [
    "free prices now now", "cheap prices free", "free free meeting", "now cheap", "prices prices free cheap",
    "meeting at ten", "coffee at ten", "meeting coffee now", "ten meeting at the office", "free coffee at the office",
]  # fmt: skip
Y = np.array(["spam"] * 5 + ["ham"] * 5)
SETTINGS = [{}, {"event": "bernoulli"}, {"estimate": "predictive", "alpha": 0.5}, {"power": 0.5}]


def corpus(texts=TEXTS, y=Y):
    return Corpus(np.asarray(y), [f"mail/{i}.txt" for i in range(len(texts))], texts=list(texts), source="mail")


def page_of(texts=TEXTS, y=Y, **settings):
    clf = bayesnb.TextClassifier(**settings).fit(texts, y)
    return clf, report.whole_page(clf, corpus(texts, y))


def blocks(page, title, kind):
    (section,) = [section for section in page.sections if section.title == title]
    return [block for block in section.blocks if isinstance(block, kind)]


def without(clf, i):
    """The posterior without one document, and that document's counts: classes, vocabulary and prior as they were."""
    counts = clf._counts([TEXTS[i]], clf._fitted)
    part = type(clf.posterior_.statistics).from_documents(counts, np.array([clf.classes_.tolist().index(Y[i])]), 2)
    return replace(clf.posterior_, statistics=clf.posterior_.statistics - part), counts


def test_the_sections_stand_in_the_order_of_a_reader_s_questions():
    _, page = page_of()
    assert [section.title for section in page.sections] == [
        "Data", "Prior", "MLE, Laplace, MAP and mean", "Tokens of spam against ham", "Leave-one-out",
        "The documents it gets wrong", "Why it is wrong", "The documents it is least sure of", "Why it is not sure",
    ]  # fmt: skip
    assert len(blocks(page, "MLE, Laplace, MAP and mean", Figure)) == 2


@pytest.mark.parametrize("settings", SETTINGS)
def test_leave_one_out_is_that_of_the_estimator(settings):
    clf, page = page_of(**settings)
    loo = clf.loo(TEXTS, Y)
    (facts,) = blocks(page, "Leave-one-out", Facts)
    assert facts.facts["Errors"] == loo.errors
    assert facts.facts["Log loss, nats"] == pytest.approx(-loo.total / len(Y), rel=1e-12)
    assert f"{loo.errors} of 10 are misjudged" in page.lead


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_least_sure_come_first_with_the_interval_of_the_posterior_that_never_saw_them(settings):
    clf, page = page_of(**settings)
    (table,) = blocks(page, "The documents it is least sure of", Table)
    top = clf.loo(TEXTS, Y).probabilities.max(axis=1)
    order = [int(row["document"].removesuffix(".txt")) for row in table.data]
    assert np.all(np.diff(top[order]) >= 0) and sorted(order) == list(range(10))
    for i, row in zip(order, table.data, strict=True):
        assert row["probability"].key == pytest.approx(math.log(top[i] / (1 - top[i])), rel=1e-9)
        assert row["true class"] == Y[i]
        posterior, counts = without(clf, i)
        best = clf.classes_.tolist().index(row["class"])
        power = settings.get("power", 1.0)
        ends = bayesnb.uncertainty.class_probability_interval(posterior, counts, 0.95, power)[0]
        odds = np.log(ends[best]) - np.log(ends[1 - best, ::-1])  # the other class's end keeps digits that 1 - p loses
        shown = [row["lower 95%"].key, row["upper 95%"].key]
        assert shown == pytest.approx(odds, abs=1e-9)


def test_the_reasons_sum_to_the_log_odds_without_the_document():
    clf, page = page_of()
    loo = clf.loo(TEXTS, Y)
    tables = blocks(page, "Why it is not sure", Table)
    first = int(np.argsort(loo.probabilities.max(axis=1), kind="stable")[0])
    a, b = tables[0].data.attrs["classes"]
    at = clf.classes_.tolist()
    difference = loo.log_joint[first, at.index(a)] - loo.log_joint[first, at.index(b)]
    assert tables[0].data["contribution"].sum() == pytest.approx(difference, rel=1e-12)
    assert f"{first}.txt" in tables[0].caption
    quoted = blocks(page, "Why it is not sure", Text)[1].text
    assert quoted == f"“{TEXTS[first]}”"


def test_what_it_gets_wrong_comes_surest_first():
    texts = ["red red", "blue blue"] * 4 + ["red red", "red red red red"]
    y = ["a", "b"] * 4 + ["b", "b"]
    clf, page = page_of(texts, y)
    p = clf.loo(texts, y).probabilities
    wrong = [i for i in range(10) if clf.classes_[p[i].argmax()] != y[i]]
    order = sorted(wrong, key=lambda i: p[i, clf.classes_.tolist().index(y[i])])
    (table,) = blocks(page, "The documents it gets wrong", Table)
    assert order == [9, 8] and [row["document"] for row in table.data] == [f"{i}.txt" for i in order]
    assert len(blocks(page, "Why it is wrong", Table)) == len(wrong)


def test_of_many_classes_the_largest_have_ratios_and_the_page_says_so():
    y = [f"c{i}" for i in range(14) for _ in range(2 + (i > 1))]
    texts = [f"word{label} the" for label in y]
    _, page = page_of(texts, y)
    shown = [s.title.split()[2] for s in page.sections if s.title.startswith("Tokens of")]
    assert sorted(shown) == sorted(f"c{i}" for i in range(2, 14))
    (told, *_) = blocks(page, f"Tokens of {shown[0]} against the other classes", Text)
    assert told.text == "Of 14 classes these are the 12 with the most documents."
    assert len(blocks(page, "MLE, Laplace, MAP and mean", Figure)) == 2


def test_a_misjudged_document_is_explained_against_its_own_class():
    y = np.array(["a", "b", "c"] * 4)
    texts = ["red red", "blue blue", "green green"] * 3 + ["blue red", "green blue", "red green red"]
    _, page = page_of(texts, y)
    captions = [table.caption for table in blocks(page, "Why it is not sure", Table)]
    wrong = [c for c in captions if c.split("P(")[1][0] != c.split("it is ")[1][0]]
    assert wrong
    for caption in wrong:
        truth = caption.split("it is ")[1][0]
        assert f"against {truth}," in caption


def test_more_than_two_classes_are_each_set_against_the_rest():
    _, page = page_of(["red red", "blue sky", "green sky"] * 2, ["a", "b", "c"] * 2)
    titles = [section.title for section in page.sections]
    assert [f"Tokens of {label} against the other classes" for label in "abc"] == titles[3:6]


def test_top_rules_pictures_and_tables():
    clf = bayesnb.TextClassifier().fit(TEXTS, Y)
    page = report.whole_page(clf, corpus(), top=3)
    for title in ("MLE, Laplace, MAP and mean", "Tokens of spam against ham"):
        (table,) = blocks(page, title, Table)
        assert table.html().count("<tr>") == 1 + 3 and "The first 3 of " in table.html(), title
    (table,) = blocks(page, "The documents it is least sure of", Table)
    assert len(table.data) == 3


def test_a_ratio_that_is_all_but_sure_is_shown_by_what_is_missing():
    """1 - P(ratio > 1), whatever the digits, and never a flat 1; the column still sorts by the probability."""
    clf = bayesnb.TextClassifier().fit(["win " * 4 + "the", "game " * 40 + "the", "the"], ["spam", "ham", "ham"])
    table = clf.token_ratios("ham", "spam")
    html = report.ratios_section(table).blocks[-1].html()
    p = float(table.loc["game", "prob_greater"])
    assert 0.999 < p < 1 and f"1 − {number(1 - p, 2)}" in html and f'data-v="{p!r}"' in html
    near = clf.token_ratios("ham", "spam", level=0.999999)
    assert report.ratios_section(near).blocks[1].facts["Level"] == "99.9999 %"
    for p, shown in ((1.0, "1 − less than 10⁻¹⁵"), (0.0, "less than 10⁻³⁰⁷")):
        assert report.ratios_section(table.assign(prob_greater=p)).blocks[-1].html().count(shown) == len(table)


def test_one_of_a_kind_is_no_plural():
    clf = bayesnb.TextClassifier().fit(["red"], ["a"])
    page = report.whole_page(clf, corpus(["red"], ["a"]))
    assert page.lead.endswith(
        "model of 1 document and 1 token. There is one class, so that no document can be misjudged."
    )


@pytest.mark.parametrize(
    ("texts", "y", "settings", "said"),
    [
        (["red", "blue red"], ["a", "a"], {}, "There is one class"),
        (["red red", "red blue", "!", "?"], ["a", "a", "b", "b"], {}, "Class b holds no token: its MLE is 0/0"),
        (["red", "blue"], ["a", "b"], {"estimate": "mle"}, "Leave-one-out does not exist"),
    ],
)
def test_what_does_not_exist_is_said_and_the_rest_is_there(texts, y, settings, said):
    clf = bayesnb.TextClassifier(**settings)
    page = report.whole_page(clf.fit(texts, y), corpus(texts, y))
    assert said in report.render(page)
    assert "Data" in [section.title for section in page.sections]


def test_draws_stand_beside_the_closed_form():
    clf = bayesnb.TextClassifier().fit(TEXTS, Y)
    tree = bayesnb.sample(clf, sampler="exact", draws=500, chains=4)
    page = report.whole_page(clf, corpus(), tree=tree)
    (facts,) = blocks(page, "Closed form and draws", Facts)
    assert facts.facts["Largest |z|"] == bayesnb.check_agreement(tree, clf).max_z


def test_a_corpus_of_counts_and_an_estimator_of_a_matrix():
    papers = bayesnb.load_federalist()
    known = np.isin(papers.y, ["HAMILTON", "MADISON"])
    frame = pd.DataFrame(papers.X[known].toarray(), columns=papers.tokens)
    clf = bayesnb.MultinomialNB(fit_prior=False).fit(frame, papers.y[known])
    ids = [number for number, keep in zip(papers.ids, known, strict=True) if keep]
    part = Corpus(papers.y[known], ids, X=papers.X[known], tokens=papers.tokens, source="papers")
    page = report.whole_page(clf, part)
    (facts,) = blocks(page, "Leave-one-out", Facts)
    assert facts.facts["Errors"] == clf.loo(frame, papers.y[known]).errors


@pytest.mark.parametrize(
    ("model", "documents", "said"),
    [
        (lambda: bayesnb.TextClassifier(), corpus(), "call fit first"),
        (lambda: bayesnb.TextClassifier().fit(TEXTS, Y), Corpus(None, [1], texts=["a"]), "has no labels"),
        (lambda: bayesnb.MultinomialNB().fit([[1, 0], [0, 1]], [0, 1]), corpus(), "was not fitted on mail"),
        (lambda: bayesnb.CategoricalNB().fit([[1, 0], [0, 1]], [0, 1]), corpus(), "a fitted model of tokens is needed"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(model, documents, said):
    with pytest.raises(ValueError, match=said) as error:
        report.whole_page(model(), documents)
    assert "\n" not in str(error.value)


# --- the command ----------------------------------------------------------------------------------------------


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"label": Y, "text": TEXTS}).to_csv("mail.csv", index=False)
    return tmp_path


def test_the_command_writes_page_and_model_and_says_what_it_found(table, capsys):
    assert main(["report", "mail.csv", "-o", "page.html", "--model", "mail.model", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    clf = bayesnb.TextClassifier().fit(TEXTS, Y)
    assert told["summary"].endswith(f"{clf.loo(TEXTS, Y).errors} of 10 are misjudged.")
    assert told["report"] == "page.html" and told["agreement"] is None
    assert bayesnb.load("mail.model").predict_proba(TEXTS).tolist() == clf.predict_proba(TEXTS).tolist()
    html = (table / "page.html").read_text("utf-8")
    assert "fingerprint: " + told["fingerprint"] in html and "Python 3." in html
    assert sorted(path.name for path in table.iterdir()) == ["mail.csv", "mail.model", "page.html"]


def test_a_reason_on_the_page_is_in_the_words_of_the_shell(table, capsys):
    """With one document a class, theta has no mode without it."""
    pd.DataFrame({"label": ["a", "b"], "text": ["red", "blue"]}).to_csv("two.csv", index=False)
    assert main(["report", "two.csv"]) == 0
    html = (table / "report.html").read_text("utf-8")
    assert "use --estimate mean" in html and "estimate=" not in html


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "mail.csv"], "mail.csv is read, and would be overwritten"),
        (["--model", "./mail.csv"], "mail.csv is read, and would be overwritten"),
        (["-o", "page.html", "--model", "page.html"], "page.html is named for two files"),
    ],
)
def test_nothing_that_is_read_or_written_is_overwritten(table, capsys, arguments, said):
    before = (table / "mail.csv").read_bytes()
    assert main(["report", "mail.csv", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert (table / "mail.csv").read_bytes() == before and [path.name for path in table.iterdir()] == ["mail.csv"]


def test_the_command_samples_on_request_and_names_the_seed(table, capsys):
    assert main(["report", "mail.csv", "--sample", "--seed", "3"]) == 0
    assert "The draws agree" in capsys.readouterr().out
    html = (table / "report.html").read_text("utf-8")
    assert "Closed form and draws" in html and "Seed: 3" in html


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing.csv"], "nothing.csv does not exist"),
        (["mail.csv", "--classes", "spam", "hma"], "class 'hma' is not one of the classes: ham, spam"),
        (["mail.csv", "--level", "1.5"], "level"),
        (["mail.csv", "-o", "no/page.html"], "there is no folder no"),
        (["mail.csv", "--prior", "0.5"], "use --estimate mean"),
    ],
)
def test_bad_input_to_the_command_is_one_line_and_leaves_nothing(table, capsys, arguments, said):
    assert main(["report", *arguments]) == 2
    lines = [line for line in capsys.readouterr().err.splitlines() if "guessed" not in line]
    assert len(lines) == 1 and said in lines[0]
    assert [path.name for path in table.iterdir()] == ["mail.csv"]


def test_a_prior_close_to_a_round_number_is_not_called_that_number():
    clf = bayesnb.TextClassifier(alpha=1e-9).fit(TEXTS, Y)
    page = report.whole_page(clf, corpus())
    facts = blocks(page, "Prior", Facts)[0].facts
    assert facts["Prior"] == "phi ~ Dirichlet(1.000000001), theta ~ Dirichlet(1)"
