"""Seconds, divergences, effective sample size and agreement of the PyMC path.

Run from the root: ``uv run python -m tests.benchmarks.sampling_speed [MATRIX.TRAIN] [--rows cs229 forms large]``.
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

ROWS = ("cs229", "forms", "large", "tokens")


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


def run(name, posterior, **options):
    """One fit, from the call to the tree, and its agreement."""
    from bayesnb.checks.agreement import check_agreement
    from bayesnb.sampling import sample

    start, used = time.perf_counter(), time.process_time()
    tree = sample(posterior, chains=2, **options)
    seconds, cpu = time.perf_counter() - start, time.process_time() - used
    check = check_agreement(tree, posterior)
    phi = check.table[check.table["quantity"] == "phi"]
    return {
        "row": name, "seconds": round(seconds, 1), "cpu": round(cpu, 1), "divergences": check.n_divergences,
        "min_ess_phi": round(float(phi["ess"].min())), "ess_per_s": round(float(phi["ess"].min()) / seconds, 1),
        "max_z": round(check.max_z, 2), "threshold": round(check.threshold, 2), "passed": check.passed,
        "peak_gb": peak(),
    }  # fmt: skip


def peak():
    """Largest memory of this process so far, GB."""
    import resource

    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e9 if sys.platform == "darwin" else 1e6), 2)


def rows(which, path):
    """Results of one group of rows."""
    if which == "cs229":
        yield run("CS229 V=1,448 gamma 2x(1000+1000)", cs229(path))
    elif which == "forms":
        for form in ("gamma", "dirichlet"):
            yield run(f"V=500 {form} 2x(1000+1000)", zipf(500), form=form)
    elif which == "large":
        yield run("V=20,000 gamma 2x(500+500)", zipf(20_000), draws=500, tune=500)
    else:
        yield run("tokens=200 of 20,000 gamma 2x(1000+1000)", zipf(20_000), tokens=range(0, 20_000, 100))


def main():
    """Run each group of rows in its own process, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    shared = os.environ.get("BAYESNB_SHARED", "")
    parser.add_argument("path", nargs="?", default=str(Path(shared, "data", "cs229_spam", "MATRIX.TRAIN")))
    parser.add_argument("--rows", nargs="*", choices=ROWS, default=ROWS)
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
