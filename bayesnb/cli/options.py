"""Options that several commands share, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH | LABEL=PATH",
        help="Labelled documents: a folder with a folder per class, a CSV, TSV, Parquet or NDJSON table, a MATRIX "
        "file; or LABEL=PATH for documents of one class (the first '=' after which a path exists ends the label).",
        show_default=False,
    ),
]
Documents = Annotated[
    list[str], typer.Argument(metavar="PATH", help="Documents: files, folders or tables.", show_default=False)
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by bayesnb fit.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Strict JSON on stdout.")]
Level = Annotated[float, typer.Option("--level", help="Credible level of the intervals.")]
Event = Annotated[str, typer.Option("--event", help="multinomial (counts) or bernoulli (presence).")]
Alpha = Annotated[float, typer.Option("--alpha", help="Laplace pseudo-count s.")]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Concentration of phi, or laplace, uniform, jeffreys, background, empirical. Default: from --alpha.",
    ),
]
ClassPrior = Annotated[
    str | None,
    typer.Option("--class-prior", help="Concentration of theta, or known shares such as ham=.9,spam=.1. Default: 1."),
]
Estimate = Annotated[str, typer.Option("--estimate", help="map, mean, mle or predictive.")]
Binary = Annotated[bool, typer.Option("--binary", help="Multinomial over presence: a token counts once a document.")]
Tokens = Annotated[str, typer.Option("--tokens", help="words, whitespace, space or a regular expression.")]
Text = Annotated[str | None, typer.Option("--text", help="Column of a table that holds the text.")]
Label = Annotated[str | None, typer.Option("--label", help="Column of a table that holds the label.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="folders, files, document, lines, csv, tsv, parquet, ndjson, cs229 or svmlight. Default: from the name.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of text files.")]
Quoting = Annotated[str, typer.Option("--quoting", help="minimal, or none where quotes are plain characters.")]
Header = Annotated[bool, typer.Option("--header/--no-header", help="Whether a CSV or TSV names its columns.")]
