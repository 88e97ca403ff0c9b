"""Simulation-based calibration of every conjugate model and form, 200 replications each, as a table.

Run from the root: ``uv run python -m tests.benchmarks.calibration_sbc [--replications 200] [--plots FOLDER]``.
"""

import argparse
import time
from pathlib import Path

import pandas as pd

from tests.benchmarks.sampling_speed import machine


def main():
    """Calibrate each model and form, and print one table."""
    from bayesnb import events
    from bayesnb.checks.calibration import FAILURE_RATE, calibrate
    from bayesnb.plots import plot_ranks
    from bayesnb.sampling.modelfiles import find_model

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replications", type=int, default=200)
    parser.add_argument("--plots", type=Path)
    asked = parser.parse_args()
    print(machine(), f"chance of a false alarm, each row: {FAILURE_RATE:g}", flush=True)
    rows = []
    for model in events.MODELS:
        for form in find_model(model).forms:
            start = time.perf_counter()
            result = calibrate(model, form, asked.replications)
            rows.append(
                {
                    "model": model, "form": form, "quantities": len(result.table),
                    "smallest_p": float(f"{result.table['p_value'].min():.2g}"), "passed": result.passed,
                    "divergences": result.n_divergences, "seconds": round(time.perf_counter() - start, 1),
                }
            )  # fmt: skip
            print(rows[-1], flush=True)
            if asked.plots:
                plot_ranks(result).savefig(asked.plots / f"ranks_{model}_{form}.png", dpi=120)
    print(pd.DataFrame(rows).to_string(index=False))


if __name__ == "__main__":
    main()
