"""Texts to a fitted model, and one text to its class, against scikit-learn's pipeline; run on purpose.

python -m tests.benchmarks.text_speed [megabytes]. Rounds alternate, so that both meet the same load; the ratio of a
round is that of two neighbours, and the median is what counts. With BAYESNB_SHARED, real mail too. CPU seconds are of
all threads.
"""

import os
import platform
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import bayesnb
from tests.benchmarks.made_text import texts, words

ROUNDS = 5
SHORT = "Free entry in 2 a wkly comp to win FA Cup final tkts 21st May. Text FA to 87121 to receive entry question"


def real_mail(megabytes):
    """Ling-Spam, as often as it takes."""
    folder = Path(os.environ["BAYESNB_SHARED"], "data", "lingspam")
    corpus = bayesnb.read_corpus({"spam": folder / "spam-train", "ham": folder / "nonspam-train"})
    times = max(1, round(megabytes * 1e6 / sum(map(len, corpus.texts))))
    return corpus.texts * times, corpus.y.tolist() * times


def made_up(megabytes, rng):
    """As much of made-up text, with half a million words to choose from, in two classes."""
    documents = texts(int(megabytes * 1e6 / 1000), 150, words(500_000, rng), rng)
    return documents, rng.integers(0, 2, len(documents)).tolist()


def timed(work):
    """Seconds by the clock, and of all processors."""
    start, busy = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - busy


def fitting(name, documents, labels):
    """Both fits in turn."""
    size = sum(map(len, documents)) / 1e6
    ours, theirs = [], []
    for _ in range(ROUNDS):
        ours.append(timed(lambda: bayesnb.TextClassifier().fit(documents, labels)))
        theirs.append(timed(lambda: make_pipeline(CountVectorizer(), MultinomialNB()).fit(documents, labels)))
    ours, theirs = np.array(ours), np.array(theirs)
    clock, cpu = np.median(theirs / ours, axis=0)
    print(f"{name:28s} {size:6.0f} MB {np.median(ours[:, 0]):9.2f} s {np.median(theirs[:, 0]):11.2f} s {clock:9.1f}x"
          f"   (CPU {cpu:.1f}x, rounds {np.round(theirs[:, 0] / ours[:, 0], 1).tolist()})")  # fmt: skip


def repeated(call, n):
    """Microseconds a call."""
    return timed(lambda: [call() for _ in range(n)])[0] / n * 1e6


def one_text(documents, labels, text):
    """The answer to one text, in rounds of some thousand."""
    tc = bayesnb.TextClassifier().fit(documents, labels)
    scorer = bayesnb.Scorer(tc._model())
    pipeline = make_pipeline(CountVectorizer(), MultinomialNB()).fit(documents, labels)
    ways = {
        "TextClassifier.predict_proba": lambda: tc.predict_proba([text]),
        "Scorer.score": lambda: scorer.score(text),
    }
    for name, way in ways.items():
        way(), pipeline.predict_proba([text])
        rounds = [(repeated(way, 20_000), repeated(lambda: pipeline.predict_proba([text]), 500)) for _ in range(9)]
        ours, theirs = np.array(rounds).T
        print(f"{name:28s} {len(text):4d} chars {np.median(ours):8.1f} us {np.median(theirs):10.0f} us "
              f"{np.median(theirs / ours):9.0f}x")  # fmt: skip


def main(megabytes=40.0):
    rng = np.random.default_rng(1)
    machine = platform.processor() or platform.machine()
    print(f"{machine}, {os.cpu_count()} cores, Python {platform.python_version()}; medians of {ROUNDS} rounds in turn")
    print(f"{'text to fitted model':28s} {'':9s} {'bayesnb':>11s} {'scikit-learn':>13s} {'ratio':>10s}")
    bayesnb.TextClassifier().fit(["warm up"], [0])
    documents, labels = made_up(megabytes, rng)
    fitting("made-up text", documents, labels)
    if os.environ.get("BAYESNB_SHARED"):
        fitting("real mail, repeated", *real_mail(megabytes))
    print(f"{'one text, two classes':28s}")
    one_text(documents[:5000], labels[:5000], " ".join(documents[0].split()[:20]))
    one_text([SHORT, *documents[:5000]], [0, *labels[:5000]], SHORT)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
