"""The judge of one call: a right answer or a refusal in one line; its inputs and its object are as they were.

And what holds of every answer of a classifier, and how many examples of a property are run.
"""

import dis
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import logsumexp

CALLS: Counter[str] = Counter()
"""How many calls were answered and how many refused."""

# what is said on purpose: our own, and scikit-learn's conventions
KNOWN = re.compile(
    r"column .* above binarize|is no whole number: CategoricalNB|has no document and probability 0|stops nothing|"
    r"A column-vector y was passed|X (has|does not have valid) feature names"
)


@dataclass(frozen=True)
class Refused:
    """The call was refused, as it should be where it is."""

    error: Exception

    def __bool__(self) -> bool:
        return False


@dataclass(frozen=True)
class Answer:
    """What a call gave."""

    value: Any


def judged(call, *inputs, state=None) -> Answer | Refused:
    """Answer or refusal of a call that must leave its inputs, and on refusal the object `state`, as they were."""
    before, held = [fingerprint(x) for x in inputs], None if state is None else fingerprint(vars(state))
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            result: Answer | Refused = Answer(call())
    except Exception as error:
        assert_proper(error)
        result = Refused(error)
        assert state is None or fingerprint(vars(state)) == held, f"the state changed; {error}"
    assert [fingerprint(x) for x in inputs] == before, "an input was written to"
    foreign = [warning for warning in heard if not KNOWN.search(str(warning.message))]
    assert not foreign, f"a warning from {foreign[0].filename}:{foreign[0].lineno}: {foreign[0].message}"
    CALLS["answered" if result else "refused"] += 1
    return result


