"""Several corpora as one."""

from __future__ import annotations

import numpy as np

from bayesnb.corpus.records import Corpus, CorpusError, in_columns, joined_columns


def joined(parts: list[Corpus]) -> Corpus:
    """Labelled corpora one after the other.

    Raises
    ------
    ValueError
        Counts whose columns differ.
    """
    if len(parts) == 1:
        return parts[0]
    if any(part.texts is None for part in parts):
        return _joined_counts(parts)
    skipped = {reason: sum(p.skipped.get(reason, 0) for p in parts) for part in parts for reason in part.skipped}
    return Corpus(
        y=np.concatenate([part.y for part in parts if part.y is not None]),
        ids=[f"{part.source}:{name}" if isinstance(name, int) else name for part in parts for name in part.ids],
        texts=[text for part in parts for text in part.texts or ()],
        skipped=skipped,
        source=", ".join(part.source for part in parts),
        columns=joined_columns(parts),
    )


def _joined_counts(parts: list[Corpus]) -> Corpus:
    from scipy import sparse

    first, names = parts[0], parts[0].tokens or []
    if all(part.grows for part in parts):
        names = sorted({name for part in parts for name in part.tokens or ()}, key=int)
    matrices = []
    for part in parts:
        X = in_columns(part, names) if part.grows or part.tokens == names else None
        if X is None:
            raise CorpusError(f"{part.source} and {first.source} do not have the same columns; fit them one by one")
        matrices.append(X)
    return Corpus(
        y=np.concatenate([part.y for part in parts if part.y is not None]),
        ids=[f"{part.source}:{name}" for part in parts for name in part.ids],
        X=sparse.csr_array(sparse.vstack(matrices, format="csr")),
        tokens=names,
        skipped={reason: sum(p.skipped.get(reason, 0) for p in parts) for part in parts for reason in part.skipped},
        source=", ".join(part.source for part in parts),
        columns=joined_columns(parts),
        grows=all(part.grows for part in parts),
    )
