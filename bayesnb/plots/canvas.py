"""What every picture shares: one style, text drawn as it is written, fonts that hold it, axes of ratios and odds.

Figures are built without pyplot, so nothing is kept in global state and no display is needed.
"""

from __future__ import annotations

import contextlib
import functools
import io
import itertools
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import matplotlib.style
import matplotlib.ticker
import numpy as np
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text

from bayesnb.events.base import CountPosterior

FONT = "DejaVu Sans"  # comes with Matplotlib, so pictures look alike everywhere
INK, MUTED, GRID = "#1a1a1a", "#5a5a5a", "#e3e3e3"
# Okabe and Ito (2008), readable with any colour vision, in an order that starts with the strongest contrast
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
OTHERS = "#9a9a9a"  # of classes beyond those that colours tell apart
STYLE = {
    "font.family": FONT,
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "grid.color": GRID,
    "text.color": INK,
    "text.parse_math": False,
}
ARROW_PAD = 7  # points from axis to row labels, which an arrow of markersize 7 at the axis then does not reach
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def drawn[**P](plot: Callable[P, Figure]) -> Callable[P, Figure]:
    """Draw in our style whatever the user's is, which is restored after."""

    @functools.wraps(plot)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Figure:
        with matplotlib.style.context(["default", STYLE]):
            figure = plot(*args, **kwargs)
            lay_out(figure)  # ticks are made now, while the style holds
            figure.set_layout_engine("none")  # laying out anew at each saving would shift things a little each time
            return figure

    return wrapper


def lay_out(figure: Figure) -> None:
    """Choose fonts that hold the text and place everything, after which sizes can be measured."""
    families = [FONT, *_fallbacks("".join(text.get_text() for text in figure.findobj(Text)))]
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
    for axes in figure.axes:
        axes.tick_params(labelfontfamily=families)  # ticks may be made later
    figure.draw_without_rendering()


class Picture(Figure):
    """A figure that a notebook shows without being told to: Matplotlib's own are shown only once pyplot is loaded."""

    def _repr_png_(self) -> bytes:
        written = io.BytesIO()
        self.savefig(written, format="png", dpi=110)
        return written.getvalue()


def figure(width: float, height: float, title: str, subtitle: str) -> Figure:
    """An empty figure, size in inches, with a bold title and a line beneath it that says what the title leaves out."""
    lines = textwrap.wrap(subtitle, int(width * 15)) or [""]
    heads = textwrap.wrap(title, int(width * 10.5)) or [""]
    top = 0.12 + 0.21 * len(heads)
    header = top + 0.17 * len(lines) + 0.1
    fig = Picture(figsize=(width, height + header), layout="constrained", facecolor="white")
    total = height + header
    fig.get_layout_engine().set(rect=(0, 0, 1, height / total), h_pad=0.06, w_pad=0.06)  # type: ignore[union-attr, call-arg]
    fig.suptitle("\n".join(heads), x=0.01, y=1 - 0.1 / total, ha="left", va="top", fontsize=11.5, weight="bold")
    fig.text(0.01, 1 - (top + 0.03) / total, "\n".join(lines), ha="left", va="top", fontsize=9, color=MUTED)
    return fig


def posterior_of(model: Any) -> CountPosterior:
    """The posterior of a fitted estimator, or the posterior given itself.

    Raises
    ------
    ValueError
        It is neither.
    """
    posterior = getattr(model, "posterior_", model)
    if not isinstance(posterior, CountPosterior):
        raise ValueError(f"a fitted estimator or its posterior_ is needed, got {type(model).__name__}; call fit first")
    return posterior


def colour(index: int) -> str:
    """Colour at that position; they repeat after eight."""
    return COLOURS[index % len(COLOURS)]


