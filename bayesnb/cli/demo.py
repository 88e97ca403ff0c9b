"""The whole job on the built-in corpora: demo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import options, output
from bayesnb.cli.learn import describe_fit, say_fit
from bayesnb.cli.steps import Steps

_LEVEL = 0.95
_PAIR = ("HAMILTON", "MADISON")
_SECONDS = (9, 1, 2, 2, 1.5)  # mails sampled, which first loads PyMC, and drawn; papers sampled and drawn; the page


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for report.html and pictures.")] = Path("demo"),
    seed: Annotated[int, typer.Option("--seed", help="Seed of the draws.")] = 0,
    json: options.Json = False,
) -> int:
    """Do the whole job on two built-in corpora and write demo/report.html.

    Five toy mails, and the Federalist Papers: the fit, MAP against Laplace, PyMC against the closed form, token ratios
    with credible intervals, and who wrote the disputed papers.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder for the report: --out FOLDER")
    out.mkdir(parents=True, exist_ok=True)
    with _quiet_when(json):
        steps = Steps(_SECONDS)
        toy, toy_sections = _toy_spam(out, seed, steps)
        papers, paper_sections = _federalist(out, seed, steps)
        report = out / "report.html"
        _write_report(report, toy_sections + paper_sections, seed, steps)
        passed = toy["agreement"]["passed"] and papers["agreement"]["passed"]
        output.say()
        output.say(f"PyMC and the closed form {'agree' if passed else 'DISAGREE'}. Open {report} in a browser.")
    if json:
        output.emit_json({"report": str(report), "toy_spam": toy, "federalist": papers})
    return 0 if passed else 1


def _toy_spam(out: Path, seed: int, steps: Steps) -> tuple[dict[str, Any], list[Any]]:
    from bayesnb import TextClassifier, load_toy_spam

    corpus = load_toy_spam()
    clf = TextClassifier(tokens="space").fit(corpus.texts, corpus.y)
    output.say("== 1. Five toy mails: spam or ham ==")
    output.say()
    say_fit(describe_fit(clf.posterior_, clf._fitted))
    return _same_for_both("toy_spam", clf, corpus, ("spam", "ham"), out, seed, steps)


def _federalist(out: Path, seed: int, steps: Steps) -> tuple[dict[str, Any], list[Any]]:
    import numpy as np

    from bayesnb import load_federalist

    papers: Any = load_federalist()
    disputed = papers.y == "HAMILTON OR MADISON"
    output.say()
    output.say("== 2. The Federalist Papers: who wrote the twelve that Hamilton and Madison both claimed? ==")
    output.say()
    clf = _fit_papers(papers, np.isin(papers.y, _PAIR))
    say_fit(describe_fit(clf.posterior_, clf._fitted))
    found, sections = _same_for_both("federalist", clf, papers, _PAIR, out, seed, steps)
    numbers = [papers.ids[i] for i in np.flatnonzero(disputed)]
    verdict, section = _disputed(clf, papers.X[disputed], numbers, out)
    return found | {"disputed": verdict}, [*sections, section]


def _fit_papers(papers: Any, known: Any) -> Any:
    """Function words only, and no preference for the author who wrote more of the undisputed papers."""
    import pandas as pd

    from bayesnb import MultinomialNB

    frame = pd.DataFrame(papers.X[known].toarray(), columns=papers.tokens)
    return MultinomialNB(fit_prior=False).fit(frame, papers.y[known])


