"""The command that samples with PyMC: sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import inputs, options, output

SAMPLERS = ("nutpie", "pymc", "exact")
_MANY = 4_000  # probabilities; about half a minute on two cores


def sample(
    model_file: options.ModelFile,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where the draws go, as netCDF.", show_default=False)],
    model: Annotated[
        str | None, typer.Option("--model", help="A model by name, or your own FILE.py. Default: the event model.")
    ] = None,
    form: Annotated[str | None, typer.Option("--form", help="Form of the model, such as dirichlet or gamma.")] = None,
    only: Annotated[list[str] | None, typer.Option("--token", help="Sample these tokens and the rest as one.")] = None,
    draws: Annotated[int, typer.Option("--draws", help="Draws a chain.", min=1)] = 1000,
    tune: Annotated[int, typer.Option("--tune", help="Tuning steps a chain.", min=0)] = 1000,
    chains: Annotated[int, typer.Option("--chains", help="Chains.", min=1)] = 4,
    seed: Annotated[int, typer.Option("--seed", help="Seed.", min=0)] = 0,
    sampler: Annotated[
        str, typer.Option("--sampler", help="nutpie, pymc, or exact draws.", autocompletion=options.one_of(SAMPLERS))
    ] = "nutpie",
    data: Annotated[
        list[str] | None,
        typer.Option("--data", help="Documents, PATH or LABEL=PATH, for a --model that needs them beside the totals."),
    ] = None,
    unlabelled: Annotated[
        list[str] | None,
        typer.Option("--unlabelled", help="More documents, of unknown class, for --model semi_supervised."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Sample the same posterior with PyMC, write the draws, and check them against the closed form.

    Exit status 1 if the two disagree. A model beyond conjugacy has no closed form, and yours may be one: such draws are
    written with their r_hat and effective sample size; verify compares the density of your own conjugate model.
    """
    inputs.choice("--sampler", sampler, SAMPLERS)
    output.check_targets(out, read=[model_file, *inputs.paths_of(data or []), *(unlabelled or [])])
    from bayesnb import storage
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample as run

    stored = storage.load(model_file)
    posterior = stored.settings.posterior(stored.state)
    _note_size(posterior, only)
    X, y = _documents(stored, data or [], unlabelled or [])
    tree = run(
        posterior, model=model, form=form, tokens=only or None, X=X, y=y, draws=draws, tune=tune, chains=chains,
        seed=seed, sampler=sampler, progress=sys.stderr.isatty(),
    )  # fmt: skip
    output.write_bytes(out, bytes(tree.to_netcdf()))
    checked = tree.attrs["model"] == posterior.event
    agreement = check_agreement(tree, posterior) if checked else None
    summary = {"draws": str(out), "prior": posterior.prior.describe(), "seed": seed, "model": tree.attrs["model"]}
    if json:
        output.emit_json(summary | (_checked(agreement) if agreement else {"passed": None} | _convergence(tree)))
    else:
        output.say(f"prior: {summary['prior']}")
        _say_checked(agreement, tree)
        output.say(f"wrote {out}")
    return 0 if agreement is None or agreement.passed else 1


def _documents(stored: Any, labelled: list[str], unlabelled: list[str]) -> tuple[Any, Any]:
    """Documents in the model's columns with their labels or None, for models that need more than totals."""
    if not labelled and not unlabelled:
        return None, None
    from scipy import sparse

    from bayesnb.scorer import Scorer

    scorer, reading = Scorer(stored), inputs.Reading()
    corpora = [reading.labelled(labelled)] if labelled else []
    y = inputs.true_labels(corpora[0], stored.state.classes).tolist() if labelled else []
    corpora += [reading.unlabelled(path) for path in unlabelled]
    X = sparse.vstack([inputs.counts_for(scorer, corpus)[0] for corpus in corpora], format="csr")
    return X, y + [None] * (X.shape[0] - len(y))


def _note_size(posterior: Any, only: list[str] | None) -> None:
    n = posterior.statistics.n_classes * posterior.statistics.n_tokens
    if n > _MANY and not only:
        output.note(f"sampling {n:,} probabilities takes minutes; --token TOKEN samples a few, all others as one")


def _checked(agreement: Any) -> dict[str, Any]:
    return {
        "passed": agreement.passed,
        "max_z": agreement.max_z,
        "threshold": agreement.threshold,
        "comparisons": len(agreement.table),
        "divergences": agreement.n_divergences,
        "largest": _worst(agreement).to_dict("records"),
    }


def _worst(agreement: Any) -> Any:
    return agreement.table.sort_values("z", key=abs, ascending=False).head(5)


def _convergence(tree: Any) -> dict[str, Any]:
    from bayesnb.sampling.convergence import summary

    draws = tree["posterior"].data_vars
    largest, smallest = summary({str(name): draws[name].transpose("chain", "draw", ...).values for name in draws})
    measured = {"max_r_hat": largest, "min_ess": smallest}
    found = {name: None if value != value else value for name, value in measured.items()}
    return {**found, "divergences": int(tree["sample_stats"]["diverging"].sum())}


def _say_checked(agreement: Any, tree: Any) -> None:
    if agreement is None:
        found = _convergence(tree)
        r_hat, ess = (
            f"{found[name]:,.{n}f}" if found[name] else "unknown" for name, n in (("max_r_hat", 3), ("min_ess", 0))
        )
        output.say_sentence(
            f"not checked against a closed form; largest r_hat {r_hat} (at most 1.05 where chains agree), smallest "
            f"effective sample size {ess} (400 or more), {found['divergences']} divergences"
        )
        return
    columns = ("parameter", "class", "token", "quantity", "sampled", "exact", "z")
    rows = [[row[name] for name in columns] for row in _worst(agreement).to_dict("records")]
    output.print_table(columns, rows, "the comparisons that differ most")
    output.say_sentence(str(agreement))
