"""Sections of a report on what was learnt: data, prior, estimates, token ratios."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import validate
from bayesnb.events.base import CountPosterior
from bayesnb.plots import canvas
from bayesnb.report.page import Block, Facts, Figure, Section, Table, Text
from bayesnb.report.page_text import Shown, legible, number, probability

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

    from bayesnb.corpus import Corpus
    from bayesnb.model import Settings


def data_section(corpus: Corpus, model: Any) -> Section:
    """What was read and learnt: documents, tokens and classes, and what was left out.

    Parameters
    ----------
    corpus : Corpus
    model : fitted estimator or posterior
        Learnt from it.

    Returns
    -------
    Section

    Raises
    ------
    ValueError
        `model` is not fitted.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import data_section
    >>> toy = bayesnb.load_toy_spam()
    >>> facts, table = data_section(toy, bayesnb.TextClassifier().fit(toy.texts, toy.y)).blocks
    >>> facts.facts["Tokens in the vocabulary"], [row["documents"].item() for row in table.data]
    (13, [2.0, 3.0])
    """
    posterior = canvas.posterior_of(model)
    statistics = posterior.statistics
    facts = {
        "Source": corpus.source or "in memory",
        "Documents read": len(corpus),
        "Documents learnt": statistics.class_count.sum(),
        "Classes": statistics.n_classes,
        "Tokens in the vocabulary": statistics.n_tokens,
        "Event model": posterior.event,
    }
    facts |= {f"Left out: {reason}": n for reason, n in corpus.skipped.items()}
    unit = "documents holding each token, summed" if posterior.event == "bernoulli" else "token occurrences"
    rows = [
        {"class": label, "documents": n, unit: f.sum(), "distinct tokens": (f > 0).sum()}
        for label, n, f in zip(
            posterior.classes.tolist(), statistics.class_count, statistics.feature_count, strict=True
        )
    ]
    return Section("Data", [Facts(facts), Table(rows, "What each class holds.")])


def prior_section(model: Any, settings: Settings | None = None) -> Section:
    """Which prior, and how much it weighs beside the data: as many tokens, or documents, as its concentrations sum to.

    Parameters
    ----------
    model : fitted estimator or posterior
    settings : Settings, optional
        How it predicts, where `model` is a posterior, which does not know.

    Returns
    -------
    Section

    Raises
    ------
    ValueError
        It is not fitted.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import prior_section
    >>> toy = bayesnb.load_toy_spam()
    >>> section = prior_section(bayesnb.TextClassifier().fit(toy.texts, toy.y))
    >>> section.blocks[1].facts["Prior"]
    'phi ~ Dirichlet(2), theta ~ Dirichlet(1)'
    """
    posterior, told = canvas.posterior_of(model), model if settings is None else settings
    facts = {"Prior": posterior.prior.describe(), "Log evidence, nats": posterior.log_evidence()}
    for name, title in _SETTINGS.items():
        if np.ndim(getattr(told, name, [])) == 0:
            facts[title] = getattr(told, name)
    text = (
        "The model: theta is the probability of each class, phi the probability of each token in a class. "
        "Laplace smoothing by s is the mode (MAP) of the posterior under concentration 1 + s, and the mean under "
        "concentration s. Every interval, ratio and evidence on this page uses the prior named here.\n\n"
        "A prior's concentrations count like data seen before: the table sets their sum beside what was seen."
    )
    return Section("Prior", [Text(text), Facts(facts), Table(_strengths(posterior), _STRENGTH[posterior.event])])


_SETTINGS = {
    "estimate": "Estimate used for predictions",
    "alpha": "Laplace pseudo-count s",
    "power": "Power of the likelihood (1: the model as it is)",
}
_STRENGTH = {
    "multinomial": "Strength of the prior of phi in tokens, beside the tokens of each class.",
    "bernoulli": "Strength of the prior of phi in documents, averaged over tokens, beside the documents of each class.",
}


def _strengths(posterior: CountPosterior) -> list[dict[str, Any]]:
    prior, statistics = posterior.prior.phi, posterior.statistics
    if posterior.event == "bernoulli":
        weight, seen = (prior.a + prior.b).mean(axis=1), statistics.class_count
    else:
        weight, seen = prior.sum(axis=1), statistics.feature_count.sum(axis=1)
    unit = "documents" if posterior.event == "bernoulli" else "tokens"
    return [
        {
            "class": label,
            f"prior, {unit}": a,
            f"data, {unit}": n,
            "prior's share of the posterior, %": 100 * a / (a + n),
        }
        for label, a, n in zip(posterior.classes.tolist(), weight, seen, strict=True)
    ]


def map_laplace_section(table: pd.DataFrame, figure: Picture | None = None, rows: int = 25) -> Section:
    """MLE, Laplace, MAP and mean side by side.

    Parameters
    ----------
    table : DataFrame
        As `comparison.compare_estimates` gives it.
    figure : matplotlib Figure, optional
        As `plot_map_vs_laplace` draws it.
    rows : int
        How many of the estimates that the prior moves most are listed.

    Returns
    -------
    Section

    Raises
    ------
    ValueError
        The table lacks a column.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import map_laplace_section
    >>> toy = bayesnb.load_toy_spam()
    >>> table = bayesnb.compare_estimates(bayesnb.TextClassifier().fit(toy.texts, toy.y))
    >>> map_laplace_section(table).blocks[0].facts["Estimates compared"]
    26
    """
    require(table, ("mle", "laplace", "map", "mean"), "compare_estimates")
    gap = (table["map"] - table["laplace"]).abs()
    facts = {"Prior": table.attrs.get("prior"), "Estimates compared": len(table)}
    facts |= {"Largest |MAP − Laplace|": gap.max(), "No mode, hence no MAP": int(table["map"].isna().sum())}
    moved = np.argsort(-(table["mean"] - table["mle"]).abs().to_numpy(float), kind="stable")
    listed = Table(table.iloc[moved].drop(columns="map_minus_laplace", errors="ignore"), _MOVED, limit=rows)
    alt = f"MAP against Laplace estimates on log axes; the largest difference is {number(gap.max())}."
    return Section("MLE, Laplace, MAP and mean", [Facts(facts), *picture(figure, alt), listed])


_MOVED = "The estimates that the prior moves most, by the absolute difference of MLE and posterior mean."


def ratios_section(table: pd.DataFrame, figure: Picture | None = None, rows: int = 50) -> Section:
    """Token ratios between two classes with credible intervals, strongest first.

    Parameters
    ----------
    table : DataFrame
        As `token_ratios` gives it.
    figure : matplotlib Figure, optional
        As `plot_ratios` draws it.
    rows : int
        How many tokens are listed, by max(log lower, -log upper).

    Returns
    -------
    Section

    Raises
    ------
    ValueError
        The table lacks a column.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import ratios_section
    >>> toy = bayesnb.load_toy_spam()
    >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
    >>> section = ratios_section(tc.token_ratios("spam", "ham"), bayesnb.plot_ratios(tc, "spam", "ham"), rows=5)
    >>> section.title, [type(block).__name__ for block in section.blocks]
    ('Token ratios', ['Text', 'Facts', 'Figure', 'Table'])
    """
    require(table, ("ratio_median", "lower", "upper", "log_lower", "log_upper", "prob_greater"), "token_ratios")
    strength = np.maximum(table["log_lower"].to_numpy(float), -table["log_upper"].to_numpy(float))
    ranked = table.iloc[np.argsort(-strength, kind="stable")]
    names = {name: table.attrs.get(name) for name in ("numerator", "denominator", "prior", "level")}
    facts = {name.capitalize(): value for name, value in names.items() if value is not None}
    if "Level" in facts:
        facts["Level"] = f"{validate.percent(facts['Level'])} %"
    facts |= {"Tokens": len(table), "Interval excludes 1": int((strength > 0).sum())}
    columns = {name: title for name, title in _RATIO_COLUMNS.items() if name in ranked}
    columns |= {
        f"count_{name[:3]}": f"n in {legible(names[name])}"
        for name in ("numerator", "denominator")
        if names[name] is not None
    }
    listed = ranked[[name for name in columns if name in ranked]]
    sure = [Shown(probability(p, 1 - p, _DIGITS), p) for p in listed["prob_greater"]]
    listed = listed.assign(prob_greater=np.array(sure, object)).rename(columns=columns).rename_axis("token")
    caption = (
        "Ratio of the token's probabilities: mode over mode (MAP), Laplace-smoothed, posterior median and interval."
    )
    text = (
        "How many times more probable a token is in one class than in the other. The tokens listed first are those "
        "whose whole credible interval lies farthest from 1, so that a few chance occurrences rank low."
        "\n\nThe log Bayes factor, in nats, asks another question: it weighs two probabilities of the token, one a "
        "class, against one that the classes share. Above 0 the data speak for two, below 0 for one. Two cost more, "
        "since the prior spreads over values that the data then rule out: an interval may exclude 1 where the factor "
        "is below 0."
    )
    strongest = f"{ranked.index[0]} at {number(ranked['ratio_median'].iloc[0], 3)}"
    alt = f"Forest plot of token ratios; the strongest is {strongest}."
    blocks: list[Block] = [
        Text(text),
        Facts(facts),
        *picture(figure, alt),
        Table(listed, caption, digits=_DIGITS, limit=rows),
    ]
    return Section("Token ratios", blocks)


_DIGITS = 3
_RATIO_COLUMNS = {
    "count_num": "n in numerator",
    "count_den": "n in denominator",
    "ratio_map": "MAP",
    "ratio_laplace": "Laplace",
    "ratio_median": "median",
    "lower": "lower",
    "upper": "upper",
    "prob_greater": "P(ratio > 1)",
    "log_bayes_factor": "log Bayes factor",
}


def picture(figure: Picture | None, alt: str) -> list[Block]:
    """The figure as a block, or nothing."""
    return [] if figure is None else [Figure(figure, alt)]


def require(table: pd.DataFrame, columns: Sequence[str], maker: str) -> None:
    """Raise ValueError unless the table holds these columns and a row."""
    missing = [name for name in columns if name not in table]
    if missing or not len(table):
        what = f"has no column {missing[0]!r}" if missing else "is empty"
        raise ValueError(f"the table {what}; give one made by {maker}")