def _same_for_both(
    name: str, clf: Any, corpus: Any, pair: tuple[str, str], out: Path, seed: int, steps: Steps
) -> tuple[dict[str, Any], list[Any]]:
    """MAP against Laplace, PyMC against the closed form, token ratios: printed, drawn, and put into sections."""
    from bayesnb import check_agreement, compare_estimates, plots, report, sample
    from bayesnb.plots.agreement import plot_agreement

    estimates = compare_estimates(clf)
    gap = float(estimates["map_minus_laplace"].abs().max())
    output.say()
    output.say(f"MAP against Laplace: {len(estimates)} estimates, largest difference {gap:.2g}")
    with steps.step("sampling the same posterior with PyMC"):
        tree = sample(clf, seed=seed)
        agreement = check_agreement(tree, clf)
    output.say_sentence(str(agreement))
    ratios = clf.token_ratios(*pair, level=_LEVEL)
    _say_ratios(ratios, pair)
    with steps.step("drawing"):
        figures = {
            "map_vs_laplace": plots.plot_map_vs_laplace(clf),
            "agreement": plot_agreement(tree, clf),
            "ratios": plots.plot_ratios(ratios, top=15),
        }
        for kind, figure in figures.items():
            output.write_figure(out / f"{name}_{kind}.png", figure, dpi=150)
    sections = [
        report.data_section(corpus, clf),
        report.prior_section(clf),
        report.map_laplace_section(estimates, figures["map_vs_laplace"]),
        report.agreement_section(agreement, figures["agreement"]),
        report.ratios_section(ratios, figures["ratios"]),
    ]
    heading = {"toy_spam": "Five toy mails", "federalist": "The Federalist"}[name]
    sections = [replace(section, title=f"{heading}: {section.title}") for section in sections]
    found = {
        "fit": describe_fit(clf.posterior_, clf._fitted),
        "map_minus_laplace": gap,
        "agreement": {"passed": agreement.passed, "max_z": agreement.max_z, "threshold": agreement.threshold},
        "ratios": ratios.reset_index().to_dict("records"),
    }
    return found, sections


def _say_ratios(ratios: Any, pair: tuple[str, str], top: int = 8) -> None:
    from bayesnb.contrast import surest_first

    columns = ["ratio_median", "lower", "upper", "prob_greater"]
    rows = surest_first(ratios)[columns].head(top).reset_index().to_numpy(dtype=object).tolist()
    output.say()
    output.say(f"token ratios phi_{pair[0]} / phi_{pair[1]}, surest first, with {_LEVEL:.0%} credible intervals:")
    output.print_table(("token", "median", "lower", "upper", "P(ratio>1)"), rows)


def _disputed(clf: Any, X: Any, numbers: list, out: Path) -> tuple[list[dict[str, Any]], Any]:
    import pandas as pd

    from bayesnb import report
    from bayesnb.plots.probability import plot_class_probabilities

    frame = pd.DataFrame(X.toarray(), columns=clf.feature_names_in_)
    probability, interval = clf.predict_proba(frame), clf.predict_interval(frame, level=_LEVEL)
    best = probability.argmax(axis=1)
    names = [f"No. {number}" for number in numbers]
    rows = [
        (name, clf.classes_[k], p[k], *ends[k])
        for name, k, p, ends in zip(names, best, probability, interval, strict=True)
    ]
    output.say()
    output.say(f"who wrote the disputed papers, with the {_LEVEL:.0%} credible interval of that probability:")
    shown = [(name, author, *map(output.probability, numbers)) for name, author, *numbers in rows]
    output.print_table(("paper", "author", "probability", "lower", "upper"), shown)
    prior = clf.posterior_.prior.describe()
    figure = plot_class_probabilities(
        probability, interval, names, classes=clf.classes_, target="MADISON", level=_LEVEL, prior=prior,
        title="Who wrote the disputed papers",
    )  # fmt: skip
    output.write_figure(out / "federalist_disputed.png", figure, dpi=150)
    section = report.documents_section(
        probability, interval, names, clf.classes_, figure=figure, level=_LEVEL, title="The disputed papers"
    )
    keys = ("paper", "author", "probability", "lower", "upper")
    return [dict(zip(keys, row, strict=True)) for row in rows], section


def _write_report(path: Path, sections: list[Any], seed: int, steps: Steps) -> None:
    from bayesnb import report

    lead = (
        "Two small corpora, fitted in closed form and sampled with PyMC: five toy mails, then the Federalist Papers by "
        "35 function words. Every table says which prior it used."
    )
    page = report.Page("bayesnb: the whole job on two corpora", lead, sections, report.footer(seed=seed))
    with steps.step("drawing the page"):  # before writing, which Ctrl-C has to wait for
        html = report.render(page)
    output.write_bytes(path, html.encode())


@contextmanager
def _quiet_when(quiet: bool) -> Iterator[None]:
    """Keep what is printed for people away from JSON on stdout."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) if quiet else contextlib.nullcontext():
        yield