def marker(index: int) -> str:
    """Marker at that position, so that colour is never the only difference; shifted when the colours begin again."""
    return MARKERS[(index + index // len(COLOURS)) % len(MARKERS)]


class Group(NamedTuple):
    """Classes that are drawn alike: one, or all those without a colour of their own."""

    label: str
    members: list[int]
    colour: str
    marker: str


def groups(names: Sequence[str], sizes: Any) -> list[Group]:
    """One group a class; of more than eight classes the seven largest, and last the others, all in grey."""
    own = list(range(len(names)))
    if len(names) > len(COLOURS):
        own = sorted(np.argsort(-np.asarray(sizes), kind="stable")[: len(COLOURS) - 1].tolist())
    found = [Group(names[k], [k], colour(i), marker(i)) for i, k in enumerate(own)]
    others = [k for k in range(len(names)) if k not in own]
    return [*found, Group(f"{len(others)} other classes", others, OTHERS, "o")] if others else found


def readable(names: Iterable[Any], limit: int = 28) -> list[str]:
    """Names as they are written; only what cannot be seen is escaped, and what is very long is cut.

    Control characters and lone surrogates become their Python escape, the empty string ``''``, and a character
    that no installed font holds ``U+`` and its code point.
    """
    return [_readable(str(name), limit) for name in names]


def _readable(name: str, limit: int) -> str:
    if not name.strip():
        return repr(name)
    name = name if len(name) <= limit else name[: limit - 1] + "…"
    missing = _undrawable("".join(c for c in name if c.isprintable()))
    return "".join(_shown(c, missing) for c in name)


def _shown(character: str, missing: frozenset[str]) -> str:
    if not character.isprintable():
        return ascii(character)[1:-1]
    return f"U+{ord(character):04X}" if character in missing else character


def _undrawable(text: str) -> frozenset[str]:
    left = {c for c in text if ord(c) not in _characters(font_manager.findfont(FONT))}
    for family in _fallbacks(text):
        left -= {c for c in left if ord(c) in _characters(_installed()[family])}
    return frozenset(left)


def _fallbacks(text: str) -> list[str]:
    """Installed families that hold what the first font does not, as few as will do."""
    left = {ord(c) for c in text if c != "\n"} - _characters(font_manager.findfont(FONT))
    return list(_cover(frozenset(left))) if left else []


@functools.lru_cache(maxsize=64)
def _cover(wanted: frozenset[int]) -> tuple[str, ...]:
    families: list[str] = []
    for family, path in _installed().items():
        held = wanted & _characters(path)
        if held:
            families.append(family)
            wanted -= held
        if not wanted:
            break
    return tuple(families)


@functools.cache
def _installed() -> dict[str, str]:
    """File of each upright family, sans-serif ones first; but not the font that holds a box for every character."""
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in set(font_manager.findSystemFonts()) - known:  # installed since Matplotlib wrote its list
        with contextlib.suppress(OSError, RuntimeError):
            font_manager.fontManager.addfont(path)
    upright = [f for f in font_manager.fontManager.ttflist if f.style == "normal" and f.weight in (400, "normal")]
    found = {f.name: f.fname for f in upright if not f.name.startswith("Last Resort")}
    return dict(sorted(found.items(), key=lambda item: ("Sans" not in item[0], item[0])))


@functools.lru_cache(maxsize=512)
def _characters(path: str) -> frozenset[int]:
    try:
        face = FT2Font(path)
    except (OSError, RuntimeError):  # a broken file, or a font of bitmaps
        return frozenset()
    return frozenset(face.get_charmap()) if face.scalable else frozenset()


def with_complement(p: np.ndarray, at: Any, opposite: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Probability of class `at` in each row of (n, K), and 1 less it, from the other classes' own small numbers.

    For an end of an interval give the `opposite` ends: with two classes they hold the complement; with more there is
    none, and the difference from 1 has to do.
    """
    rows = np.arange(len(p))
    value = p[rows, at]
    if p.shape[1] > 2 and opposite is not None:
        return value, 1 - value
    rest = (p if opposite is None else opposite).copy()
    rest[rows, at] = 0
    return value, rest.sum(axis=1)


def power_of_ten(exponent: int) -> str:
    """10 to that power as short text: 0.001 to 1,000 in full, else as 10⁻⁹."""
    if -3 <= exponent <= 3:
        return f"{10.0**exponent:,g}"
    return "10" + str(exponent).translate(_SUPERSCRIPT)


def short(value: float) -> str:
    """A small number in two digits: 0, or 1.1 × 10⁻¹⁶."""
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def decades(lower: float, upper: float, most: int = 8) -> range:
    """Whole exponents within [lower, upper], evenly spaced and through 0, at most about `most`."""
    step = max(1, int(np.ceil((upper - lower) / most)))
    return range(int(np.ceil(lower / step)) * step, int(np.floor(upper / step)) * step + 1, step)


def log_ticks(axis: Any, lower: float, upper: float, most: int = 8) -> None:
    """Label a log10 axis that spans 10**lower to 10**upper, by powers of ten, and by 2 and 5 where it is short."""
    exponents = decades(lower, upper, most)
    if upper - lower < 2.2 and most > 4:
        short = [(m, e) for e in range(int(np.floor(lower)), int(np.ceil(upper)) + 1) for m in (1, 2, 5)]
        values = [m * 10.0**e for m, e in short if lower <= np.log10(m) + e <= upper]
        if len(values) < 2:  # all within a narrow range: evenly spaced round numbers
            ends = 10.0 ** np.array([lower, upper])
            even = matplotlib.ticker.MaxNLocator(4).tick_values(*ends)
            values = [float(value) for value in even if ends[0] <= value <= ends[1]]
        axis.set_ticks(values, [tick_text(value) for value in values])
    else:
        axis.set_ticks([10.0**e for e in exponents], [power_of_ten(e) for e in exponents])
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def tick_text(value: float) -> str:
    """Label of a tick of a log axis: in full, or as a power of ten where that would be long."""
    exponent = np.log10(value)
    whole = abs(exponent - round(exponent)) < 1e-9 and abs(exponent) > 3
    return power_of_ten(round(exponent)) if whole else f"{value:,.6g}"


def few_ticks() -> Any:
    """Ticks of a small panel, written in full."""
    return matplotlib.ticker.MaxNLocator(nbins=3)


def odds_label(exponent: int) -> str:
    """Probability whose odds are about 10 to that power: 0.5, 10⁻⁹, 1−10⁻⁹."""
    if exponent == 0:
        return "0.5"
    small = power_of_ten(-abs(exponent))
    if exponent < 0:
        return small
    return f"{1 - 10.0**-exponent:g}" if exponent <= 3 else f"1−{small}"


def odds_position(exponent: int) -> float:
    """Log10 odds at which the probability is exactly that of `odds_label`."""
    if exponent == 0:
        return 0.0
    shift = float(np.log10(1 - 10.0 ** -abs(exponent)))
    return exponent - shift if exponent < 0 else exponent + shift


def fit(text: Text, words: str, names: Sequence[str], width: float) -> None:
    """Write words with names in their braces, cut as little as keeps a text that is laid out within `width` pixels.

    They are cut in the middle, since names of one corpus often begin alike.
    """
    for most in range(max(map(len, names)), 1, -1):
        text.set_text(words.format(*(_middle_cut(name, most) for name in names)))
        if text.get_window_extent().width <= width:
            return


def _middle_cut(name: str, most: int) -> str:
    return name if len(name) <= most else name[: most // 2] + "…" + name[len(name) - (most - 1) // 2 :]


def clear(axis: Any) -> bool:
    """Whether the tick labels of a horizontal axis that is laid out stand apart from each other."""
    boxes = [label.get_window_extent() for label in axis.get_ticklabels() if label.get_text()]
    gap = 0.8 * boxes[0].height if boxes else 0
    return all(one.x1 + gap <= other.x0 for one, other in itertools.pairwise(boxes))


def legend(axes: Axes, handles: Sequence[Any] | None = None, **options: Any) -> None:
    """A legend whose marks are large enough to tell apart."""
    drawn = axes.legend(handles=handles, **options) if handles is not None else axes.legend(**options)
    for handle in drawn.legend_handles:
        if handle is not None:
            handle.set_alpha(1)
