"""The command that samples with PyMC: sample."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bayesnb.cli import inputs, options, output

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
    seed: Annotated[int, typer.Option("--seed", help="Seed.")] = 0,
    sampler: Annotated[str, typer.Option("--sampler", help="nutpie, pymc, or exact draws.")] = "nutpie",
    data: Annotated[
        list[str] | None,
        typer.Option("--data", help="Documents, PATH or LABEL=PATH, for a --model that needs them beside the totals."),
    ] = None,
    json: options.Json = False,
) -> int:
    """Sample the same posterior with PyMC, write the draws, and check them against the closed form.

    Exit status 1 if the two disagree. A model beyond conjugacy has no closed form: its draws are written unchecked.

    Example: bayesnb sample mail.model --token free --token meeting -o draws.nc
    """
    output.check_targets(out)
    from bayesnb import storage
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample as run

    stored = storage.load(model_file)
    posterior = stored.settings.posterior(stored.state)
    _note_size(posterior, only)
    X, y = _documents(stored, data)
    tree = run(
        posterior, model=model, form=form, tokens=only or None, X=X, y=y, draws=draws, tune=tune, chains=chains,
        seed=seed, sampler=sampler, progress=sys.stderr.isatty(),
    )  # fmt: skip
    checked = tree.attrs["model"] == posterior.event
    agreement = check_agreement(tree, posterior) if checked else None
    output.write_whole(out, lambda temporary: tree.to_netcdf(temporary))
    summary = {"draws": str(out), "prior": posterior.prior.describe(), "seed": seed, "model": tree.attrs["model"]}
    if json:
        output.emit_json(summary | (_checked(agreement) if agreement else {"passed": None}))
    else:
        output.say(f"prior: {summary['prior']}")
        _say_checked(agreement)
        output.say(f"wrote {out}")
    return 0 if agreement is None or agreement.passed else 1


def _documents(stored: Any, data: list[str] | None) -> tuple[Any, Any]:
    """Documents in the model's columns with their labels, for models that need more than totals."""
    if not data:
        return None, None
    corpus = inputs.Reading().labelled(data)
    X, _, _ = inputs.counts_for(stored, corpus)
    return X, inputs.true_labels(corpus, stored.state.classes)


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


def _say_checked(agreement: Any) -> None:
    if agreement is None:
        output.say("this model has no closed form to be checked against; look at r_hat and the effective sample size")
        return
    columns = ("parameter", "class", "token", "quantity", "sampled", "exact", "z")
    rows = [[row[name] for name in columns] for row in _worst(agreement).to_dict("records")]
    output.print_table(columns, rows, "the comparisons that differ most")
    output.say(str(agreement))
