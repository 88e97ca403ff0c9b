"""The examples in docstrings run as they stand, and every public name has one, with its arguments and its result."""

import doctest
import importlib
import inspect
import pkgutil
import re
from importlib.util import find_spec
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import pytest

import bayesnb
from bayesnb import (
    blocks,
    contrast,
    corpus,
    estimators,
    events,
    families,
    plots,
    report,
    sampling,
    storage,
    uncertainty,
)
from bayesnb.events import base

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NEEDS_DASK = ("bayesnb.distributed",)
CONSTANTS = ("__version__", "TOY_SPAM_TEST")  # which have no docstring of their own

INSIDE = ("resolve", "log_likelihood_left_out")  # of a posterior, for the estimators and `loo` that call them
NOTHING = (None, "None", NoReturn, "NoReturn")  # annotations of what returns no value


def refuse(name: str) -> NoReturn:
    raise ImportError(f"package {name} cannot be imported, and its modules would go untested")


def with_examples() -> list[str]:
    """Modules whose source holds an example; the others are not even imported."""
    found = [name for _, name, _ in pkgutil.walk_packages(bayesnb.__path__, "bayesnb.", onerror=refuse)]
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
    laws += [families.Point, families.InverseGamma, families.StudentT, blocks.BlockDirichlet]
    return {
        "bayesnb": of_facade(bayesnb),
        **{facade.__name__: of_facade(facade) for facade in (contrast, corpus, plots, report, sampling, uncertainty)},
        "bayesnb.events": [events.find, *(getattr(m, n) for m in models for n in ("Statistics", "Prior", "Posterior"))],
        "bayesnb.storage": [storage.save, storage.load, storage.inspect],
        "the families": laws,
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


def named(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def everything_public() -> list[Any]:
    return list({named(thing): thing for things in public().values() for thing in things}.values())


def test_every_public_name_has_an_example_that_runs():
    """An example is one that the test above has found, in the module where the name is at home."""
    found = {}
    for home in {thing.__module__ for thing in everything_public()}:
        found |= doctests(importlib.import_module(home))
    lacking = sorted(
        f"{place}: {named(thing)}"
        for place, things in public().items()
        for thing in things
        if named(thing) not in found
    )
    assert not lacking, "these have no example:\n" + "\n".join(dict.fromkeys(lacking))


def sections(thing: Any) -> dict[str, str]:
    """Text of each numpydoc section of a docstring, by its title."""
    _, *parts = re.split(r"^(\w+)\n-{3,}$", inspect.cleandoc(thing.__doc__ or ""), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def describing(thing: Any) -> list[Any]:
    """What describes a name: itself, and the bases of a class, or the method that another of its name overrides."""
    if inspect.isclass(thing):
        return [kind for kind in thing.__mro__ if kind.__module__.startswith("bayesnb")]
    owner, _, name = thing.__qualname__.rpartition(".")
    if not owner:
        return [thing]
    kinds = attrgetter(owner)(importlib.import_module(thing.__module__)).__mro__
    return [getattr(k, name) for k in kinds if k.__module__.startswith("bayesnb") and name in vars(k)]


def arguments_described(thing: Any) -> set[str]:
    """Names before the colon; the fields of a dataclass may be told as its attributes."""
    text = "\n".join(
        sections(one).get(title, "") for one in describing(thing) for title in ("Parameters", "Attributes")
    )
    heads = re.findall(r"^([*\w][*\w, ]*?)(?: :.*)?$", text, flags=re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def undescribed(thing: Any) -> list[str]:
    """What a name's documentation leaves out of its arguments and its result."""
    signature = inspect.signature(thing)
    arguments = [name for name in signature.parameters if name.strip("_") and name != "self"]
    lacking = [f"argument {name}" for name in arguments if name not in arguments_described(thing)]
    gives = not inspect.isclass(thing) and signature.return_annotation not in NOTHING
    told = any({"Returns", "Yields"} & sections(one).keys() for one in describing(thing))
    return lacking + (["what it returns"] if arguments and gives and not told else [])


def test_every_public_name_describes_its_arguments_and_what_it_returns():
    lacking = {named(thing): undescribed(thing) for thing in everything_public()}
    said = [f"{name} does not describe {', '.join(what)}" for name, what in sorted(lacking.items()) if what]
    assert not said, "\n".join(said)


@pytest.mark.parametrize("name", ["fit", "score"])
def test_the_functions_for_a_cluster_have_examples_and_describe_their_arguments(name):
    pytest.importorskip("dask")
    distributed = importlib.import_module("bayesnb.distributed")
    assert f"bayesnb.distributed.{name}" in doctests(distributed)
    assert not undescribed(getattr(distributed, name))
