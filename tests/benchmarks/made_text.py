"""Texts made up for benchmarks: the sizes of a language, none of its words.

Frequencies fall as 1/rank up to rank 8,000 and as 1/rank^2 behind it, as in the British National Corpus (Ferrer i
Cancho and Sole, "Two regimes in the frequency of words", Journal of Quantitative Linguistics 8 (2001), 165-173); so
three million tokens hold some 80,000 different ones. Frequent tokens are short; one token in ten has a capital.
"""

import numpy as np


def words(n, rng):
    """Distinct made-up words; the length grows with the logarithm of the rank."""
    syllables = np.array([a + b for a in "bcdfghjklmnprstvw" for b in "aeiou"])
    length = np.minimum(1 + np.log10(np.arange(1, n + 1)) * 0.6 + rng.exponential(0.35, n), 6).astype(int)
    parts = syllables[rng.integers(0, len(syllables), (n, 7))]
    made = ["".join(part[:k]) for part, k in zip(parts.tolist(), length.tolist(), strict=True)]
    seen = {}
    for rank, word in enumerate(made):  # what came up twice gets its rank, in letters
        while made[rank] in seen:
            made[rank] = word + np.base_repr(rank, 26).lower()
            word += "x"
        seen[made[rank]] = rank
    return np.array(made, object)


def texts(n, mean_tokens, vocabulary, rng):
    """Texts of about so many tokens each, as a list of strings."""
    rank = np.arange(1, len(vocabulary) + 1)
    share = 1 / rank * np.minimum(1, 8000 / rank)
    upto = np.cumsum(share / share.sum())
    lengths = rng.geometric(1 / mean_tokens, n)
    ranks = np.searchsorted(upto, rng.random(int(lengths.sum())))
    tokens = vocabulary[np.minimum(ranks, len(vocabulary) - 1)].tolist()
    for i in np.flatnonzero(rng.random(len(tokens)) < 0.1).tolist():
        tokens[i] = tokens[i].capitalize() + (",", ".", "")[i % 3]
    ends = np.cumsum(lengths).tolist()
    return [" ".join(tokens[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]
