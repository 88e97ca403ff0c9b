"""Options that several commands share, written once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from bayesnb.cli import fitting, inputs


def one_of(words: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell offers to complete an option's value."""

    def beginning(incomplete: str) -> list[str]:  # typer knows the argument by its name
        return [word for word in words if word.startswith(incomplete)]

    return beginning


Paths = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH | LABEL=PATH",
        help="Labelled documents: a folder with a folder per class, a CSV, TSV, Parquet or NDJSON table, a MATRIX "
        "file (counts, as in the CS229 course); or LABEL=PATH for documents of one class (the first '=' after which a "
        "path exists ends the label).",
        show_default=False,
    ),
]
Documents = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH", help="Documents: files, folders or tables; - is standard input.", show_default=False
    ),
]
ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by bayesnb fit.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Strict JSON on stdout.")]
Level = Annotated[float, typer.Option("--level", help="Credible level of the intervals.")]
Event = Annotated[
    str,
    typer.Option(
        "--event", help="multinomial (counts) or bernoulli (presence).", autocompletion=one_of(fitting.EVENTS)
    ),
]
Alpha = Annotated[float, typer.Option("--alpha", help="Laplace pseudo-count s.")]
Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="Concentration of phi, or laplace, uniform, jeffreys, background, empirical. Default: from --alpha.",
        autocompletion=one_of(fitting.PRIORS),
    ),
]
ClassPrior = Annotated[
    str | None,
    typer.Option("--class-prior", help="Concentration of theta, or known shares such as ham=.9,spam=.1. Default: 1."),
]
Estimate = Annotated[
    str, typer.Option("--estimate", help="map, mean, mle or predictive.", autocompletion=one_of(fitting.ESTIMATES))
]
Power = Annotated[
    str,
    typer.Option(
        "--power",
        help="Exponent of the likelihood: a number, or auto, fitted by exact leave-one-out.",
        autocompletion=one_of([fitting.AUTO]),
    ),
]
Binary = Annotated[bool, typer.Option("--binary", help="Multinomial over presence: a token counts once a document.")]
Tokens = Annotated[
    str,
    typer.Option(
        "--tokens",
        help="words: runs of two or more letters, digits or _, lower-cased; whitespace: cut at blanks, letters as they "
        "are; space: lower-cased and cut at each space, so that two make an empty token; or a regular expression for "
        "one token of the lower-cased text.",
        autocompletion=one_of(inputs.TOKENS),
    ),
]
Ngrams = Annotated[
    tuple[int, int],
    typer.Option("--ngrams", metavar="SHORTEST LONGEST", help="Runs of neighbouring tokens that are counted."),
]
MinDf = Annotated[
    str, typer.Option("--min-df", help="Keep tokens that so many documents hold, or such a share of them (0.01).")
]
MaxFeatures = Annotated[int | None, typer.Option("--max-features", help="Keep only so many tokens, the most frequent.")]
StopWords = Annotated[
    Path | None, typer.Option("--stop-words", metavar="FILE", help="Tokens to leave out, one a line.")
]
Text = Annotated[str | None, typer.Option("--text", help="Column of a table that holds the text.")]
Label = Annotated[str | None, typer.Option("--label", help="Column of a table that holds the label.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="folders, files, document, lines, csv, tsv, parquet, ndjson, cs229 or svmlight. Default: from the name.",
        autocompletion=one_of(inputs.FORMATS),
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Encoding of text files.")]
Quoting = Annotated[
    str,
    typer.Option(
        "--quoting",
        help="minimal, or none where quotes are plain characters.",
        autocompletion=one_of(inputs.QUOTING),
    ),
]
Header = Annotated[bool, typer.Option("--header/--no-header", help="Whether a CSV or TSV names its columns.")]
