"""A file, or standard output, that grows as rows come: the filter's."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bayesnb.cli import output


class Rows:
    """Rows on their way out, one after the other, as CSV or as a JSON object each.

    Parameters
    ----------
    path : Path or None
        A file, which grows as rows come; None: stdout.
    ndjson : bool
        JSON objects, which keep every column; CSV has those of the first row.
    """

    def __init__(self, path: Path | None, *, ndjson: bool) -> None:
        self.ndjson, self._name = ndjson, output.STDOUT if path is None else path
        self._columns: list[str] | None = None
        self._dropped: set[str] = set()
        with output.writing(self._name):
            self._file = sys.stdout if path is None else path.open("w", encoding="utf-8", newline="")
        self._csv = csv.writer(self._file, lineterminator="\n")

    def put(self, given: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Write a row: input columns, then what was found."""
        with output.writing(self._name):
            if self.ndjson:
                self._file.write(json.dumps(output.plain({**given, **answer}), allow_nan=False) + "\n")
                return
            if self._columns is None:
                self._columns = list(given)
                self._csv.writerow(output.plain([*given, *answer]))
            self._note_dropped(given)
            self._csv.writerow([output.cell(value) for value in [*map(given.get, self._columns), *answer.values()]])

    def flush(self) -> None:
        """Let the rows go now."""
        with output.writing(self._name):
            self._file.flush()

    def close(self) -> None:
        """End the file; stdout stays open."""
        if self._file is not sys.stdout:
            with output.writing(self._name):
                self._file.close()

    def _note_dropped(self, given: Mapping[str, Any]) -> None:
        new = [name for name in given if name not in self._columns and name not in self._dropped]  # type: ignore[operator]
        for name in new:
            self._dropped.add(name)
            output.note(f"column {name!r} is not in the first row, so that CSV has no place for it; use --json")
