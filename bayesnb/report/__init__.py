"""One HTML page about a fitted model: `whole_page` has everything; or compose sections into a `Page` of your own.

`write_report` writes the file. Each ``..._section`` returns a `Section` from fitted objects and shows only what its
arguments hold.
"""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bayesnb.report.checks import agreement_section, documents_section, evaluation_section
from bayesnb.report.model import data_section, map_laplace_section, prior_section, ratios_section
from bayesnb.report.page import Facts, Figure, Page, Section, Table, Text, render, write_report
from bayesnb.report.whole import whole_page

__all__ = [
    "Facts",
    "Figure",
    "Page",
    "Section",
    "Table",
    "Text",
    "agreement_section",
    "data_section",
    "documents_section",
    "evaluation_section",
    "footer",
    "map_laplace_section",
    "prior_section",
    "ratios_section",
    "render",
    "whole_page",
    "write_report",
]


def footer(seed: int | None = None, **more: Any) -> str:
    """Versions and seed, for the foot of a page; `more` is written as ``name: value``.

    Parameters
    ----------
    seed : int, optional
    **more
        Written on a line each, with spaces for underscores in the name.

    Returns
    -------
    str
        Lines; what is not installed is not named.

    Examples
    --------
    >>> from bayesnb.report import footer
    >>> footer(seed=0, trained_by="the mail team").splitlines()[1:]
    ['Seed: 0', 'trained by: the mail team']
    """
    names = ("bayesnb", "numpy", "scipy", "pymc", "nutpie", "arviz", "matplotlib")
    versions = ", ".join(f"{name} {found}" for name in names if (found := _version(name)))
    lines = [f"Python {platform.python_version()}, {versions}"]
    lines += [] if seed is None else [f"Seed: {seed}"]
    return "\n".join([*lines, *(f"{name.replace('_', ' ')}: {value}" for name, value in more.items())])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
