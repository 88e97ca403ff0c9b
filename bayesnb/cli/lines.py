"""Lines of a stream, as they come, and the documents in them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bayesnb.cli import inputs, output
from bayesnb.scorer import Scorer

LONGEST = 2**26  # bytes of a line: a stream without line ends must not fill the memory
_CHUNK = 2**16  # what a pipe holds, and a batch at most

TOO_LONG, NOT_TEXT, NOT_JSON = "lines too long", "lines that are no text", "lines that are no JSON object"
NO_DOCUMENT, BLANK = "lines without a document", "blank lines"
BAD_ROW = "rows that are none of the table"
FORMATS = ("lines", "ndjson", "csv", "tsv")


class LineError(ValueError):
    """A line that cannot be scored: what kind of fault it has, and what exactly."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True)
class Line:
    """A document that was one line.

    Attributes
    ----------
    fields : dict
        Its input columns.
    counts : dict
        Its counts in the model's columns.
    tokens : int or None
        Its tokens, if it is text.
    """

    fields: dict[str, Any]
    counts: dict[int, float]
    tokens: int | None = None


def batches(read: Callable[[int], bytes], longest: int = LONGEST) -> Iterator[list[tuple[int, bytes | None]]]:
    r"""Whole lines with their numbers from 1, as many at a time as there are without waiting.

    Parameters
    ----------
    read : callable
        Gives some bytes, at most as many as asked for, waiting only where there are none; none at the end.
    longest : int
        Bytes of a line; a longer one comes as None, and its bytes are not kept.

    Yields
    ------
    list of (int, bytes or None)
        Lines without the \n that ends them. The last line need not end in one.
    """
    number, held = 0, 0
    pieces: list[bytes] = []
    while chunk := read(_CHUNK):
        first, *others = chunk.split(b"\n")
        pieces, held = [*pieces, first], held + len(first)
        batch: list[tuple[int, bytes | None]] = []
        for following in others:
            number += 1
            batch.append((number, b"".join(pieces) if held <= longest else None))
            pieces, held = [following], len(following)
        if held > longest:
            pieces = []
        if batch:
            yield batch
    if held:
        yield [(number + 1, b"".join(pieces) if held <= longest else None)]


