"""The command that samples with PyMC: sample."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayesnb.cli import options, output


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
    sampler: Annotated[str, typer.Option("--sampler", help="nutpie or pymc.")] = "nutpie",
    json: options.Json = False,
) -> int:
    """Sample the same posterior with PyMC, write the draws, and check them against the closed form.

    Exit status 1 if the two disagree.

    Example: bayesnb sample mail.model --token free --token meeting -o draws.nc
    """
    output.check_targets(out)
    from bayesnb import storage
    from bayesnb.agreement import check_agreement
    from bayesnb.sampling import sample as run

    stored = storage.load(model_file)
    posterior = stored.settings.posterior(stored.state)
    with output.working("sampling with PyMC"):
        tree = run(
            posterior, model=model, form=form, tokens=only or None, draws=draws, tune=tune, chains=chains, seed=seed,
            sampler=sampler,
        )  # fmt: skip
        agreement = check_agreement(tree, posterior)
    output.write_whole(out, lambda temporary: tree.to_netcdf(temporary))
    worst = agreement.table.sort_values("z", key=abs, ascending=False).head(5).reset_index()
    if json:
        output.emit_json(
            {
                "passed": agreement.passed, "max_z": agreement.max_z, "threshold": agreement.threshold,
                "comparisons": len(agreement.table), "divergences": agreement.n_divergences, "draws": str(out),
                "prior": posterior.prior.describe(), "seed": seed, "largest": worst.to_dict("records"),
            }
        )  # fmt: skip
    else:
        output.say(f"prior: {posterior.prior.describe()}")
        output.print_table(list(worst.columns), worst.to_numpy().tolist(), "the comparisons that differ most")
        output.say(str(agreement))
        output.say(f"wrote {out}")
    return 0 if agreement.passed else 1
