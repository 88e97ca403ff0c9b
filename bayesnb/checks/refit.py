"""A model that is compiled once, and fitted to many data sets."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import replace
from typing import Any

import numpy as np

from bayesnb.sampling import modelfiles

THIN, TUNE = 5, 400
"""Draws of a chain for one that is kept, so that those are nearly independent, and draws for tuning."""


class Refit:
    """A model compiled once, and fitted again to other data of the same kind by setting its `pymc.Data`.

    Parameters
    ----------
    file : ModelFile
    form : str or None
    data, prior
        As its ``build`` takes them; whatever they are, later ones may have other values and lengths.
    names : list of str
        Variables wanted; those that the model has not are left out.
    draws : int
        Draws kept of each fit, one in five.

    Raises
    ------
    ValueError
        The model has none of the variables.
    """

    def __init__(
        self, file: modelfiles.ModelFile, form: str | None, data: Any, prior: Any, names: list[str], draws: int
    ) -> None:
        import nutpie  # type: ignore[import-untyped]

        self.file, self.form, self.draws, self.divergences = file, form, draws, 0
        model = file.build(data, prior, form)
        self.names = [name for name in names if name in model.named_vars]
        if not self.names:
            raise ValueError(f"model {file.name} has no variable named {' or '.join(names)}")
        with contextlib.redirect_stdout(sys.stderr):
            self.compiled = nutpie.compile_pymc_model(model, var_names=self.names)

    def __call__(self, data: Any, prior: Any, seed: int) -> dict[str, np.ndarray]:
        """Draws (draws, ...) of each variable; ValueError where they are not finite."""
        import nutpie

        model = self.file.build(data, prior, self.form)
        values = {variable.name: variable.get_value() for variable in model.data_vars}
        compiled = self._started(model, data, prior).with_data(**values)
        tree = nutpie.sample(
            compiled, draws=THIN * self.draws, tune=TUNE, chains=1, cores=1, seed=seed, progress_bar=False,
            save_warmup=False,
        )  # fmt: skip
        self.divergences += int(tree["sample_stats"]["diverging"].sum())
        found = {name: tree["posterior"][name].values[0, ::THIN] for name in self.names}
        if not all(np.isfinite(drawn).all() for drawn in found.values()):
            raise ValueError(f"model {self.file.name} gives draws of {', '.join(self.names)} that are not finite")
        return found

    def _started(self, model: Any, data: Any, prior: Any) -> Any:
        """The compiled model with the file's own start for these data, where it has one."""
        from pymc.initial_point import make_initial_point_fn

        start = self.file.start(data, prior, self.form)
        if start is None:
            return self.compiled
        point = make_initial_point_fn(model=model, overrides=start, jitter_rvs=set(), return_transformed=True)(0)
        flat = np.concatenate([np.ravel(point[model.rvs_to_values[variable].name]) for variable in model.free_RVs])
        return replace(self.compiled, initial_point_func=lambda _: flat)
