"""The page of `bayesnb report` as its readers see it: in a real browser, offline, narrow and wide, light and dark."""

import json

import numpy as np
import pytest

from bayesnb.cli import main
from bayesnb.report import Facts, Page, Section, Table, Text, write_report
from tests.browser import Browser, chromium

HOSTILE = '<img src=x onerror="document.title=666">'
PHONE, DESK = 400, 1400


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page from a table whose labels and texts try to be HTML."""
    chromium()  # says at once where there is none
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(1)
    words = [HOSTILE, "$$", "你好", "</script>", "&amp;", *(f"word{i}" for i in range(30))]
    rows = []
    for i in range(60):
        favoured = rng.choice(words[:20] if i % 2 else words[15:], 25)
        rows.append({"label": f"<b>{'ham' if i % 2 else 'spam'}</b>", "text": " ".join(favoured)})
    table = folder / "mail.ndjson"
    table.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    page = folder / "report.html"
    # one token is one run of characters between spaces, except within the hostile one
    expression = r"<img [^>]*>|[^\s]+"
    status = main(["report", str(table), "--tokens", expression, "-o", str(page), "--json"])
    assert status == 0
    return page


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("profile"))
    yield browser
    browser.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, DESK])
def test_the_page_is_whole_without_a_network_at_any_width_and_in_both_lights(report, browser, width, dark):
    browser.open(report, width, dark=dark)
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith("data:")] == [report.as_uri()]
    pictures = browser.run(
        "Promise.all([...document.images].map(i => i.decode().then(() => i.naturalWidth > 0, () => false)))"
    )
    assert len(pictures) >= 5 and all(pictures)
    assert browser.run("document.documentElement.scrollWidth") <= width
    # text is readable: ink and paper stand at least 7 to 1 apart (WCAG 2, AAA)
    paper, ink = browser.run("[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]")
    assert (_luminance(paper) < _luminance(ink)) == dark
    high, low = sorted([_luminance(paper), _luminance(ink)], reverse=True)
    assert (high + 0.05) / (low + 0.05) > 7


def _luminance(colour):
    """Relative luminance of rgb(...), WCAG 2."""
    channels = np.array([int(part) for part in colour.strip("rgb()").split(",")]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_tokens_and_labels_that_look_like_html_are_text(report, browser):
    browser.open(report, DESK)
    assert browser.run("document.title") == "bayesnb: <b>ham</b> and <b>spam</b>"
    assert browser.run("document.querySelectorAll('td b, th b, h1 b, img[onerror]').length") == 0
    shown = browser.run("[...document.querySelectorAll('tbody th')].map(cell => cell.textContent)")
    assert HOSTILE in shown and "你好" in shown and "$$" in shown and "</script>" in shown


def test_every_table_sorts_by_every_column_and_keeps_its_rows(report, browser):
    browser.open(report, DESK)
    found = browser.run(
        """[...document.querySelectorAll("table")].map(table => {
          const rows = () => [...table.tBodies[0].rows].map(row => row.textContent);
          const before = rows().sort().join("|");
          return [...table.tHead.rows[0].cells].map((head, j) => {
            head.querySelector("button").click();
            const numeric = head.classList.contains("n");
            const keys = [...table.tBodies[0].rows].map(row => row.cells[j].dataset.v ?? row.cells[j].textContent);
            const numbers = keys.filter(key => key !== "").map(Number);
            const falls = numbers.every((v, i) => i === 0 || numbers[i - 1] >= v);
            const compare = new Intl.Collator(undefined, {numeric: true}).compare;
            const rises = keys.every((v, i) => i === 0 || compare(keys[i - 1], v) <= 0);
            return [rows().sort().join("|") === before, numeric ? falls : rises, head.getAttribute("aria-sort")];
          });
        })"""
    )
    assert len(found) >= 6
    for table in found:
        for kept, ordered, told in table:
            assert kept and ordered and told in ("ascending", "descending")


def test_numbers_sort_by_value_with_the_missing_last_and_nothing_is_wider_than_a_phone(browser, tmp_path):
    rows = [{"token": "a", "n": 2}, {"token": "b", "n": 10}, {"token": "c", "n": None}, {"token": "row 1", "n": 1}]
    rows.append({"token": "row 11", "n": 0.5})
    rows.append({"token": "row 2", "n": 0.25})
    wide = [{f"a wide column {i}": i for i in range(30)}]
    blocks = [Table(rows, "c"), Table(wide, "w"), Text("x" * 300), Facts({"y" * 60: "z" * 90})]
    page = tmp_path / "page.html"
    write_report(page, Page("T" * 40, "", [Section("s", blocks)]))
    browser.open(page, PHONE)
    column = "[...document.querySelector('table').tBodies[0].rows].map(row => row.cells[1].textContent)"
    click = "document.querySelectorAll('thead button')[1].click(); "
    assert browser.run(column) == ["2", "10", "–", "1", "0.5", "0.25"]
    assert browser.run(click + column) == ["10", "2", "1", "0.5", "0.25", "–"]  # by value, not by letters
    assert browser.run(click + column) == ["0.25", "0.5", "1", "2", "10", "–"]
    names = click.replace("[1]", "[0]") + column.replace("cells[1]", "cells[0]")
    assert browser.run(names) == ["a", "b", "c", "row 1", "row 2", "row 11"]
    assert browser.run("document.documentElement.scrollWidth") <= PHONE


def test_wide_tables_scroll_in_a_box_of_their_own_on_a_phone(report, browser):
    browser.open(report, PHONE)
    boxes = browser.run(
        "[...document.querySelectorAll('.scroll')].map(box => [box.clientWidth, box.scrollWidth, box.tabIndex])"
    )
    assert any(inner > outer for outer, inner, _ in boxes)  # else there was nothing to scroll
    assert all(outer <= PHONE and stop == 0 for outer, _, stop in boxes)
