"""A report is one page that opens offline, shows any text as text, and holds what its arguments hold."""

import base64
import hashlib
import math
import os
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Picture

from bayesnb import plots, report
from bayesnb.checks.agreement import Agreement
from bayesnb.comparison import compare_estimates
from bayesnb.contrast import token_ratios
from bayesnb.corpus import Corpus
from bayesnb.evaluation import evaluate
from bayesnb.model import Settings, State
from bayesnb.report.page import Facts, Figure, Page, Section, Table, Text, render, write_report
from bayesnb.report.page_text import Shown, escape, number
from bayesnb.storage import Model

EVIL = "<img src=x onerror=alert(1)>"
TOKENS = [EVIL, "$$", "'\"&", "自由", "\x07\x00", "meeting"]
COUNTS = np.array([[1, 0, 2, 30, 4, 5], [40, 12, 3, 0, 4, 5]])
VOID = {"meta", "img", "br", "link", "input"}


class Reader(HTMLParser):
    """Tags with their attributes, text by the tag that holds it, and whether tags are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text, self.open, self.crossed = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data):
        self.text.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]

    def texts(self, tag):
        return [data for name, data in self.text if name == tag]


def state():
    X = np.repeat(COUNTS, 2, axis=0)
    return State.learn(
        "multinomial", Settings().documents(X), np.array(["ham", "ham", "spam", "spam"]), np.array(TOKENS, object)
    )


@pytest.fixture(scope="module")
def page():
    """A page with every section that needs no sampler, over names that would break a careless page."""
    posterior = Settings().posterior(state())
    corpus = Corpus(np.array(["ham", "spam"]), [1, 2], texts=["", ""], source=EVIL, skipped={"empty": 3})
    named = [token for token in TOKENS if token.isprintable()]
    table = token_ratios(posterior, "spam", "ham", tokens=named)
    X = COUNTS
    p = np.exp(posterior.log_proba(X))
    ends = np.stack([p * 0.5, np.minimum(1, p * 1.5)], axis=-1)
    scores = evaluate(np.array(["ham", "spam"]), posterior.log_proba(X), posterior.classes)
    sections = [
        report.data_section(corpus, posterior),
        report.prior_section(posterior),
        report.map_laplace_section(
            compare_estimates(Model(Settings(), state())).iloc[:4], plots.plot_map_vs_laplace(posterior)
        ),
        report.ratios_section(table, plots.plot_ratios(table)),
        report.documents_section(
            p, ends, [EVIL, "two"], ["ham", "spam"], figure=plots.plot_class_probabilities(p, ends)
        ),
        report.evaluation_section(scores, plots.plot_calibration(["ham", "spam"], p)),
    ]
    return Page(f"Title {EVIL}", f"Lead {EVIL}", sections, report.footer(seed=7, model=EVIL))


@pytest.fixture(scope="module")
def html(page):
    return render(page)


# --- the page -------------------------------------------------------------------------------------------------


def test_text_from_data_is_shown_as_text_and_never_becomes_a_tag(html):
    reader = Reader(html)
    assert all(image["src"].startswith("data:image/") for image in reader.all("img"))
    assert not any(name.startswith("on") for _, attrs in reader.tags for name in attrs)
    for tag in ("title", "h1", "p", "dd", "td", "th"):
        assert any(EVIL in text for text in reader.texts(tag)), tag


def test_tags_are_closed_in_order(html):
    reader = Reader(html)
    assert reader.open == []
    assert reader.crossed == []


def test_the_page_loads_nothing(html):
    reader = Reader(html)
    assert not reader.all("link") + reader.all("iframe") + reader.all("object") + reader.all("base")
    addresses = [v for _, attrs in reader.tags for k, v in attrs.items() if k in ("src", "href", "srcset", "action")]
    assert addresses
    assert all(address.startswith(("data:image/", "#")) for address in addresses)
    assert not re.search(r"https?:|//\w|url\(|@import", re.sub(r"data:image/[^\"]*", "", html))


def test_the_policy_allows_only_the_page_s_own_style_and_script(html):
    policy = next(m["content"] for m in Reader(html).all("meta") if m.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    for tag in ("style", "script"):
        body = re.search(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)[1]
        assert rules[f"{tag}-src"] == f"'sha256-{digest_of(body)}'"
    assert not [attrs for _, attrs in Reader(html).tags if "style" in attrs]


def digest_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_page_can_be_read_without_seeing_it(html):
    reader = Reader(html)
    assert reader.all("html")[0]["lang"] == "en"
    assert len(reader.all("h1")) == 1
    assert len(reader.all("h2")) == len(reader.all("section")) == 6
    assert len(reader.all("caption")) == len(reader.all("table"))
    assert all(head["scope"] in ("col", "row") for head in reader.all("th"))
    assert all(image["alt"].strip() for image in reader.all("img"))
    ids = [attrs["id"] for _, attrs in reader.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in reader.all("a")} <= set(ids)


def test_the_same_page_gives_the_same_bytes(page, html):
    assert render(page) == html
    again = [Figure(plots.plot_ratios(Settings().posterior(state()), tokens=["$$"]), "alt").html() for _ in range(2)]
    assert again[0] == again[1]


def test_a_report_replaces_the_old_one_whole_or_leaves_it(tmp_path):
    path = tmp_path / "r.html"
    write_report(path, Page("one", "", []))
    broken = Page("two", "", [Section("s", [Figure(Picture(), alt=" ")])])
    with pytest.raises(ValueError, match="alt text"):
        write_report(path, broken)
    assert "<h1>one</h1>" in path.read_text("utf-8")
    assert os.listdir(tmp_path) == ["r.html"]
    with pytest.raises(ValueError, match="needs a Page, got str"):
        write_report(path, "text")


# --- blocks ---------------------------------------------------------------------------------------------------


def test_a_figure_is_an_svg_without_style_rules_or_foreign_addresses():
    figure = plots.plot_calibration(["a", "b"], [[0.9, 0.1], [0.2, 0.8]])
    source = Reader(Figure(figure, "alt").html()).all("img")[0]["src"]
    svg = base64.b64decode(source.removeprefix("data:image/svg+xml;base64,")).decode()
    root = ET.fromstring(svg)  # noqa: S314  (our own bytes)
    assert root.tag.endswith("svg")
    assert "style" not in svg.replace("xmlns", "")
    assert not re.search(r'href="(?!#|data:)', svg)
    assert root.get("stroke-linejoin") == "round"


def test_a_picture_of_very_many_marks_becomes_a_png():
    figure = Picture()
    figure.add_subplot().plot(*np.random.default_rng(0).normal(size=(2, 6_000)), "o")
    assert 'src="data:image/png;base64,' in Figure(figure, "alt").html()


def test_tables_put_numbers_right_and_carry_what_they_sort_by():
    frame = pd.DataFrame(
        {"n": [1200, 3], "share": [0.123456, np.inf], "name": ["x", None]}, index=pd.Index(["a", "b"], name="t")
    )
    reader = Reader(Table(frame, "c").html())
    cells = reader.all("td")
    assert [cell.get("data-v") for cell in cells] == ["1200.0", "0.123456", None, "3.0", "Infinity", None]
    assert [head.get("class") for head in reader.all("th")][:4] == [None, "n", "n", None]
    assert reader.texts("td") == ["1,200", "0.1235", "x", "3", "∞", "–"]


def test_a_table_takes_rows_in_any_text_even_what_utf8_cannot_hold():
    reader = Reader(Table([{"t": "\udc80", "n": 1}, {"t": "\x00", "n": 2}], "c").html())
    assert [text for text in reader.texts("th") if "\\" in text] == ["\\udc80", "\\x00"]


def test_a_long_table_says_how_much_it_left_out():
    html = Table([{"a": i} for i in range(30)], "c", limit=10).html()
    assert "The first 10 of 30 rows." in html
    assert len(Reader(html).all("tr")) == 11
    assert "The first" not in Table([{"a": 1}], "c", limit=10).html()


def test_a_table_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no column"):
        Table([], "nothing").html()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-3, "−3"), (1234567, "1,234,567"), (12.0, "12"), (0.123456, "0.1235"), (219777.53, "219,777.5"),
        (1.5e-9, "1.500 × 10⁻⁹"), (-2.5e12 - 0.5, "−2.500 × 10¹²"), (math.nan, "–"), (None, "–"), (pd.NA, "–"),
        (math.inf, "∞"), (-math.inf, "−∞"), (True, "yes"), (np.False_, "no"), (np.float64(0.5), "0.5"),
        ("text", "text"), (Shown("1 − x", 3), "1 − x"),
    ],
)  # fmt: skip
def test_numbers_are_written_to_sensible_digits(value, text):
    assert number(value) == text


def test_paragraphs_are_separated_by_blank_lines():
    assert Text("one <b>\n\ntwo").html() == "<p>one &lt;b&gt;</p><p>two</p>"
    assert Facts({"<a>": 1}).html() == '<dl class="facts"><div><dt>&lt;a&gt;</dt><dd>1</dd></div></dl>'
    assert escape('"\x07') == "&quot;\\x07"
    assert escape("a\u202eb\u200b") == "a\\u202eb\\u200b"  # what turns the text around, and what is not seen
    assert escape("\u0645\u200c\u06cc, \U0001f469\u200d\U0001f52c") == "\u0645\u200c\u06cc, \U0001f469\u200d\U0001f52c"


# --- sections -------------------------------------------------------------------------------------------------


def section(block):
    return Reader("".join(part.html() for part in block.blocks))


def test_the_prior_s_strength_stands_beside_the_data_s():
    reader = section(report.prior_section(Settings().posterior(state())))
    text = reader.texts("td")
    # Dirichlet(2) over 6 tokens weighs 12; ham holds 2 * 42 tokens
    assert text[:3] == ["12", "84", number(100 * 12 / 96)]
    assert "phi ~ Dirichlet(2), theta ~ Dirichlet(1)" in reader.texts("dd")


def test_the_data_section_counts_what_was_learnt_and_left_out():
    posterior = Settings().posterior(state())
    reader = section(report.data_section(Corpus(None, [1, 2, 3, 4], skipped={"no label": 5}), posterior))
    facts = dict(zip(reader.texts("dt"), reader.texts("dd"), strict=True))
    assert facts["Left out: no label"] == "5"
    assert facts["Tokens in the vocabulary"] == "6"
    assert reader.texts("td")[:3] == ["2", "84", "5"]


def test_ratios_are_listed_strongest_first_with_their_classes_named():
    posterior = Settings().posterior(state())
    table = token_ratios(posterior, "spam", "ham", tokens=["$$", "meeting", "自由"])
    reader = section(report.ratios_section(table))
    strength = np.maximum(table["log_lower"], -table["log_upper"])
    rows = [text for text in reader.texts("th") if text in table.index]
    assert rows == list(strength.sort_values(ascending=False).index)
    assert "n in spam" in reader.texts("th")
    assert "n in ham" in reader.texts("th")


def test_estimates_that_move_most_come_first():
    table = compare_estimates(Model(Settings(), state())).iloc[[0, 1, 3, 5]]
    reader = section(report.map_laplace_section(table, rows=1))
    moved = (table["mean"] - table["mle"]).abs()
    assert reader.texts("td")[0] == escape(moved.idxmax()[1])


def test_probabilities_near_1_keep_their_distance_from_it():
    p = np.array([[1e-12, 1.0], [0.25, 0.75]])
    ends = np.array([[[1e-15, 1e-9], [1 - 1e-9, 1.0]], [[0.1, 0.4], [0.6, 0.9]]])
    reader = section(report.documents_section(p, ends, ["a", "b"], ["ham", "spam"], level=0.9))
    cells = reader.texts("td")
    assert cells[:4] == ["spam", "1 − 1.0 × 10⁻¹²", "1 − 1.0 × 10⁻⁹", "1 − 1.0 × 10⁻¹⁵"]
    assert cells[4:] == ["spam", "0.75", "0.6", "0.9"]
    keys = [float(cell["data-v"]) for cell in reader.all("td") if "data-v" in cell]
    assert keys[:3] == pytest.approx(np.log([1e12, 1e9, 1e15]), rel=1e-9)
    assert "lower 90%" in reader.texts("th")


def test_disagreement_is_said_with_its_reasons_and_largest_difference_first():
    row = {"parameter": "phi", "class": "ham", "token": EVIL, "quantity": "phi", "sampled": 0.1, "exact": 0.2}
    table = pd.DataFrame([row | {"z": 0.5}, row | {"z": -9.25}])
    reader = section(report.agreement_section(Agreement(table, 5.5, 3, ("one mean is off",))))
    facts = dict(zip(reader.texts("dt"), reader.texts("dd"), strict=True))
    assert facts["Agree"] == "no"
    assert facts["Divergences"] == "3"
    assert "It failed: one mean is off." in reader.texts("p")
    assert [text for text in reader.texts("td") if text in ("0.5", "−9.25")] == ["−9.25", "0.5"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: report.ratios_section(pd.DataFrame({"a": [1]})), "token_ratios"),
        (lambda: report.map_laplace_section(pd.DataFrame({"a": [1]})), "compare_estimates"),
        (lambda: report.prior_section("model"), "fitted estimator"),
        (lambda: report.documents_section([[0.5, 0.5]], [[[0, 1]]], ["a"], ["x", "y"]), "do not fit"),
    ],
)
def test_sections_refuse_what_they_cannot_show(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_the_footer_names_versions_and_seed():
    lines = report.footer(seed=0, model_file="m").splitlines()
    assert re.match(r"Python 3\.\d+\.\d+, bayesnb \d", lines[0])
    assert lines[1:] == ["Seed: 0", "model file: m"]
