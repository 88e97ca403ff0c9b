"""The whole page about a model and the documents it was learnt from; `bayesnb report` writes it."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import contrast, plots, validate
from bayesnb.comparison import compare_estimates, of_tokens
from bayesnb.evaluation import evaluate
from bayesnb.events.base import CountPosterior, normalise
from bayesnb.model import class_codes
from bayesnb.plots import canvas
from bayesnb.report.checks import agreement_section, documents_section, evaluation_section
from bayesnb.report.model import data_section, map_laplace_section, prior_section, ratios_section
from bayesnb.report.page import Block, Figure, Page, Section, Table, Text
from bayesnb.report.page_text import probability, several
from bayesnb.scorer import Scorer
from bayesnb.selection.loo import leave_one_out
from bayesnb.uncertainty import class_probability_interval, explain

if TYPE_CHECKING:
    from bayesnb.checks.agreement import Agreement
    from bayesnb.corpus import Corpus
    from bayesnb.storage import Model

_MOST_PAIRS = 12  # sections of ratios: one a class beyond two classes
_MOST_DRAWN = 60  # rows of a picture
_EXPLAINED = 5  # documents with a table of their own
_PARTS = 12  # rows of such a table
_EXCERPT = 300  # characters of a text


def whole_page(
    model: Any,
    corpus: Corpus,
    X: Any = None,
    *,
    classes: tuple[Any, Any] | None = None,
    level: float = 0.95,
    tree: Any = None,
    agreement: Agreement | None = None,
    top: int = 20,
    footer: str = "",
    wording: Callable[[str], str] = str,
    progress: Callable[[int, int], None] | None = None,
) -> Page:
    """Everything about a model and the documents it was learnt from, section by section.

    Data, prior and its strength, the estimates side by side, token ratios, agreement with draws where there are some,
    exact leave-one-out with its calibration, and the documents that the model gets wrong and that it is least sure of,
    with the reasons.

    Parameters
    ----------
    model : TextClassifier, MultinomialNB, BernoulliNB or Model
        Fitted on these documents.
    corpus : Corpus
        The documents as they were read: labels, names and, where they are text, texts.
    X : scipy.sparse.csr_array, shape (N, V), optional
        The documents as the event model counts them; by default the corpus is counted.
    classes : pair of labels, optional
        Numerator and denominator of the ratios. By default the second of two classes over the first; of more, each
        over all others pooled.
    level : float
        Of every interval.
    tree : DataTree, optional
        Draws of this posterior, as `sample` gives them.
    agreement : Agreement, optional
        Of these draws; by default `check_agreement` is asked.
    top : int
        Tokens, estimates and documents that each table shows, and each picture up to 60.
    footer : str
        As `footer` gives it.
    wording : callable, optional
        Says a message of the library, which names arguments of Python, in the words of the page's readers.
    progress : callable, optional
        Told after each part how many are made, and how many there are.

    Returns
    -------
    Page

    Raises
    ------
    ValueError
        A label that the model does not know, a corpus that it was not fitted on, or a level outside (0, 1).

    Examples
    --------
    >>> import bayesnb
    >>> corpus = bayesnb.load_toy_spam()
    >>> clf = bayesnb.TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    >>> page = bayesnb.report.whole_page(clf, corpus)
    >>> [section.title for section in page.sections][:4]
    ['Data', 'Prior', 'MLE, Laplace, MAP and mean', 'Tokens of spam against ham']
    """
    level = validate.level(level)
    stored = of_tokens(model)
    learnt = _Learnt(stored, _counted(stored, corpus) if X is None else X, corpus, level, top, wording)
    sections = [data_section(corpus, learnt.posterior), prior_section(learnt.posterior, stored.settings)]
    tell = progress or (lambda made, of: None)
    sections.append(learnt.estimates())
    tell(1, 4)
    sections += learnt.ratios(classes)
    tell(2, 4)
    sections += [] if tree is None else [learnt.agreement(tree, agreement)]
    tell(3, 4)
    found, left_out = learnt.left_out()
    sections += left_out
    tell(4, 4)
    what = "Several classes" if len(learnt.labels) > 2 else " and ".join(map(str, learnt.labels))
    lead = (
        f"A {stored.settings.event} naive Bayes model of {several(len(corpus), 'document')} and "
        f"{several(learnt.posterior.statistics.n_tokens, 'token')}. {found}"
    )
    return Page(f"bayesnb: {what}", lead, sections, footer)


def _counted(model: Model, corpus: Corpus) -> Any:
    if corpus.y is None:
        raise ValueError(f"{corpus.source or 'the corpus'} has no labels; a report needs the documents learnt from")
    if model.tokens is not None and corpus.texts is not None:
        return Scorer(model)._counted(corpus.texts)[0]
    if model.tokens is None and corpus.X is not None and corpus.X.shape[1] == model.state.statistics.n_tokens:
        return model.settings.documents(corpus.X, model.state.tokens)
    raise ValueError(f"the model was not fitted on {corpus.source or 'this corpus'}: one is of texts, the other is not")


@dataclass(frozen=True, eq=False)
class _Learnt:
    """What the sections are made from."""

    model: Model
    X: Any
    corpus: Corpus
    level: float
    top: int
    wording: Callable[[str], str]

    @cached_property
    def posterior(self) -> CountPosterior:
        """The posterior, whose prior stays what it is when a document is left out."""
        return canvas.posterior_of(self.model.settings.posterior(self.model.state))

    @property
    def labels(self) -> list[Any]:
        return self.model.state.classes.tolist()

    def estimates(self) -> Section:
        """MLE, Laplace, MAP and mean, with the pictures of those that exist."""
        table, posterior = compare_estimates(self.model), self.posterior
        if table["mle"].isna().any():
            empty = table.index[table["mle"].isna()][0][0]
            section = map_laplace_section(table, rows=self.top)
            return replace(section, blocks=[Text(f"Class {empty} holds no token: its MLE is 0/0."), *section.blocks])
        section = map_laplace_section(
            table,
            None if table["map"].isna().any() else plots.plot_map_vs_laplace(posterior, self.model.settings.alpha),
            self.top,
        )
        shrinkage = Figure(
            plots.plot_shrinkage(posterior),
            "Posterior estimates over relative frequencies; rare tokens are moved, frequent ones are not.",
        )
        return replace(section, blocks=[*section.blocks[:-1], shrinkage, section.blocks[-1]])

    def ratios(self, classes: tuple[Any, Any] | None) -> list[Section]:
        """A section a pair of classes, or a class and its rest."""
        if len(self.labels) < 2:
            return [Section("Token ratios", [Text("There is one class: nothing to compare it with.")])]
        if classes is not None:
            return [self._ratios(*classes)]
        if len(self.labels) == 2:
            return [self._ratios(self.labels[1], self.labels[0])]
        largest = np.argsort(-self.posterior.statistics.class_count, kind="stable")[:_MOST_PAIRS]
        sections = [self._ratios(self.labels[k], None) for k in sorted(largest)]
        if len(self.labels) > len(sections):
            text = Text(f"Of {len(self.labels)} classes these are the {len(sections)} with the most documents.")
            sections[0] = replace(sections[0], blocks=[text, *sections[0].blocks])
        return sections

    def _ratios(self, numerator: Any, denominator: Any) -> Section:
        posterior = self.posterior
        table = contrast.token_ratios(
            posterior, numerator, denominator, level=self.level, alpha=self.model.settings.alpha
        )
        section = ratios_section(table, plots.plot_ratios(table, top=min(self.top, _MOST_DRAWN)), self.top)
        against = "the other classes" if denominator is None else denominator
        return replace(section, title=f"Tokens of {numerator} against {against}")

    def agreement(self, tree: Any, agreement: Agreement | None) -> Section:
        """Draws beside the closed form."""
        from bayesnb.checks.agreement import check_agreement

        posterior = self.posterior
        return agreement_section(agreement or check_agreement(tree, posterior), plots.plot_agreement(tree, posterior))

    def left_out(self) -> tuple[str, list[Section]]:
        """One sentence, the scores of exact leave-one-out, and the documents that were least clear."""
        posterior, settings = self.posterior, self.model.settings
        own = class_codes(np.asarray(self.corpus.y), self.model.state.classes)
        if len(self.labels) < 2:
            reason = "There is one class, so that no document can be misjudged."
            return reason, [Section("Leave-one-out", [Text(reason)])]
        try:
            loo = leave_one_out(posterior, self.X, own, None, settings.estimate, settings.power)
        except ValueError as error:
            reason = f"Leave-one-out does not exist for these documents and this estimate: {self.wording(str(error))}."
            return reason, [Section("Leave-one-out", [Text(reason)])]
        log_p = normalise(loo.log_joint)
        found = evaluate(np.asarray(self.corpus.y), log_p, self.model.state.classes)
        picture = plots.plot_calibration(self.corpus.y, loo.probabilities, classes=self.labels)
        text = Text(
            "Each document is scored by the posterior without it: the exact answer, not a resampling. "
            f"{loo.note[:1].upper()}{self.wording(loo.note[1:])}."
        )
        section = evaluation_section(found, picture)
        section = replace(section, title="Leave-one-out", blocks=[text, *section.blocks])
        sentence = f"Left out one by one, {found.errors:,} of {found.documents:,} are misjudged."
        p = loo.probabilities
        wrong = np.flatnonzero(p.argmax(axis=1) != own)
        surest = wrong[np.argsort(p[wrong, own[wrong]], kind="stable")]
        unsure = np.argsort(p.max(axis=1), kind="stable")
        surest, unsure = surest[: self.top], unsure[: self.top]
        held_out = {row: self._held_out(row, own[row]) for row in {*surest, *unsure}}
        sections = [section]
        if len(wrong):
            sections += self._documents(surest, p, own, held_out, "The documents it gets wrong", "Why it is wrong")
        least = "The documents it is least sure of"
        return sentence, sections + self._documents(unsure, p, own, held_out, least, "Why it is not sure")

    def _held_out(self, row: int, own: int) -> tuple[CountPosterior, np.ndarray]:
        """The posterior that never saw a document, and the intervals of its class probabilities, shape (K, 2)."""
        x, statistics = self.X[[row]], self.posterior.statistics
        part = type(statistics).from_documents(x, np.array([own]), statistics.n_classes)
        posterior = replace(self.posterior, statistics=statistics - part)
        return posterior, class_probability_interval(posterior, x, self.level, self.model.settings.power)[0]

    def _documents(
        self,
        rows: np.ndarray,
        probabilities: np.ndarray,
        own: np.ndarray,
        held_out: dict[int, tuple[CountPosterior, np.ndarray]],
        title: str,
        why: str,
    ) -> list[Section]:
        """Documents, and the reasons of the first ones."""
        posteriors, ends = zip(*(held_out[row] for row in rows), strict=True)
        p, intervals, names = probabilities[rows], np.array(ends), _names([self.corpus.ids[row] for row in rows])
        truth = [self.labels[own[row]] for row in rows]
        some = slice(_MOST_DRAWN)
        figure = self._picture(p[some], intervals[some], names[some], own[rows[some]], f"{title}, each left out")
        section = documents_section(
            p, intervals, names, self.labels, figure=figure, truth=truth, level=self.level,
            title=title, rows=len(rows),
        )  # fmt: skip
        explained = zip(posteriors[:_EXPLAINED], rows, names, truth, p, strict=False)
        reasons = [block for item in explained for block in self._explained(*item)]
        text = (
            "Each row says how far a part of the document moves the log-odds, in nats, towards the first of two "
            "classes; the interval is that of the row alone. The beginning of the text stands above its table."
        )
        return [section, Section(why, [Text(text), *reasons])]

    def _picture(self, p: np.ndarray, ends: np.ndarray, names: list[str], own: np.ndarray, title: str) -> Any:
        """Class probabilities of two classes, or of more the probability of the class that each document has."""
        labels, target, each = self.labels, None, np.arange(len(own))
        if len(labels) > 2:
            true, interval = p[each, own], ends[each, own]
            p, ends = np.column_stack([1 - true, true]), np.stack([1 - interval[:, ::-1], interval], axis=1)
            labels, target = ["another", "its own class"], "its own class"
        return plots.plot_class_probabilities(
            p, ends, names, classes=labels, target=target, truth=[self.labels[k] for k in own], level=self.level,
            prior=self.posterior.prior.describe(), title=title,
        )  # fmt: skip

    def _explained(self, posterior: CountPosterior, row: int, name: Any, truth: Any, p: np.ndarray) -> list[Block]:
        settings = self.model.settings
        pair = None if self.labels[p.argmax()] == truth else (self.labels[p.argmax()], truth)
        table = explain(posterior, self.X[[row]], settings.estimate, settings.power, pair, self.level)
        a, b = table.attrs["classes"]
        largest = np.argsort(-table["contribution"].abs().to_numpy(), kind="stable")[:_PARTS]
        sure, rest = canvas.with_complement(p[None], [p.argmax()])
        caption = (
            f"{name}: P({a}) = {probability(sure[0], rest[0])} without it; it is {truth}. Log-odds of {a} against "
            f"{b}, the largest {min(_PARTS, len(table))} of {len(table)} parts."
        )
        excerpt = "" if self.corpus.texts is None else _excerpt(self.corpus.texts[row])
        return [*([Text(excerpt)] if excerpt else []), Table(table.iloc[largest], caption)]


def _names(ids: list[Any]) -> list[str]:
    """Documents by the part of their paths in which they differ; rows of a table by their number."""
    if not all(isinstance(name, str) for name in ids):
        return [f"row {name}" if isinstance(name, int) else str(name) for name in ids]
    try:
        folder = os.path.commonpath([os.path.dirname(name) for name in ids])
    except ValueError:  # some are absolute, others not
        return ids
    return [os.path.relpath(name, folder) if folder else name for name in ids]


def _excerpt(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * _EXCERPT].split())
    return f"“{line[:_EXCERPT]}{'…' if len(line) > _EXCERPT or len(text) > 4 * _EXCERPT else ''}”" if line else ""
