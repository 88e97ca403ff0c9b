"""One self-contained HTML page: what it is made of, and how that is written.

All text is escaped; pictures and style stand inside the page, which loads nothing and runs only its own script.
"""

from __future__ import annotations

import base64
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Protocol

from bayesnb import atomic
from bayesnb.report.page_style import CSS, SCRIPT
from bayesnb.report.page_text import escape, is_missing, is_number, number, sort_key

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure as Picture

_LARGEST_SVG = 400_000  # bytes; what is larger becomes a PNG
_PIXELS = 112  # an inch: text of 9 points is then as large as the page's small print
_STYLE_ATTRIBUTE = re.compile(r'\sstyle="([^"]*)"')


class Block(Protocol):
    """A piece of a section, which can write itself as HTML."""

    def html(self) -> str:
        """Self-contained, escaped HTML."""
        ...


@dataclass(frozen=True)
class Text:
    """Paragraphs, separated by blank lines.

    Parameters
    ----------
    text : str
        Is escaped.

    Examples
    --------
    >>> from bayesnb.report import Text
    >>> Text("Ham & spam, five mails.").html()
    '<p>Ham &amp; spam, five mails.</p>'
    """

    text: str

    def html(self) -> str:
        """One ``p`` a paragraph."""
        return _paragraphs(self.text)


@dataclass(frozen=True)
class Facts:
    """Summary numbers with their names, as a definition list.

    Parameters
    ----------
    facts : mapping from str to value

    Examples
    --------
    >>> from bayesnb.report import Facts
    >>> Facts({"Documents": 5, "Error rate, %": 12.3456789}).html()
    '<dl class="facts"><div><dt>Documents</dt><dd>5</dd></div><div><dt>Error rate, %</dt><dd>12.35</dd></div></dl>'
    """

    facts: Mapping[str, Any]

    def html(self) -> str:
        """A ``dl``; numbers are formatted as in tables."""
        items = (f"<div><dt>{escape(k)}</dt><dd>{escape(number(v))}</dd></div>" for k, v in self.facts.items())
        return f'<dl class="facts">{"".join(items)}</dl>'


@dataclass(frozen=True, eq=False)
class Table:
    """A table with sortable columns, numbers to the right.

    Parameters
    ----------
    data : DataFrame, or sequence of mappings from column to value
        An index with a name comes first, as heads of the rows; the first column does otherwise.
    caption : str
        What the table shows.
    digits : int
        Significant digits of numbers that are not whole.
    limit : int, optional
        Rows written; a note says how many were left out.

    Examples
    --------
    >>> from bayesnb.report import Table
    >>> html = Table([{"class": "ham", "documents": 2}, {"class": "spam", "documents": 3}], "What was read.").html()
    >>> html.count("<tr>"), "<caption>What was read.</caption>" in html
    (3, True)
    """

    data: pd.DataFrame | Sequence[Mapping[str, Any]]
    caption: str
    digits: int = 4
    limit: int | None = None

    def html(self) -> str:
        """A ``table`` in a box that scrolls by itself when it is wider than the page."""
        columns, total = self._columns()
        numeric = {name: all(map(is_number, values)) and len(values) > 0 for name, values in columns.items()}
        heads = "".join(f'<th scope="col"{_cell_class(numeric[name])}>{escape(name)}</th>' for name in columns)
        rows = "".join(self._row(row, list(numeric.values())) for row in zip(*columns.values(), strict=True))
        caption = escape(self.caption)
        note = "" if total <= len(next(iter(columns.values()))) else _note(self.limit, total)
        return (
            f'<div class="table"><div class="scroll" role="region" tabindex="0" aria-label="{caption}"><table>'
            f"<caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{note}</div>"
        )

    def _columns(self) -> tuple[dict[str, list[Any]], int]:
        import pandas as pd

        if isinstance(self.data, pd.DataFrame):
            frame = self.data.iloc[: self.limit]
            levels = frame.index.names if any(name is not None for name in frame.index.names) else []
            columns = {str(name): frame.index.get_level_values(i).tolist() for i, name in enumerate(levels)}
            columns |= {str(name): frame.iloc[:, i].tolist() for i, name in enumerate(frame.columns)}
        else:
            names = dict.fromkeys(name for row in self.data for name in row)
            columns = {str(name): [row.get(name) for row in self.data[: self.limit]] for name in names}
        if not columns:
            raise ValueError(f"table {self.caption!r} has no column; give it rows")
        return columns, len(self.data)

    def _row(self, values: Sequence[Any], numeric: list[bool]) -> str:
        cells = [self._cell(value, flag) for value, flag in zip(values, numeric, strict=True)]
        head = f'<th scope="row"{cells[0]}</th>'
        return f"<tr>{head}{''.join(f'<td{cell}</td>' for cell in cells[1:])}</tr>"

    def _cell(self, value: Any, numeric: bool) -> str:
        shown = escape(number(value, self.digits))
        if not numeric:
            return f"{_cell_class(False, long=len(shown) > 40)}>{shown}"
        return f'{_cell_class(True)} data-v="{"" if is_missing(value) else sort_key(value)}">{shown}'


