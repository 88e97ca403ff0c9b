"""What each layer may load, and what the wheel is told to hold."""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = [
    "pymc",
    "arviz",
    "arviz_base",
    "nutpie",
    "sklearn",
    "polars",
    "pandas",
    "matplotlib",
    "numba",
    "scipy.stats",
    "dask",
]


def loaded_after(statement: str, names: list[str]) -> list[str]:
    """Those of the names that a fresh interpreter has loaded after the statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_the_closed_forms_load_numpy_and_scipy_only_also_when_used():
    """Nor do they load a layer above them."""
    above = [f"bayesnb.{name}" for name in ("estimators", "sampling", "scorer", "plots", "corpus", "cli", "models")]
    statement = (
        "import numpy as np, bayesnb.events, bayesnb.events.bernoulli, bayesnb.events.priors\n"
        "from bayesnb.events import multinomial as m; from bayesnb.events.theta import ClassPrior\n"
        "p = m.Posterior(m.Prior(ClassPrior(concentration=np.ones(2)), np.ones((2, 2))),"
        "m.Statistics.from_documents([[1, 0], [0, 2]], np.array([0, 1]), 2))\n"
        "p.log_proba([[1, 1]], 'mean'); p.log_evidence(); p.phi.interval(); p.draw(2, 1)"
    )
    assert loaded_after(statement, [*HEAVY, "xarray", "typer", "rich", "safetensors", *above]) == []


def test_import_bayesnb_is_light():
    assert loaded_after("import bayesnb", HEAVY) == []


def test_a_loaded_module_would_be_seen():
    """The check itself works."""
    assert loaded_after("import scipy.special", ["scipy.special", "scipy.stats"]) == ["scipy.special"]


def test_the_wheel_holds_every_package_of_the_tree():
    """An editable install hides a package that `packages` forgets."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        declared = tomllib.load(file)["tool"]["setuptools"]["packages"]
    library = [path.parent.relative_to(ROOT) for path in (ROOT / "bayesnb").rglob("__init__.py")]
    models = [path.parent.relative_to(ROOT) for path in (ROOT / "models").rglob("__init__.py")]
    tree = [".".join(path.parts) for path in library] + [".".join(("bayesnb", *path.parts)) for path in models]
    assert sorted(declared) == sorted(tree)
    modules = {path.parent for path in (ROOT / "bayesnb").rglob("*.py")}
    assert modules == {ROOT / path for path in library}, "a folder of modules without __init__.py"
