"""The command that checks model files: verify."""

from __future__ import annotations

from typing import Annotated

import typer

from bayesnb.cli import options, output


def verify(
    model: Annotated[
        str | None, typer.Option("--model", help="A model by name, or your own FILE.py. Default: every model.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of the points compared.", min=0)] = 0,
    json: options.Json = False,
) -> int:
    """Compare the densities of the PyMC models with their closed forms, or with enumeration and quadrature.

    Exit status 1 if any disagrees. Nothing is sampled.
    """
    from bayesnb.checks.verification import verify as run

    with output.working("comparing densities"):
        found = run(model, seed)
    if json:
        output.emit_json({"passed": found.passed, "seed": seed, "rows": found.table.to_dict("records")})
    else:
        output.print_table([name.replace("_", " ") for name in found.table.columns], found.table.to_numpy().tolist())
        output.say_sentence(str(found))
    return 0 if found.passed else 1
