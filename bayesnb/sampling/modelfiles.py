"""Finding and running model files: ours by name, a user's own by path, on the same footing.

A model file is one function, ``build(data, prior, form=None) -> pymc.Model``; `bayesnb.models` states the contract.
Nothing here imports PyMC: only a model file does.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import pkgutil
import sys
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from bayesnb.events.base import CountPosterior


@dataclass(frozen=True, eq=False)
class Documents:
    """Single documents, for the models whose likelihood is not one of totals.

    Parameters
    ----------
    X : scipy.sparse.csr_array, shape (N, V)
        Counts of tokens.
    y : ndarray of int, shape (N,)
        Class codes 0..K-1; -1 where the class is unknown.
    n_classes : int
        K.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import sparse
    >>> from bayesnb.sampling import Documents
    >>> X = sparse.csr_array(np.array([[2, 1, 0], [0, 1, 3]]))
    >>> Documents(X, y=np.array([0, -1]), n_classes=2).n_tokens  # the second mail's class is unknown
    3
    """

    X: Any
    y: np.ndarray
    n_classes: int

    @property
    def n_tokens(self) -> int:
        """V."""
        return self.X.shape[1]


@dataclass(frozen=True, eq=False)
class ModelFile:
    """A model file that was found and read.

    Parameters
    ----------
    name : str
        What it was asked for by: a name, or a path.
    module : module
        With a function ``build``.
    """

    name: str
    module: ModuleType

    @property
    def forms(self) -> tuple[str, ...]:
        """Forms the file declares, the default first; empty where it declares none."""
        return _constant(self, "FORMS")

    @property
    def large(self) -> str | None:
        """Form for more cells than can be compiled in, where the file has one."""
        return getattr(self.module, "LARGE", None)

    @property
    def auxiliary(self) -> frozenset[str]:
        """Variables not worth keeping."""
        return frozenset(_constant(self, "AUXILIARY"))

    @property
    def takes(self) -> str:
        """Event model of the posterior that one of our own files is sampled for."""
        return getattr(self.module, "TAKES", self.name)

    @property
    def needs_documents(self) -> bool:
        """Whether `build` takes `Documents` in place of totals."""
        needs = getattr(self.module, "NEEDS", "statistics")
        if needs not in ("statistics", "documents"):
            raise ValueError(f"{self.name}: NEEDS must be 'statistics' or 'documents', got {needs!r}")
        return needs == "documents"

    @property
    def ours(self) -> bool:
        """Whether it came with the library."""
        return self.module.__name__.startswith("bayesnb.models.")

    def build(self, data: Any, prior: Any, form: str | None = None) -> Any:
        """Call the file's ``build``.

        Raises
        ------
        ValueError
            Our own models' words on bad input; for a user's file whatever went wrong, with file and line.
        """
        model = self._call(self.module.build, data, prior, form)
        from pymc import Model  # that the file has loaded by now

        if not isinstance(model, Model):
            raise ValueError(f"{self.name}: build returned {type(model).__name__}; it must return the pymc.Model")
        return model

    def start(self, data: Any, prior: Any, form: str | None = None) -> dict[str, np.ndarray] | None:
        """Point where every chain starts, by the file's ``start``; None where it has none. Raises as `build` does."""
        start = getattr(self.module, "start", None)
        return None if start is None else self._mapping(self._call(start, data, prior, form), "start")

    def _mapping(self, found: Any, function: str) -> dict[str, Any]:
        if not isinstance(found, dict):
            raise ValueError(f"{self.name}: {function} returned {type(found).__name__}; it must return a dict by name")
        return found

    def complete(self, draws: dict[str, np.ndarray], data: Any, prior: Any, rng: Any) -> dict[str, Any]:
        """Draws of what the model has integrated out, None for what is to go, by the file's ``complete``."""
        complete = getattr(self.module, "complete", None)
        found = {} if complete is None else self._call(complete, draws, data, prior, rng)
        return self._mapping(found, "complete")

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if self.ours:
            return function(*arguments)
        try:
            with contextlib.redirect_stdout(sys.stderr):  # what the file prints must not mix with our results
                return function(*arguments)
        except (Exception, SystemExit) as error:
            raise ValueError(_located(error, self.name)) from error


