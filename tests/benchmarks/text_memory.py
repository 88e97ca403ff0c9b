"""Peak memory from a large CSV to a fitted model, each way in a process of its own; run on purpose.

python -m tests.benchmarks.text_memory [gigabytes] [--alone]. Makes the file in a temporary folder and deletes it. With
--alone scikit-learn (pandas, CountVectorizer, MultinomialNB) is not run: it takes some five times the file's size.
"""

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.benchmarks.made_text import texts, words

TOKENS = 500_000

OURS = """
import sys, bayesnb
tc = bayesnb.TextClassifier().fit_file(sys.argv[1], text="text", label="label")
tokens = tc.posterior_.tokens
print(len(tokens), int(tc.feature_count_.sum()), round(tc.predict_proba([" ".join(tokens[::5000])])[0, 0], 9))
"""
THEIRS = """
import sys, pandas
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB
frame = pandas.read_csv(sys.argv[1])
vectorizer = CountVectorizer()
nb = MultinomialNB().fit(vectorizer.fit_transform(frame["text"]), frame["label"])
tokens = vectorizer.get_feature_names_out()
document = vectorizer.transform([" ".join(tokens[::5000])])
print(len(tokens), int(nb.feature_count_.sum()), round(nb.predict_proba(document)[0, 0], 9))
"""


def make(path, gigabytes):
    """Rows of text and label, one in ten with a newline in quotes; every one of the tokens comes up."""
    rng = np.random.default_rng(2)
    vocabulary = words(TOKENS, rng)
    pool = texts(60_000, 150, vocabulary, rng)
    names = vocabulary.tolist()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["label", "text"])
        row = 0
        while file.tell() < gigabytes * 1e9:
            for text in pool:
                rare = ("\n" if row % 10 == 0 else " ") + names[row % TOKENS]
                writer.writerow(["spam" if row % 3 else "ham", text + rare])
                row += 1
    return row


def run(code, path):
    """What a process prints, its peak resident memory in MB, and its seconds."""
    start = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
    said = child.stdout.read().strip()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"exit status {child.returncode}: {said}")
    return said, usage.ru_maxrss / 1024, time.perf_counter() - start


def main(gigabytes=1.0, alone=False):
    folder = Path(tempfile.mkdtemp())
    try:
        if shutil.disk_usage(folder).free < 2e9 * gigabytes:
            raise SystemExit(f"{folder} has no room for a file of {gigabytes:g} GB; set TMPDIR to another folder")
        path = folder / "large.csv"
        rows = make(path, gigabytes)
        print(f"{path.stat().st_size / 1e9:.2f} GB, {rows:,} documents, {TOKENS:,} distinct words", flush=True)
        ours = run(OURS, path)
        print(f"bayesnb       {ours[1]:9.0f} MB {ours[2]:7.0f} s   {ours[0]}", flush=True)
        if alone:
            return
        theirs = run(THEIRS, path)
        print(f"scikit-learn  {theirs[1]:9.0f} MB {theirs[2]:7.0f} s   {theirs[0]}")
        print(f"a peak of 1/{theirs[1] / ours[1]:.1f}; the same model: {ours[0] == theirs[0]}")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    numbers = [float(word) for word in sys.argv[1:] if not word.startswith("-")]
    main(*numbers, alone="--alone" in sys.argv)
