"""Seconds, divergences, effective sample size and agreement of the PyMC path.

Run from the root: ``uv run python -m tests.benchmarks.sampling_speed [MATRIX.TRAIN] [--rows cs229 forms ...]``.
The file defaults to the CS229 spam matrix below the folder that BAYESNB_SHARED names. Each group of rows runs in a
process of its own, with its own peak memory; the target on two cores is 40 s for the first.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import xarray as xr

ROWS = ("cs229", "forms", "large", "tokens", "slow")
DEFAULT = ROWS[:-1]  # the last takes ten minutes


def machine():
    """Processor, cores and Python, in one line."""
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        names = [
            line.split(":")[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if "model name" in line
        ]
        model = names[0] if names else model
    load = f"load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{model}, {os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}, {load}"


def zipf(v, seed=0):
    """Two classes of 500 documents and 150,000 heavy-tailed token counts each; Dirichlet(2) on phi."""
    from bayesnb.events.multinomial import Posterior, Prior, Statistics
    from bayesnb.events.theta import ClassPrior

    p = 1 / np.arange(1, v + 1)
    counts = np.random.default_rng(seed).multinomial(150_000, p / p.sum(), size=2)
    return Posterior(Prior(ClassPrior(concentration=np.ones(2)), np.full((2, v), 2.0)), Statistics([500, 500], counts))


def cs229(path):
    """All 1,448 tokens of the CS229 spam corpus under Dirichlet(2)."""
    import bayesnb

    corpus = bayesnb.read_corpus(path, format="cs229")
    return bayesnb.MultinomialNB().fit(corpus.X, corpus.y).posterior_


def run(name, posterior, fit=None, **options):
    """One fit, from the call to the tree, and its agreement."""
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample

    start, used = time.perf_counter(), time.process_time()
    tree = (fit or sample)(posterior, chains=2, **options)
    seconds, cpu, gb = time.perf_counter() - start, time.process_time() - used, peak()
    check = check_agreement(tree, posterior)
    least = float(check.table.loc[check.table["quantity"] == "phi", "ess"].min())
    sampling = tree["posterior"].attrs["sampling_time"]  # without compiling
    return {
        "row": name, "seconds": round(seconds, 1), "cpu": round(cpu, 1), "divergences": check.n_divergences,
        "min_ess": round(least), "ess_per_s": round(least / seconds, 1), "sampling_s": round(sampling, 1),
        "ess_per_sampling_s": round(least / sampling, 1),
        "max_z": round(check.max_z, 2), "threshold": round(check.threshold, 2), "passed": check.passed,
        "peak_gb": gb, "with_check_gb": peak(),
    }  # fmt: skip


def obvious(posterior, chains):
    """The Dirichlet form as anyone would run it: pm.sample with its own defaults for everything else."""
    import pymc as pm
    from bayesnb.models import multinomial

    model = multinomial.build(posterior.statistics, posterior.prior, "dirichlet")
    tree = pm.sample(
        model=model, nuts_sampler="nutpie", chains=chains, cores=chains, random_seed=0, progressbar=False, quiet=True
    )
    names = {"class": [str(name) for name in posterior.classes], "token": [str(name) for name in posterior.tokens]}
    groups = {f"/{group}": tree[group].to_dataset() for group in ("posterior", "sample_stats")}
    return xr.DataTree.from_dict(
        {g: data.assign_coords({d: v for d, v in names.items() if d in data.dims}) for g, data in groups.items()}
    )


def three_ways(what, posterior):
    """Gamma form, Dirichlet form and the obvious way; libraries are loaded before the first."""
    import nutpie  # noqa: F401
    import pymc  # noqa: F401

    yield run(f"{what} gamma 2x(1000+1000)", posterior)
    yield run(f"{what} dirichlet 2x(1000+1000)", posterior, form="dirichlet")
    yield run(f"{what} pm.Dirichlet, pm.sample 2x(1000+1000)", posterior, fit=obvious)


def peak():
    """Largest memory of this process so far, GB."""
    import resource

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6), 2)


def rows(which, path):
    """Results of one group of rows."""
    if which == "cs229":
        yield run("CS229 V=1,448 gamma 2x(1000+1000)", cs229(path))
    elif which == "forms":
        yield from three_ways("V=500", zipf(500))
    elif which == "large":
        yield run("V=20,000 gamma 2x(500+500)", zipf(20_000), draws=500, tune=500)
    elif which == "slow":
        yield from three_ways("CS229 V=1,448", cs229(path))
    else:
        yield run("tokens=200 of 20,000 gamma 2x(1000+1000)", zipf(20_000), tokens=range(0, 20_000, 100))


def main():
    """Run each group of rows in its own process, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("BAYESNB_SHARED", "")
    parser.add_argument("path", nargs="?", default=str(Path(shared, "data", "cs229_spam", "MATRIX.TRAIN")))
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=DEFAULT)
    parser.add_argument("--one", choices=ROWS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.one:
        for row in rows(asked.one, asked.path):
            print(json.dumps(row), flush=True)
        return
    print(machine(), flush=True)
    found = []
    for which in asked.rows:
        command = [sys.executable, "-m", "tests.benchmarks.sampling_speed", asked.path, "--one", which]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        found += [json.loads(line) for line in done.stdout.splitlines()]
    import pandas as pd

    print(pd.DataFrame(found).to_string(index=False))


if __name__ == "__main__":
    main()
