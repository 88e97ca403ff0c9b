"""Event models: how a document arises, one file a model. NumPy and SciPy only."""

from __future__ import annotations

from types import ModuleType

from bayesnb.events import bernoulli, categorical, gaussian, multinomial
from bayesnb.given import shown

MODELS: dict[str, ModuleType] = {
    "multinomial": multinomial,
    "bernoulli": bernoulli,
    "gaussian": gaussian,
    "categorical": categorical,
}


def find(name: str) -> ModuleType:
    """The event model of that name.

    Parameters
    ----------
    name : {"multinomial", "bernoulli", "categorical", "gaussian"}

    Returns
    -------
    module
        With `Statistics`, `Prior` and `Posterior`.

    Raises
    ------
    ValueError
        There is none such.

    Examples
    --------
    >>> from bayesnb import events
    >>> events.find("bernoulli").__name__
    'bayesnb.events.bernoulli'
    >>> events.find("poisson")
    Traceback (most recent call last):
        ...
    ValueError: event model 'poisson' is not known; ...
    """
    if not isinstance(name, str) or name not in MODELS:
        raise ValueError(f"event model {shown(name)} is not known; event models are {', '.join(MODELS)}")
    return MODELS[name]
