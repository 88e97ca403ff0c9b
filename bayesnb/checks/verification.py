"""Is a model file right? Its density, evaluated, against the closed form or against enumeration; no sampling."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bayesnb import events
from bayesnb.checks import enumeration, keystone
from bayesnb.sampling import modelfiles
from bayesnb.sampling.limits import at_least

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Verification", "event_of", "verify"]

TOLERANCE = 1e-9
"""Densities are sums of some hundred terms of up to a thousand nats, rounded at 1e-13 each."""
POINTS = 6
_COLUMNS = ("model", "form", "compared", "largest_difference", "tolerance", "passed")


@dataclass(frozen=True, eq=False)
class Verification:
    """Result of `verify`.

    Parameters
    ----------
    table : DataFrame
        A row a comparison: model, form, compared (in words), largest_difference (nats), tolerance and passed.
    """

    table: pd.DataFrame = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether every comparison passed."""
        return bool(self.table["passed"].all())

    def __str__(self) -> str:
        bad = self.table[~self.table["passed"]]
        if not len(bad):
            return f"All {len(self.table)} comparisons agree."
        row = bad.iloc[0]
        return (
            f"{len(bad)} of {len(self.table)} comparisons disagree, the first {row['model']} ({row['form']}), "
            f"{row['compared']}: {row['largest_difference']:.3g} nats."
        )


def verify(model: str | os.PathLike[str] | None = None, seed: int = 0) -> Verification:
    """Compare what model files say with what they should say, at random points of a random small case.

    Parameters
    ----------
    model : str or path, optional
        Name of a model, or the path of a user's own file, whose parameters must be those of a conjugate event model
        (theta; phi, or mu and sigma2). By default every model of the library, in all of its forms.
    seed : int
        Of case and points.

    Returns
    -------
    Verification
        For a conjugate model two rows a form. "shape": the joint density is the closed-form posterior density times
        one number; the largest difference between points. "number": that number is the evidence times the coefficients
        of the likelihood as written (of our own files only: yours may write another coefficient). For the others one
        row: the joint density against enumeration of all class assignments, or against quadrature.

    Raises
    ------
    ValueError
        No such model, a faulty file, or one that has no closed form to be compared with.

    Examples
    --------
    >>> import bayesnb
    >>> found = bayesnb.verify("bernoulli")
    >>> found.passed, found.table.compared.tolist()
    (True, ['shape of the posterior, closed form', 'number, log evidence and coefficients'])
    """
    import pandas as pd

    at_least(0, seed, "seed")
    rows: list[tuple[Any, ...]] = []
    for name in modelfiles.names() if model is None else [model]:
        file = modelfiles.find_model(name)
        compare = _by_enumeration if file.ours and file.name in enumeration.CASES else _by_closed_form
        for form in file.forms or (None,):
            rows += [(file.name, form or "", *row) for row in compare(file, form, np.random.default_rng(seed))]
    table = pd.DataFrame([(*row, TOLERANCE, bool(row[-1] <= TOLERANCE)) for row in rows], columns=list(_COLUMNS))
    return Verification(table)


def event_of(file: modelfiles.ModelFile, form: str | None = None) -> str:
    """Event model of a conjugate model file: its name, its ``EVENT``, or the first that it can be built for.

    Raises
    ------
    ValueError
        It takes documents, or can be built for none.
    """
    declared = getattr(file.module, "EVENT", file.name if file.ours else None)
    if file.needs_documents or (declared is not None and declared not in events.MODELS):
        raise ValueError(f"model {file.name} has no closed form; those with one are {', '.join(events.MODELS)}")
    if declared is not None:
        return declared
    failed = []
    for event in events.MODELS:
        case = keystone.random_case(event, np.random.default_rng(0))
        try:
            file.build(case.statistics, case.prior, form)
        except ValueError as error:
            failed.append(error)
        else:
            return event
    raise failed[0]


def _by_closed_form(file: modelfiles.ModelFile, form: str | None, rng: np.random.Generator) -> Iterator[tuple]:
    case = keystone.random_case(event_of(file, form), rng)
    names, _, density = _evaluate(file.build(case.statistics, case.prior, form))
    points = [keystone.random_point(case, names, rng) for _ in range(POINTS)]
    constants = np.array([density(point) - keystone.log_posterior(case, point) for point in points])
    yield "shape of the posterior, closed form", _size(np.ptp(constants))
    if file.ours:
        number = case.log_evidence() + keystone.coefficients(case, form or "")
        yield "number, log evidence and coefficients", _size(np.abs(constants - number).max())


def _by_enumeration(file: modelfiles.ModelFile, form: str | None, rng: np.random.Generator) -> Iterator[tuple]:
    case, name = enumeration.CASES[file.name], file.name
    data, prior = case.data(rng)
    names, model, density = _evaluate(file.build(data, prior, form))
    weight = model["scale_weight"].get_value() if "g" in names else None
    points = [enumeration.random_point(name, data, names, step, rng) for step in np.linspace(0, 1, POINTS)]
    off = [density(point) - enumeration.log_density(name, data, prior, point, weight) for point in points]
    yield case.compared, _size(np.abs(off).max())


def _size(difference: float) -> float:
    """The difference, where NaN counts as infinite, so that it cannot pass."""
    return float("inf") if np.isnan(difference) else float(difference)


def _evaluate(model: Any) -> tuple[list[str], Any, Any]:
    """Names of the free parameters, the model, and its joint log density as a function of their own values."""
    from pymc.model.transform.conditioning import remove_value_transforms

    names = [variable.name for variable in model.free_RVs]
    plain = remove_value_transforms(model)
    logp = plain.compile_logp(mode="FAST_COMPILE")  # compiling for speed would take longer than all evaluations
    return names, plain, lambda point: float(logp(point))
