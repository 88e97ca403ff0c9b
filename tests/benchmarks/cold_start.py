"""From a cold shell to the probability of one line: what `bayesnb score` takes beside its bare imports.

Run: uv run python -m tests.benchmarks.cold_start
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import bayesnb

ROUNDS = 9  # each runs every command once, so that a busy machine slows all of them alike
IMPORTS = "import numpy, scipy.special, polars"
SHELL = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as a user's


def main() -> None:
    """Print median seconds by the clock and of processors, and how many more than the imports alone take."""
    with tempfile.TemporaryDirectory() as folder:
        model, mail = Path(folder, "mail.model"), Path(folder, "mail.txt")
        bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"] * 50, ["spam", "ham"] * 50).save(model)
        mail.write_text("free prices for coffee at ten")
        commands = {
            IMPORTS: [sys.executable, "-c", IMPORTS],
            "bayesnb score MODEL mail.txt": ["bayesnb", "score", str(model), str(mail)],
            "bayesnb score MODEL - < mail.txt": ["bayesnb", "score", str(model), "-"],
            "bayesnb inspect MODEL": ["bayesnb", "inspect", str(model)],
            "bayesnb --help": ["bayesnb", "--help"],
        }
        found = {name: ([], []) for name in commands}  # type: dict[str, tuple[list[float], list[float]]]
        for command in commands.values():
            _timed(command, mail)  # what is compiled once is not cold every time
        for _ in range(ROUNDS):
            for name, command in commands.items():
                for kind, seconds in zip(found[name], _timed(command, mail), strict=True):
                    kind.append(seconds)
    print(f"{'':36} {'clock':>7} {'more':>7} {'cpu':>7} {'more':>7}   median seconds")
    for name, kinds in found.items():
        cells = [
            f"{median(kind):7.2f} {_more(kind, bare):7.2f}" for kind, bare in zip(kinds, found[IMPORTS], strict=True)
        ]
        print(f"{name:36} {' '.join(cells)}")


def _more(taken: list[float], bare: list[float]) -> float:
    return median(one - other for one, other in zip(taken, bare, strict=True))


def _timed(command: list[str], stdin: Path) -> tuple[float, float]:
    """Seconds by the clock, and of processors, which a busy machine changes less."""
    with stdin.open("rb") as lines:
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(command, stdin=lines, stdout=subprocess.DEVNULL, check=True, env=SHELL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return time.perf_counter() - start, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
