"""What `select` reaches on CS229's six training files, and what a fitted power does to probabilities; run on purpose.

python -m tests.benchmarks.select_cs229 [shared folder]; by default the folder that BAYESNB_SHARED names. Everything is
chosen on the training file alone; the test mails are scored once, at the end.
"""

import os
import sys
import time
from pathlib import Path

import numpy as np

import bayesnb
from bayesnb.evaluation import evaluate

SIZES = (50, 100, 200, 400, 800, 1400)


def errors(clf, test) -> int:
    return int((clf.predict(test.X) != test.y).sum())


def choose(shared: Path) -> None:
    """Test errors of the plain model, the best candidate, and both mixtures."""
    folder = shared / "data" / "cs229_spam"
    test = bayesnb.read_corpus(folder / "MATRIX.TEST", format="cs229")
    names = ("plain", "best", "stacked", "tempered")
    print(f"{'mails':>6s} {'seconds':>8s} " + " ".join(f"{name:>8s}" for name in names) + "  best candidate")
    total = np.zeros(len(names), int)
    for size in SIZES:
        train = bayesnb.read_corpus(folder / f"MATRIX.TRAIN.{size}", format="cs229")
        start = time.perf_counter()
        chosen = bayesnb.select(train.X, train.y)
        seconds = time.perf_counter() - start
        fitted = (
            bayesnb.MultinomialNB().fit(train.X, train.y),
            chosen.best.fit(train.X, train.y),
            chosen.stacked,
            chosen.tempered,
        )
        wrong = np.array([errors(clf, test) for clf in fitted])
        total += wrong
        first = chosen.table.iloc[0]
        what = f"{first.event}, {first.prior}, {first.estimate}: {first.log_score:.1f} nats, {first.errors} errors"
        print(f"{size:6d} {seconds:8.2f} " + " ".join(f"{n:8d}" for n in wrong) + f"  {what}")
    print(f"{'sum':>6s} {'':8s} " + " ".join(f"{n:8d}" for n in total) + "  (a linear SVM makes 41)")


def speed(shared: Path) -> None:
    """Seconds for the largest file."""
    train = bayesnb.read_corpus(shared / "data" / "cs229_spam" / "MATRIX.TRAIN", format="cs229")
    start, used = time.perf_counter(), time.process_time()
    chosen = bayesnb.select(train.X, train.y)
    took = f"{time.perf_counter() - start:.2f} s, {time.process_time() - used:.2f} s of processor time"
    print(f"\n{train.X.shape[0]} x {train.X.shape[1]}, {len(chosen.table)} candidates: {took}, {os.cpu_count()} cores")


def temper(shared: Path) -> None:
    """ECE and log loss on test mails, raw and with the power fitted on the training mails."""
    folder = shared / "data"
    print(f"\n{'corpus':24s} {'model':30s} {'power':>8s} {'errors':>7s} {'log loss':>9s} {'ECE':>7s}")
    parts = {"train": "TRAIN.1400", "test": "TEST"}
    cs229 = {
        part: bayesnb.read_corpus(folder / "cs229_spam" / f"MATRIX.{name}", format="cs229")
        for part, name in parts.items()
    }
    ling = {
        part: bayesnb.read_corpus({label: folder / "lingspam" / f"{label}-{part}" for label in ("nonspam", "spam")})
        for part in parts
    }
    for tokens in ("space", "words"):
        models = [bayesnb.TextClassifier(event=event, tokens=tokens) for event in ("multinomial", "bernoulli")]
        for clf in models:
            report(f"Ling-Spam, {tokens}", clf.event, clf, *((ling[p].texts, ling[p].y) for p in ("train", "test")))
    chosen = bayesnb.select(cs229["train"].X, cs229["train"].y).best
    for name, clf in (
        ("multinomial", bayesnb.MultinomialNB()),
        ("multinomial, predictive", bayesnb.MultinomialNB(estimate="predictive")),
        ("the best of select", chosen),
    ):
        report("CS229, 1,400 mails", name, clf, *((cs229[p].X, cs229[p].y) for p in ("train", "test")))


def report(corpus, name, clf, train, test) -> None:
    for power in (1.0, bayesnb.fit_power(clf, *train)):
        clf.set_params(power=power).fit(*train)
        score = evaluate(np.asarray(test[1]), clf.predict_log_proba(test[0]), clf.classes_)
        print(f"{corpus:24s} {name:30s} {power:8.4f} {score.errors:7d} {score.log_loss:9.4f} {score.ece:7.4f}")


def main(shared: str | None = None) -> None:
    folder = shared or os.environ.get("BAYESNB_SHARED")
    if not folder:
        sys.exit("give the shared folder, or name it in BAYESNB_SHARED")
    choose(Path(folder))
    speed(Path(folder))
    temper(Path(folder))


if __name__ == "__main__":
    main(*sys.argv[1:2])