@dataclass(frozen=True, eq=False)
class Figure:
    """A Matplotlib figure as an image inside the page: SVG with text as outlines, or PNG where that is very large.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    alt : str
        What the picture shows, for readers who do not see it.
    caption : str, optional
        Text beneath.

    Examples
    --------
    >>> import bayesnb
    >>> from bayesnb.report import Figure
    >>> curve = bayesnb.plot_learning_curve([50, 200], {"multinomial": [31, 17]}, n_test=800)
    >>> Figure(curve, alt="Errors fall from 31 to 17 of 800.").html().startswith("<figure>")
    True
    """

    figure: Picture
    alt: str
    caption: str = ""

    def html(self) -> str:
        """An ``img`` on a white card, so that it reads the same on a dark page."""
        if not self.alt.strip():
            raise ValueError("a figure needs an alt text: say in words what it shows")
        width, height = (round(_PIXELS * side) for side in self.figure.get_size_inches())
        caption = f"<figcaption>{escape(self.caption)}</figcaption>" if self.caption else ""
        image = f'<img alt="{escape(self.alt)}" width="{width}" height="{height}" src="{_data_uri(self.figure)}">'
        return f'<figure><div class="card">{image}</div>{caption}</figure>'


@dataclass(frozen=True)
class Section:
    """A heading with blocks beneath it.

    Parameters
    ----------
    title : str
    blocks : sequence of Text, Facts, Table and Figure

    Examples
    --------
    >>> from bayesnb.report import Facts, Section
    >>> Section("Data", [Facts({"Documents": 5})]).title
    'Data'
    """

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole report.

    Parameters
    ----------
    title, lead : str
        Heading, and the sentences beneath it that say what was found.
    sections : sequence of Section
    footer : str
        Versions and seeds; one paragraph a line.

    Examples
    --------
    >>> from bayesnb.report import Facts, Page, Section
    >>> page = Page("Mail", "Five toy mails.", [Section("Data", [Facts({"Documents": 5})])])
    >>> [section.title for section in page.sections]
    ['Data']
    """

    title: str
    lead: str
    sections: Sequence[Section]
    footer: str = ""


def render(page: Page, progress: Callable[[int, int], None] | None = None) -> str:
    """The page as one HTML document.

    The content security policy allows the page's own style and script by their hash, images inside the page, and
    nothing else.

    Parameters
    ----------
    page : Page
    progress : callable, optional
        Told after each section how many are drawn, and how many there are.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        A figure without alt text, or a table without columns.

    Examples
    --------
    >>> from bayesnb.report import Facts, Page, Section, render
    >>> html = render(Page("Ham & spam", "Five toy mails.", [Section("Data", [Facts({"Documents": 5})])]))
    >>> html.splitlines()[0], "<h1>Ham &amp; spam</h1>" in html
    ('<!DOCTYPE html>', True)
    """
    policy = f"default-src 'none'; img-src data:; style-src {_hash(CSS)}; script-src {_hash(SCRIPT)}"
    policy += "; base-uri 'none'; form-action 'none'"
    ids = [f"s{i}" for i in range(1, len(page.sections) + 1)]
    links = "".join(f'<li><a href="#{i}">{escape(s.title)}</a></li>' for i, s in zip(ids, page.sections, strict=True))
    nav = f'<nav aria-label="Contents"><ol>{links}</ol></nav>' if len(ids) > 1 else ""
    sections = ""
    for i, (name, section) in enumerate(zip(ids, page.sections, strict=True), 1):
        sections += f"{_section(section, name)}\n"
        if progress is not None:
            progress(i, len(ids))
    footer = "".join(f"<p>{escape(line)}</p>" for line in page.footer.splitlines() if line.strip())
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(page.title)}</title>\n'
        f"<style>{CSS}</style>\n</head>\n<body>\n<header><h1>{escape(page.title)}</h1>"
        f'<p class="lead">{escape(page.lead)}</p>{nav}</header>\n<main>\n{sections}</main>\n'
        f"<footer>{footer}</footer>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def write_report(path: str | PathLike[str], page: Page) -> None:
    """Write a page as one HTML file that opens offline; the file appears whole or not at all.

    Parameters
    ----------
    path : str or path-like
        Where; the folder must exist.
    page : Page

    Raises
    ------
    OSError
        The folder is missing or not writable.
    ValueError
        A figure without alt text, a table without columns, or `page` is no Page.

    Examples
    --------
    >>> from pathlib import Path
    >>> from bayesnb.report import Facts, Page, Section, write_report
    >>> page = Page("Mail", "Five toy mails.", [Section("Data", [Facts({"Documents": 5})])])
    >>> write_report("mail.html", page)
    >>> Path("mail.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    True
    """
    if not isinstance(page, Page):
        raise ValueError(f"write_report needs a Page, got {type(page).__name__}")
    atomic.write(path, render(page).encode("utf-8"))


def _cell_class(numeric: bool, long: bool = False) -> str:
    return ' class="n"' if numeric else ' class="long"' if long else ""


def _note(limit: int | None, total: int) -> str:
    return f'<p class="note">The first {limit:,} of {total:,} rows.</p>'


def _paragraphs(text: str) -> str:
    return "".join(f"<p>{escape(part.strip())}</p>" for part in re.split(r"\n\s*\n", text) if part.strip())


def _section(section: Section, name: str) -> str:
    blocks = "\n".join(block.html() for block in section.blocks)
    title = f'<h2 id="{name}-title">{escape(section.title)}</h2>'
    return f'<section id="{name}" aria-labelledby="{name}-title">{title}\n{blocks}</section>'


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _data_uri(figure: Picture) -> str:
    svg = _svg(figure)
    if len(svg) <= _LARGEST_SVG:
        return "data:image/svg+xml;base64," + base64.b64encode(svg).decode()
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=200, metadata={"Software": None})
    return "data:image/png;base64," + base64.b64encode(png.getvalue()).decode()


def _svg(figure: Picture) -> bytes:
    """The figure as SVG, the same bytes every time, without style rules that a policy might refuse."""
    import matplotlib

    file = io.BytesIO()
    unnamed = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "bayesnb"}):
        figure.savefig(file, format="svg", dpi=200, metadata=unnamed)
    text = file.getvalue().decode()
    text = text[text.index("<svg") :].replace("<svg ", '<svg stroke-linejoin="round" stroke-linecap="butt" ', 1)
    text = re.sub(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>", "", text, count=1)
    return _STYLE_ATTRIBUTE.sub(_as_attributes, text).encode()


def _as_attributes(style: re.Match[str]) -> str:
    pairs: Iterable[list[str]] = (part.split(":", 1) for part in style[1].split(";") if ":" in part)
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)