class LineReader:
    """Reads each line as a document for one model.

    Parameters
    ----------
    scorer : Scorer
        What the documents are for.
    reading : Reading
        Options. Lines are a table where `format` says so; NDJSON where it or `text` says so, or where the first is a
        JSON object; else texts.

    Raises
    ------
    ValueError
        Options that do not go with lines.
    """

    def __init__(self, scorer: Scorer, reading: inputs.Reading) -> None:
        from bayesnb import validate

        model = scorer.model
        inputs.refuse_categories(scorer)
        if reading.format not in (None, *FORMATS):
            raise ValueError(f"standard input is read as --format lines, ndjson, csv or tsv, not {reading.format}")
        if "\n".encode(reading.encoding) != b"\n":
            raise ValueError(f"--encoding {reading.encoding}: standard input is read line by line; convert it to utf-8")
        if model.tokens is None and reading.format == "lines":
            raise ValueError("the model was fitted on counts: give it NDJSON objects with its columns, or --format csv")
        self.encoding, self.text = reading.encoding, reading.text
        self.format = reading.format or ("ndjson" if reading.text or model.tokens is None else None)
        self._columns = {str(token): j for j, token in enumerate(model.state.tokens.tolist())}
        self._tokenizer = None if model.tokens is None else scorer.tokenizer
        settings = model.settings
        most = 1.0 if settings.event == "bernoulli" and settings.binarize is None else validate.MOST
        self._range = (-most if settings.event == "gaussian" else 0.0, most)
        self._first = True
        self._table = None
        if self.format in ("csv", "tsv"):
            from bayesnb.cli.rows import Table

            self._table = Table(self, reading)

    @property
    def reads_texts(self) -> bool:
        """Whether the model is of texts, not of counts."""
        return self._tokenizer is not None

    @property
    def columns(self) -> list[str]:
        """Names of the model's columns."""
        return [*self._columns]

    def number(self, line: int) -> int:
        """The number of the document that begins in a line: of a table's row, else the line's own."""
        return line if self._table is None else self._table.numbers[line]

    def documents(self, batches: Iterable[list[tuple[int, bytes | None]]]) -> Iterable[list[tuple[int, bytes | None]]]:
        """Lines that are documents each; of a table its rows, without its header.

        Raises
        ------
        ValueError
            The header cannot be read, or has no column of the texts.
        """
        return batches if self._table is None else self._table.rows(batches)

    def read(self, raw: bytes | None) -> Line | None:
        """The document of a line; None for a blank one.

        Raises
        ------
        LineError
            It holds no document.
        """
        if raw is None:
            raise LineError(TOO_LONG, f"longer than {LONGEST:,} bytes")
        line = self.decoded(raw)
        if not line.strip():
            return None
        if self.format is None:
            self.format = "ndjson" if _is_object(line) else "lines"
            _note_header(line if self.format == "lines" else "")
        if self.format == "lines":
            return self._text_line({"text": line}, line)
        if self._table is not None:
            return self._table.line(line)
        return self.of_fields(_object(line))

    def of_fields(self, fields: dict[str, Any]) -> Line:
        """The document that is one of some columns, or all of them; LineError where there is none."""
        if self._tokenizer is None:
            return self._count_line(fields)
        if self.text is None:
            self.text = guessed(fields, "NDJSON")
        value = fields.get(self.text)
        if value is None or isinstance(value, (dict, list)):
            raise LineError(NO_DOCUMENT, f"no text in {self.text!r}")
        return self._text_line(fields, value if isinstance(value, str) else json.dumps(value))

    def decoded(self, raw: bytes) -> str:
        """The text of a line; LineError where it is none."""
        try:
            line = raw.decode(self.encoding)
        except UnicodeDecodeError as error:
            at = f"byte 0x{raw[error.start]:02x} at offset {error.start}"
            raise LineError(NOT_TEXT, f"{at} is not {self.encoding}") from None
        except UnicodeError as error:
            raise LineError(NOT_TEXT, f"cannot be read as {self.encoding}: {error}") from None
        if self._first:
            line, self._first = line.removeprefix("\ufeff"), False
        if "\0" in line:
            raise LineError(NOT_TEXT, "a NUL character")
        return line.removesuffix("\r")

    def _text_line(self, fields: dict[str, Any], text: str) -> Line:
        assert self._tokenizer is not None  # noqa: S101  (for the type checker)
        try:
            tokens = self._tokenizer.tokens(text)
        except ValueError as error:
            raise LineError(NOT_TEXT, str(error)) from None
        counts: Counter[Any] = Counter(map(self._columns.get, tokens))
        counts.pop(None, None)
        return Line(fields, dict(counts), len(tokens))

    def _count_line(self, fields: dict[str, Any]) -> Line:
        from bayesnb.corpus.nearby import suggestion

        missing = next((name for name in self._columns if fields.get(name) is None), None)
        if missing is not None:
            near = suggestion(missing, fields)
            raise LineError(NO_DOCUMENT, f"no number in {missing!r}, which the model expects{near}")
        counts = {column: self._count(name, fields[name]) for name, column in self._columns.items()}
        return Line(fields, {column: n for column, n in counts.items() if n})

    def _count(self, name: str, value: Any) -> float:
        try:
            n = float("nan") if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            n = float("nan")
        least, most = self._range
        if not least <= n <= most:
            raise LineError(
                NO_DOCUMENT, f"{value!r} in {name!r}, where a number from {least:g} to {most:g} is expected"
            )
        return n


def _is_object(line: str) -> bool:
    try:
        _object(line)
    except LineError as error:
        return error.kind == NOT_TEXT  # an object, though it cannot be used
    return True


def _object(line: str) -> dict[str, Any]:
    """The JSON object that a line is; NaN is a missing value."""
    try:
        value = json.loads(line, parse_constant=lambda name: None, object_pairs_hook=_each_once)
    except LineError:
        raise
    except json.JSONDecodeError as error:
        raise LineError(NOT_JSON, f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise LineError(NOT_JSON, f"JSON that cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise LineError(NOT_JSON, f"a JSON {type(value).__name__}, not an object {{...}}")
    if "\\ud" in line.lower():  # only an escape can make a lone surrogate
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise LineError(NOT_TEXT, "a lone surrogate") from None
    return value


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # Python would take the last
        twice = next(name for name, n in Counter(name for name, _ in pairs).items() if n > 1)
        raise LineError(NOT_JSON, f"the key {twice!r} is there twice: rename one")
    return found


def guessed(fields: Iterable[str], kind: str) -> str:
    """The text column of objects like this, or of a table, by the rules for tables; remarked on."""
    from bayesnb.corpus.headers import LABEL_NAMES, TEXT_NAMES

    names = [*fields]
    named = [name for name in names if name.strip().casefold() in TEXT_NAMES]
    others = [name for name in names if name.strip().casefold() not in LABEL_NAMES]
    found = named or (others if len(names) <= 2 else [])
    if len(found) != 1:
        listed = ", ".join(map(repr, names[:20]))
        raise ValueError(f"cannot tell which column is the text: pass --text one of {listed}, or --format lines")
    output.note(f"reading {kind}; guessed: text in column {found[0]!r}; if not so, give --text or --format lines")
    return found[0]


def _note_header(line: str) -> None:
    from bayesnb.cli.rows import looks_like_header

    format = looks_like_header(line)
    if format is not None:
        output.note(f"the first line, {line[:60]!r}, looks like the header of a table; if so, give --format {format}")
