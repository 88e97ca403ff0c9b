"""The examples in docstrings run as they stand, and every public name has one."""

import doctest
import importlib
import inspect
import pkgutil
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import bayesnb
from bayesnb import blocks, contrast, corpus, estimators, events, families, plots, report, storage, uncertainty
from bayesnb.events import base

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDS_DASK = ("bayesnb.distributed",)
CONSTANTS = ("__version__", "TOY_SPAM_TEST")  # which have no docstring of their own

INSIDE = ("resolve", "log_likelihood_left_out")  # of a posterior, for the estimators and `loo` that call them


def with_examples() -> list[str]:
    """Modules whose source holds an example; the others are not even imported."""
    found = [name for _, name, _ in pkgutil.walk_packages(bayesnb.__path__, "bayesnb.")]
    sources = {name: find_spec(name).origin for name in ["bayesnb", *found]}
    return [name for name, source in sources.items() if ">>>" in Path(source).read_text("utf-8")]


def doctests(module: ModuleType) -> dict[str, doctest.DocTest]:
    """Examples of a module, its functions, classes and methods, each with an empty namespace to begin with.

    Functions behind a decorator too, which the finder takes for another module's when it is given a whole module.
    """
    finder, tests = doctest.DocTestFinder(), doctest.DocTestFinder(recurse=False).find(module, globs={})
    for thing in vars(module).values():
        if getattr(thing, "__module__", None) == module.__name__ and (inspect.isclass(thing) or callable(thing)):
            tests += finder.find(thing, f"{module.__name__}.{thing.__qualname__}", module=False, globs={})
    return {test.name: test for test in tests if test.examples}


@pytest.mark.parametrize("name", with_examples())
def test_every_example_gives_the_output_that_is_printed_under_it(name, tmp_path, monkeypatch, capsys):
    """Each begins with nothing imported, in an empty folder, so that it can be copied as it is."""
    if name in NEEDS_DASK:
        pytest.importorskip("dask")
    monkeypatch.chdir(tmp_path)
    tests = doctests(importlib.import_module(name))
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    for test in tests.values():
        runner.run(test)
    assert tests, f"{name} holds '>>>', but no docstring with an example was found"
    assert not runner.summarize(verbose=False).failed, capsys.readouterr().out


def verbs(kind: type) -> list[Any]:
    """Public methods that the classes of this package give a class; scikit-learn's own are documented there."""
    members = [
        (owner, name, member)
        for owner in kind.__mro__
        if owner.__module__.startswith("bayesnb")
        for name, member in vars(owner).items()
        if not name.startswith("_") and not name.startswith("set_")
    ]
    return [
        getattr(owner, name)
        for owner, name, member in members
        if inspect.isfunction(member) or isinstance(member, (classmethod, staticmethod))
    ]


def of_facade(facade: ModuleType) -> list[Any]:
    return [getattr(facade, name) for name in facade.__all__ if name not in CONSTANTS]


def public() -> dict[str, list[Any]]:
    """What a user meets, by the place it is met at."""
    models = [events.find(name) for name in events.MODELS]
    kinds = [estimators.PosteriorClassifier, *(getattr(estimators, n) for n in estimators.__all__ if n.endswith("NB"))]
    laws = [bayesnb.Dirichlet, bayesnb.Beta, bayesnb.NormalInverseGamma]
    others = [families.Point, families.InverseGamma, families.StudentT, blocks.BlockDirichlet]
    return {
        "bayesnb": of_facade(bayesnb),
        **{facade.__name__: of_facade(facade) for facade in (contrast, corpus, plots, report, uncertainty)},
        "bayesnb.events": [events.find, *(getattr(m, n) for m in models for n in ("Statistics", "Prior", "Posterior"))],
        "bayesnb.storage": [storage.save, storage.load, storage.inspect],
        "what posteriors are made of": others,
        "methods of the estimators": [verb for kind in [*kinds, estimators.TextClassifier] for verb in verbs(kind)],
        "methods of the scorer": verbs(bayesnb.Scorer),
        "methods of the families": [verb for law in laws for verb in verbs(law)],
        "methods of the posteriors": [
            verb
            for kind in (*(model.Posterior for model in models), base.CountPosterior)
            for verb in verbs(kind)
            if not getattr(verb, "__isabstractmethod__", False) and verb.__name__ not in INSIDE
        ],
    }


def test_every_public_name_has_an_example_that_runs():
    """An example is one that the test above has found, in the module where the name is at home."""
    wanted = {(thing.__module__, thing.__qualname__): place for place, things in public().items() for thing in things}
    found = {home: doctests(importlib.import_module(home)) for home, _ in wanted}
    lacking = [
        f"{home}.{name} ({place})" for (home, name), place in wanted.items() if f"{home}.{name}" not in found[home]
    ]
    assert not lacking, f"{len(lacking)} have no example:\n" + "\n".join(lacking)


@pytest.mark.parametrize("name", ["fit", "score"])
def test_the_functions_for_a_cluster_have_examples(name):
    pytest.importorskip("dask")
    distributed = importlib.import_module("bayesnb.distributed")
    assert f"bayesnb.distributed.{name}" in doctests(distributed)