def names() -> list[str]:
    """Names of the models that come with the library."""
    package = importlib.import_module("bayesnb.models")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))


def find_model(name_or_path: str | os.PathLike[str]) -> ModelFile:
    """Read a model file.

    Parameters
    ----------
    name_or_path : str or path
        One of `names`, or a path: anything with a folder in it or that ends in ``.py``.

    Returns
    -------
    ModelFile

    Raises
    ------
    ValueError
        No such name (they are listed) or file, an error while the file is read (with its line), or no function
        ``build`` in it.

    Examples
    --------
    >>> from bayesnb.sampling import find_model
    >>> file = find_model("multinomial")
    >>> file.forms, file.needs_documents
    (('gamma', 'dirichlet'), False)
    """
    if not isinstance(name_or_path, str | os.PathLike):
        raise ValueError(f"model must be a name or the path of a .py file, got {type(name_or_path).__name__}")
    text = os.fsdecode(name_or_path)
    if isinstance(name_or_path, os.PathLike) or text.endswith(".py") or os.sep in text:
        return ModelFile(text, _read(text))
    if text not in names():
        raise ValueError(
            f"model {text!r} is not known; models are {', '.join(names())}, or give the path of a .py file"
        )
    return ModelFile(text, importlib.import_module(f"bayesnb.models.{text}"))


def _read(path: str) -> ModuleType:
    if not Path(path).is_file():
        raise ValueError(f"model file {path} does not exist; give its path, or one of the names {', '.join(names())}")
    spec = importlib.util.spec_from_file_location(f"bayesnb_model_file_{Path(path).stem}", path)
    if spec is None or spec.loader is None:
        raise ValueError(f"model file {path} must be Python source with the ending .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and typing look their module up
    try:
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise ValueError(_located(error, path)) from error
    if not callable(getattr(module, "build", None)):
        raise ValueError(f"model file {path} has no function build(data, prior, form=None)")
    return module


def _located(error: BaseException, path: str) -> str:
    """File, line and cause in one line; the line is the last one of the user's own file on the way to the error."""
    line = error.lineno if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    place = path if line is None else f"{path}, line {line}"
    return f"{place}: {type(error).__name__}: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """The first line of an error's message."""
    cause = str(error).strip().splitlines()
    return cause[0] if cause else "no message"


def _constant(file: ModelFile, name: str) -> tuple[str, ...]:
    """Names that a file declares; one alone may be written as a string."""
    value = getattr(file.module, name, ())
    value = (value,) if isinstance(value, str) else value
    if not isinstance(value, tuple | list | set | frozenset) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{file.name}: {name} must be a tuple of names, got {value!r}")
    return tuple(value)


def document_codes(y: Any, posterior: CountPosterior) -> np.ndarray:
    """Class codes of labels; -1 (where no class is called so), None and NaN mean that the class is unknown.

    Raises
    ------
    ValueError
        y is no list of labels, or has a label that the posterior has no class for, named with its row.
    """
    code = {label: k for k, label in enumerate(posterior.classes.tolist())}
    codes = np.full(len(labels := _labels(y)), -1)
    for row, label in enumerate(labels):
        if not isinstance(label, Hashable):
            raise ValueError(f"y[{row}] is {label!r}: give one label a document")
        if label in code:
            codes[row] = code[label]
        elif not _unknown(label):
            raise ValueError(
                f"y[{row}] is {label!r}, which is not among the classes {posterior.classes.tolist()}; "
                "None means that the class is unknown"
            )
    return codes


def _labels(y: Any) -> list[Any]:
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise ValueError(f"y must be a list of labels, one a document, got {y!r}")
    return y.tolist() if hasattr(y, "tolist") else list(y)


def _unknown(label: Any) -> bool:
    # by type first: comparing NA gives NA, which is neither true nor false
    return label is None or type(label).__name__ in ("NAType", "NaTType") or label != label or label == -1
