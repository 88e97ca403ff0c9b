"""Scores of class probabilities and measures of drift: values worked out by hand, and what they mean."""

import numpy as np
import pytest

import bayesnb
from bayesnb.evaluation import Drift, evaluate, reliability_table
from bayesnb.scorer import Scorer
from tests.test_cli import strict_json

CLASSES = np.array(["a", "b"])


def hand():
    """P(a) of four documents that are a, b, a, b: two right, two wrong."""
    p = np.array([0.9, 0.15, 0.42, 0.58])
    return evaluate(np.array(["a", "b", "a", "b"]), np.log(np.column_stack([p, 1 - p])), CLASSES)


def test_scores_are_those_worked_out_by_hand():
    found = hand()
    assert (found.documents, found.errors, found.error_rate) == (4, 2, 0.5)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.85, 0.42, 0.42]).mean())
    assert found.brier == pytest.approx(2 * (0.1**2 + 0.15**2 + 2 * 0.58**2) / 4)
    assert found.confusion.tolist() == [[1, 1], [1, 1]]
    # bins of 1/15: .9 alone, .85 alone, and .58 twice, which is wrong twice
    assert found.ece == pytest.approx((0.1 + 0.15 + 2 * 0.58) / 4)


def test_the_reliability_table_lists_every_bin_with_its_ends():
    bins = hand().bins
    assert len(bins) == 15 and [row["lower"] for row in bins[1:]] == [row["upper"] for row in bins[:-1]]
    assert (bins[0]["lower"], bins[-1]["upper"]) == (0, 1)
    held = {i: (row["documents"], row["confidence"], row["accuracy"]) for i, row in enumerate(bins) if row["documents"]}
    assert list(held) == [8, 12, 13]
    assert held[8] == (2, pytest.approx(0.58), 0)
    assert held[12] == (1, pytest.approx(0.85), 1) and held[13] == (1, pytest.approx(0.9), 1)
    assert bins[3]["confidence"] is None and bins[3]["accuracy"] is None
    assert hand().as_dict()["reliability"] == bins


def test_certainty_falls_into_the_last_bin():
    """Also where rounding makes it a little more than 1."""
    table = reliability_table(np.array([1.0, 1 + 2e-16, 0.95]), np.array([True, False, True]), 15)
    assert table[-1, 0] == 3 and table[-1, 2] == pytest.approx(2 / 3)


def test_a_true_class_of_probability_zero_has_infinite_loss_and_null_in_json():
    with np.errstate(divide="ignore"):
        log_p = np.log([[1.0, 0.0], [1.0, 0.0]])
    found = evaluate(np.array(["a", "b"]), log_p, CLASSES)
    assert found.log_loss == np.inf and found.as_dict()["log_loss"] is None and found.brier == 1


def test_what_cannot_be_evaluated_is_said():
    with pytest.raises(ValueError, match="no labelled document"):
        evaluate(np.array([]), np.zeros((0, 2)), CLASSES)
    with pytest.raises(ValueError, match="'c'"):
        evaluate(np.array(["c"]), np.zeros((1, 2)), CLASSES)


# --- drift --------------------------------------------------------------------------------------------------


TEXTS, LABELS = ["tea tea", "rum"], ["h", "s"]
NEW = ["tea gin", "rum rum"]
# alpha 1: phi_h = (tea 3/4, rum 1/4), phi_s = (1/3, 2/3), theta = 1/2 each
MULTINOMIAL = np.log([13 / 24, (1 / 16 + 4 / 9) / 2])
# Bernoulli: P(tea) = 2/3 and 1/3, P(rum) = 1/3 and 2/3
BERNOULLI = np.log([(4 / 9 + 1 / 9) / 2, (1 / 9 + 4 / 9) / 2])


@pytest.mark.parametrize(
    ("event", "power", "log_px", "terms"),
    [
        ("multinomial", 1.0, MULTINOMIAL, 3),
        ("multinomial", 0.5, MULTINOMIAL, 3),  # untempered, whatever the power
        ("bernoulli", 1.0, BERNOULLI, 4),  # each of two tokens is there or not, in each of two documents
    ],
)
def test_log_p_of_documents_is_worked_out_by_hand(event, power, log_px, terms, tmp_path, capsys):
    from bayesnb.cli import main

    bayesnb.TextClassifier(event=event, power=power).fit(TEXTS, LABELS).save(tmp_path / "m")
    scores = Scorer.load(tmp_path / "m").score_many(NEW)
    np.testing.assert_allclose(scores.log_px, log_px, rtol=1e-12)
    (tmp_path / "new.ndjson").write_text('{"text": "tea gin", "label": "h"}\n{"text": "rum rum", "label": "s"}\n')
    for command in ("evaluate", "score"):
        assert main([command, str(tmp_path / "m"), str(tmp_path / "new.ndjson"), "--json"]) == 0
        found = strict_json(capsys.readouterr().out)
        summary = found["summary"] if command == "score" else found
        assert summary["log_px_per_document"] == pytest.approx(log_px.mean(), rel=1e-12)
        assert summary["log_px_per_token"] == pytest.approx(log_px.sum() / terms, rel=1e-12)
        assert summary["unknown_token_share"] == 1 / 4 and summary["documents"] == 2
        if command == "score":
            assert [row["log_px"] for row in found["rows"]] == pytest.approx(log_px.tolist(), rel=1e-12)


def test_drift_of_batches_adds_up_and_nothing_has_no_mean():
    a, b = Drift(2, 10, 8, 8, -20.0), Drift(1, 2, 1, 1, -1.0)
    both = a + b
    assert both == Drift(3, 12, 9, 9, -21.0) and both.unknown_token_share == 1 / 4
    assert (both.log_px_per_document, both.log_px_per_token) == (-7.0, pytest.approx(-21 / 9))
    assert Drift().as_dict() == {
        "tokens": 0.0,
        "known_tokens": 0.0,
        "unknown_token_share": 0.0,
        "log_px_per_document": None,
        "log_px_per_token": None,
    }


def test_other_documents_have_a_lower_probability():
    """Mails of another subject: more unknown tokens, and less probable token for token."""
    from bayesnb import load_toy_spam

    corpus = load_toy_spam()
    tc = bayesnb.TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    scorer = Scorer(tc._model())
    same, other = (
        scorer.score_many(corpus.texts),
        scorer.score_many(["prices qualified prices grab", "the cat sat lets"]),
    )
    assert other.n_known.sum() / other.n_tokens.sum() < 1 == same.n_known.sum() / same.n_tokens.sum()
    assert other.log_px.sum() / other.n_known.sum() < same.log_px.sum() / same.n_known.sum()