def assert_proper(error: Exception) -> None:
    """A refusal is a ValueError or TypeError of one line, raised on purpose, here or by scikit-learn's checks."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = last.tb_frame.f_code
    place = f"{code.co_filename}:{last.tb_lineno}: {type(error).__name__}: {error}"
    assert isinstance(error, (ValueError, TypeError)), place
    ours = "/bayesnb/" in code.co_filename and code.co_code[last.tb_lasti] == dis.opmap["RAISE_VARARGS"]
    theirs = re.search(r"sklearn/utils/(validation|multiclass)\.py$", code.co_filename)
    assert ours or theirs, place
    assert "\n" not in str(error), place
    assert 10 < len(str(error)) < 1200, place


def fingerprint(x: Any) -> Any:
    """Everything that a call could change, by value; objects that it cannot look into by their identity."""
    if isinstance(x, np.ma.MaskedArray):
        return "masked", fingerprint(x.data), fingerprint(np.ma.getmaskarray(x))
    if isinstance(x, np.ndarray):
        cells = [fingerprint(cell) for cell in x.ravel()] if x.dtype.kind in "OT" else x.tobytes()
        return x.dtype.str, x.shape, x.strides, cells, 0 in x.strides or x.flags.writeable
    if sparse.issparse(x):
        return "sparse", x.format, x.shape, str(x.dtype), _parts(x)
    if isinstance(x, dict):
        return [(fingerprint(k), fingerprint(v)) for k, v in x.items() if k not in _CACHES]
    if isinstance(x, (list, tuple)):
        return type(x), [fingerprint(cell) for cell in x]
    if hasattr(x, "iloc"):
        return "pandas", str(getattr(x, "dtypes", "")), repr(list(x.index)), _cells(x)
    if hasattr(x, "to_dicts") or type(x).__module__.startswith("polars"):
        return "polars", repr(x.to_dict(as_series=False) if hasattr(x, "to_dicts") else x)
    if isinstance(x, (int, float, complex, str, bytes, np.generic, type(None))):
        return type(x), x if isinstance(x, (str, bytes)) else repr(x) if abs_small(x) else hash(x)
    if type(x).__module__.partition(".")[0] in ("datetime", "pandas", "decimal", "fractions"):
        return type(x), repr(x)
    return type(x), id(x)


_CACHES = ("_alone", "_columns", "_points", "_tables")  # what is computed when first asked for


def abs_small(x: Any) -> bool:
    """Whether Python writes it out: it refuses whole numbers of more than 4300 digits."""
    return not isinstance(x, int) or x.bit_length() < 10_000


def _parts(x: Any) -> Any:
    if x.format in ("csr", "csc", "bsr"):
        return [fingerprint(part) for part in (x.data, x.indices, x.indptr)]
    if x.format == "coo":
        return [fingerprint(part) for part in (x.data, *x.coords)]
    if x.format == "dok":
        return repr(list(x.items()))
    return [fingerprint(part) for part in ((x.data, x.rows) if x.format == "lil" else (x.data, x.offsets))]


def _cells(x: Any) -> Any:
    if hasattr(x, "columns"):
        return repr(list(x.columns)), [fingerprint(x.iloc[:, j].to_list()) for j in range(x.shape[1])]
    return fingerprint(x.to_list())


# --- how often ----------------------------------------------------------------------------------------------------

_CHECKS = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
# the plain run tries the same examples each time, so that a change is judged by what it changed; the long one seeks
_PLAIN = settings(deadline=None, max_examples=25, derandomize=True, database=None, suppress_health_check=_CHECKS)
settings.register_profile("any input", _PLAIN)
settings.register_profile("any input, long", _PLAIN, max_examples=1000, derandomize=False, print_blob=True)
EXAMPLES: Counter[str] = Counter()
LONG: defaultdict[str, dict[str, Callable[[], None]]] = defaultdict(dict)  # by module and name


def holds(*strategies, share=1.0):
    """A test with the examples of the plain profile; `LONG` has the same with those of the long one."""

    def decorate(body):
        def run(profile):
            @settings(profile, max_examples=max(5, int(share * profile.max_examples)))
            @given(st.tuples(*strategies))
            def prop(values):
                EXAMPLES[body.__name__] += 1
                body(*values)

            prop()

        def test():
            run(settings.get_profile("any input"))

        LONG[body.__module__][body.__name__] = lambda: run(settings.get_profile("any input, long"))
        test.__name__, test.__doc__ = body.__name__, body.__doc__
        return test

    return decorate


def assert_same(a, b, what):
    np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=what)  # sums in another order


def answers(clf, X, y_values):
    """Every verb on some documents: probabilities, labels with their type, intervals, parts of the log-odds."""
    p = judged(lambda: clf.predict_proba(X), X, state=clf)
    label = judged(lambda: clf.predict(X), X, state=clf)
    log_p = judged(lambda: clf.predict_log_proba(X), X, state=clf)
    joint = judged(lambda: clf.predict_joint_log_proba(X), X, state=clf)
    assert bool(p) == bool(label) == bool(log_p)
    if not p:
        return None
    p = p.value
    assert np.isfinite(p).all() and (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert (clf.classes_[p.argmax(axis=1)] == label.value).all()
    assert set(map(type, label.value.tolist())) <= set(map(type, clf.classes_.tolist()))
    assert sorted(set(y_values)) == clf.classes_.tolist()
    assert {type(v) for v in y_values} == set(map(type, clf.classes_.tolist()))
    assert not np.isnan(log_p.value).any() and (log_p.value <= 1e-12).all()
    rounding = 1e-9 + 4e-16 * np.abs(joint.value[np.isfinite(joint.value)]).max(initial=0)  # of sums of many terms
    np.testing.assert_allclose(np.exp(joint.value - logsumexp(joint.value, axis=1, keepdims=True)), p, atol=rounding)
    return p


def deeper(clf, X, first, y, level):
    """The verbs that take longer, of few documents."""
    K = len(clf.classes_)
    interval = judged(lambda: clf.predict_interval(first, level), first, state=clf)
    if interval:
        assert interval.value.shape == (1, K, 2)
        low, high = interval.value[..., 0], interval.value[..., 1]
        assert (low >= 0).all() and (low <= high).all() and (high <= 1).all()
    sure = judged(lambda: clf.predict(first, abstain=level), first, state=clf)
    assert bool(sure) == bool(interval) or not judged(lambda: clf.predict(first), first)
    rows = judged(lambda: clf.explain(first, level=level), first, state=clf)
    if rows:
        table = rows.value
        assert (table.lower <= table.upper).all() and not table.contribution.isna().any()
        joint = judged(lambda: clf.predict_joint_log_proba(first), first, state=clf).value[0]
        a, b = (clf.posterior_.class_index(c) for c in table.attrs["classes"])
        if np.isfinite(joint[[a, b]]).all():
            scale = 1 + np.abs(table.contribution).sum()
            # of the two and, in the predictive, of Gamma functions, which may be far larger than their difference
            n = float(table["count"].max()) if "count" in table else 0.0
            rounding = 1e-15 * (np.abs(joint[[a, b]]).max() + n * np.log1p(n))
            assert abs(table.contribution.sum() - (joint[a] - joint[b])) <= 1e-9 * scale + rounding
    left = judged(lambda: clf.loo(X, y), X, y, state=clf)
    if left:
        assert not np.isnan(left.value.log_score).any() and (left.value.log_score <= 1e-12).all()
        np.testing.assert_allclose(left.value.probabilities.sum(axis=1), 1, atol=1e-12)


def first_row(X):
    return X.iloc[:1] if hasattr(X, "iloc") else X[:1]
