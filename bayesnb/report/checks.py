"""Sections of a report on how far the model can be trusted: draws, documents, evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import validate
from bayesnb.plots import canvas
from bayesnb.report.model import picture
from bayesnb.report.page import Block, Facts, Section, Table, Text
from bayesnb.report.page_text import Shown, number, probability, several

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

    from bayesnb.checks.agreement import Agreement
    from bayesnb.evaluation import Evaluation


def agreement_section(agreement: Agreement, figure: Picture | None = None, rows: int = 25) -> Section:
    """Closed form against draws: whether they agree, by how much, and the largest differences.

    Parameters
    ----------
    agreement : Agreement
        As `check_agreement` gives it.
    figure : matplotlib Figure, optional
        As `plot_agreement` draws it.
    rows : int
        How many comparisons are listed, largest ``|z|`` first.

    Returns
    -------
    Section

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import agreement_section
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> tree = bayesnb.sample(tc, draws=500, sampler="exact")
    >>> agreement_section(bayesnb.check_agreement(tree, tc)).blocks[2].facts["Agree"]
    True
    """
    facts = {
        "Agree": agreement.passed,
        "Largest |z|": agreement.max_z,
        "Threshold for |z|": agreement.threshold,
        "Comparisons": len(agreement.table),
        "Divergences": agreement.n_divergences,
    }
    text = (
        "The same posterior twice: in closed form, and as draws. Means of the parameters, of their logs and of their "
        "squared deviations are compared in units of their Monte Carlo error; the threshold allows for the number of "
        "comparisons."
    )
    failed = "\n\n".join(f"It failed: {reason}." for reason in agreement.reasons)
    order = np.argsort(-agreement.table["z"].abs().to_numpy(float), kind="stable")
    listed = Table(agreement.table.iloc[order], "The largest differences.", digits=4, limit=rows)
    alt = f"Exact densities over histograms of draws; the largest |z| is {number(agreement.max_z, 3)}."
    return Section("Closed form and draws", [Text(text), Text(failed), Facts(facts), *picture(figure, alt), listed])


def documents_section(
    probabilities: Any,
    intervals: Any,
    names: Sequence[Any],
    classes: Sequence[Any],
    *,
    figure: Picture | None = None,
    truth: Sequence[Any] | None = None,
    level: float = 0.95,
    title: str = "Documents",
    rows: int = 200,
) -> Section:
    """The most probable class of each document, its probability and what that could be.

    Parameters
    ----------
    probabilities : array_like, shape (n, K)
    intervals : array_like, shape (n, K, 2)
        Credible intervals of them at `level`.
    names : sequence of n names
    classes : sequence of K labels
    figure : matplotlib Figure, optional
        As `plot_class_probabilities` draws it.
    truth : sequence of n labels, optional
    level : float
    title : str
    rows : int
        How many documents are listed.

    Returns
    -------
    Section

    Raises
    ------
    ValueError
        Shapes that do not fit.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import documents_section
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> mails = ["free discount", "coffee game"]
    >>> section = documents_section(tc.predict_proba(mails), tc.predict_interval(mails), mails, tc.classes_)
    >>> section.title, [type(block).__name__ for block in section.blocks]
    ('Documents', ['Text', 'Facts', 'Table'])
    """
    p, ends = np.asarray(probabilities, float), np.asarray(intervals, float)
    if p.ndim != 2 or p.shape != (len(names), len(classes)) or ends.shape != (*p.shape, 2):
        shapes = f"probabilities {p.shape} and intervals {ends.shape}"
        raise ValueError(f"{shapes} do not fit {len(names)} names and {len(classes)} classes")
    best = p.argmax(axis=1)
    percent = f"{validate.percent(validate.level(level))}%"
    columns = {
        "document": list(names),
        "class": [classes[k] for k in best],
        "probability": _probabilities(p, best),
        f"lower {percent}": _probabilities(ends[..., 0], best, opposite=ends[..., 1]),
        f"upper {percent}": _probabilities(ends[..., 1], best, opposite=ends[..., 0]),
    }
    columns |= {} if truth is None else {"true class": list(truth)}
    listed = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    facts: dict[str, Any] = {"Documents": len(p)}
    facts |= {f"Most probably {label}": int((best == k).sum()) for k, label in enumerate(classes)}
    text = (
        f"The interval is the {percent} credible interval of the class probability over the posterior of the "
        "parameters. It says how far the training data pin the model down, not whether the model is right: naive "
        "Bayes treats tokens as independent, so its probabilities tend to be too sure."
    )
    alt = f"Credible intervals of the class probability of {several(len(p), 'document')} on a log-odds axis."
    table = Table(listed, "The most probable class of each document.", limit=rows)
    return Section(title, [Text(text), Facts(facts), *picture(figure, alt), table])


def _probabilities(p: np.ndarray, at: np.ndarray, opposite: np.ndarray | None = None) -> list[Shown]:
    """Probabilities of one class a row, where they are near 1 as 1 less a small number, sorted by their odds."""
    value, rest = canvas.with_complement(p, at, opposite)
    with np.errstate(divide="ignore"):
        keys = np.log(value) - np.log(rest)
    return [Shown(probability(v, q), float(key)) for v, q, key in zip(value, rest, keys, strict=True)]


def evaluation_section(evaluation: Evaluation, figure: Picture | None = None) -> Section:
    """How good the class probabilities were on documents with known labels.

    Parameters
    ----------
    evaluation : Evaluation
        As `evaluation.evaluate` gives it.
    figure : matplotlib Figure, optional
        As `plot_calibration` draws it.

    Returns
    -------
    Section

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.evaluation import evaluate
    >>> from bayesnb.report import evaluation_section
    >>> papers = bayesnb.load_federalist()
    >>> clf = bayesnb.MultinomialNB(estimate="predictive").fit(papers.X, papers.y)
    >>> found = evaluate(papers.y, clf.predict_log_proba(papers.X), clf.classes_)
    >>> section = evaluation_section(found)
    >>> section.blocks[0].facts["Documents"], section.blocks[0].facts["Errors"] == found.errors
    (85, True)
    """
    facts = {
        "Documents": evaluation.documents,
        "Errors": evaluation.errors,
        "Error rate, %": 100 * evaluation.error_rate,
        "Log loss, nats": evaluation.log_loss,
        "Brier score": evaluation.brier,
        "Expected calibration error": evaluation.ece,
    }
    labels = evaluation.classes.tolist()
    rows = [
        {"true class": label, **{f"called {other}": n for other, n in zip(labels, row, strict=True)}}
        for label, row in zip(labels, evaluation.confusion.tolist(), strict=True)
    ]
    alt = f"Reliability diagram; the expected calibration error is {number(evaluation.ece, 3)}."
    blocks: list[Block] = [Facts(facts), *picture(figure, alt), Table(rows, "Documents by true and predicted class.")]
    return Section("Evaluation", blocks)
