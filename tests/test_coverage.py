"""Credible intervals of ratios, of phi and of class probabilities hold the truth as often as they say."""

import pytest

from tests.benchmarks.coverage import CONTROL, CORPORA, FAILURE_RATE, LEVELS, ROWS, SETTINGS, coverage, p_value

SEED = 8128  # fixed before the first run, and another than the benchmark's


@pytest.mark.long
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: f"{s.event}-{s.n_classes}")
def test_intervals_cover_as_they_say(setting):
    """2,000 corpora from the prior; correct intervals fail any row of any setting with probability 1e-4 at most.

    With two classes a document drawn from the simulated parameters is scored too: its intervals must be caught out.
    """
    hits = coverage(setting, CORPORA, SEED)
    control = hits.pop(CONTROL, None)
    assert set(hits) == set(setting.quantities)
    p = {(name, level): p_value(by[level], CORPORA, level) for name, by in hits.items() for level in LEVELS}
    wrong = {row: (hits[row[0]][row[1]] / CORPORA, value) for row, value in p.items() if value < FAILURE_RATE / ROWS}
    assert not wrong
    if setting.n_classes == 2:
        assert all(p_value(control[level], CORPORA, level) < FAILURE_RATE / ROWS for level in LEVELS)
