"""Every way in which counts, labels, priors, weights and levels can be wrong, and what the message must name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import bayesnb
from bayesnb import validate

DENSE = np.array([[0, 3, 0], [1, 0, 2], [0, 0, 0], [5, 0, 0]])
FORMATS = ["csr", "csc", "coo", "dok", "lil", "bsr", "dia"]


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8, np.bool_])
def test_every_sparse_format_gives_the_same_counts(form, kind, dtype):
    X = getattr(sparse, f"{form}_{kind}")(DENSE.astype(dtype))
    csr = validate.counts(X)
    assert isinstance(csr, sparse.csr_array) and csr.dtype == np.float64 and csr.has_canonical_format
    np.testing.assert_array_equal(csr.toarray(), DENSE.astype(dtype).astype(float))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "float16", "object"])
def test_dense_numbers_of_any_type_are_counts(dtype):
    np.testing.assert_array_equal(validate.counts(DENSE.astype(dtype)).toarray(), DENSE.astype(dtype).astype(float))
    np.testing.assert_array_equal(validate.counts(DENSE.tolist()).toarray(), DENSE)


def test_frames_of_pandas_and_polars_are_counts():
    columns = {"a": [0, 1], "b": [2, 0]}
    for frame in (pd.DataFrame(columns), pl.DataFrame(columns), pd.DataFrame(columns, dtype="Int64")):
        np.testing.assert_array_equal(validate.counts(frame).toarray(), [[0, 2], [1, 0]])


def test_a_frame_of_sparse_columns_stays_sparse():
    """Dense, 1e5 x 1e4 numbers would take 8 GB."""
    frame = pd.DataFrame.sparse.from_spmatrix(sparse.csr_array((np.ones(1), ([7], [3])), shape=(100_000, 10_000)))
    csr = validate.counts(frame)
    assert csr.shape == (100_000, 10_000) and csr.nnz == 1 and csr[7, 3] == 1


def duplicated(dtype=np.float64, values=(1, 1, 1)):
    """Row 0 holds column 0 twice; row 1 holds column 1."""
    return sparse.csr_array((np.array(values, dtype), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))


def test_duplicate_entries_are_summed_and_the_callers_matrix_is_left_as_it_was():
    X = duplicated()
    before = [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    for part in (X.data, X.indices, X.indptr):
        part.setflags(write=False)  # what joblib's memory maps are
    np.testing.assert_array_equal(validate.counts(X).toarray(), [[2, 0], [0, 1]])
    np.testing.assert_array_equal(validate.presence(X, 0.0, "m").toarray(), np.eye(2))
    assert X.nnz == 3
    for part, old in zip((X.data, X.indices, X.indptr), before, strict=True):
        np.testing.assert_array_equal(part, old)


def test_signs_are_judged_after_summing_duplicates():
    np.testing.assert_array_equal(validate.counts(duplicated(values=(3, -1, 1))).toarray(), [[2, 0], [0, 1]])
    with pytest.raises(ValueError, match="row 0, column 0"):
        validate.counts(duplicated(values=(1, -3, 1)))


def test_presence_is_judged_after_summing_duplicates():
    """0.6 + 0.6 is above 1, though neither entry is."""
    np.testing.assert_array_equal(validate.presence(duplicated(values=(0.6, 0.6, 0.6)), 1.0, "m").toarray()[0], [1, 0])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize(("dtype", "value"), [(np.uint8, 200), (np.int32, 2_000_000_000), (np.int16, 30_000)])
def test_sums_of_narrow_integers_do_not_overflow(form, dtype, value):
    X = duplicated(dtype, (value, value, 1))
    if form == "coo":
        X = sparse.coo_array((X.data, ([0, 0, 1], X.indices)), shape=X.shape)
    elif form == "csc":
        X = sparse.csc_array((X.data, np.array([0, 0, 1]), np.array([0, 2, 3])), shape=X.shape)
    assert validate.counts(X)[0, 0] == 2 * value


def test_long_index_arrays_are_accepted():
    X = duplicated()
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    np.testing.assert_array_equal(validate.counts(X).toarray(), [[2, 0], [0, 1]])


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
@pytest.mark.parametrize(
    ("bad", "words"),
    [(-3, "Negative values in data passed to Model.*-3"), (np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "-inf")],
)
def test_a_bad_cell_is_named_by_row_and_column(wrap, bad, words):
    X = DENSE.astype(float)
    X[3, 2] = bad
    with pytest.raises(ValueError, match=f"{words}.*row 3, column 2"):
        validate.counts(wrap(X), "Model")
    with pytest.raises(ValueError, match=r"row 3, column 'gin'"):
        validate.counts(wrap(X), "Model", np.array(["tea", "rum", "gin"]))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [1, 2]}),
        pl.DataFrame({"a": [1, None], "b": [1, 2]}),
        [[1, 1], [None, 2]],
        np.array([[1, 1], ["x", 2]], dtype=object),
    ],
)
def test_a_missing_or_unreadable_cell_is_named_by_row_and_column(X):
    with pytest.raises(ValueError, match="row 1, column 0"):
        validate.counts(X)


def test_hashed_input_gets_the_remedy():
    with pytest.raises(ValueError, match="alternate_sign=False"):
        validate.counts([[-1.0]])


@pytest.mark.parametrize("X", [np.ones(3), 5, np.ones((2, 2, 2)), sparse.coo_array(np.ones(3))])
def test_counts_have_two_dimensions(X):
    with pytest.raises(ValueError, match="Expected 2D array"):
        validate.counts(X)


@pytest.mark.parametrize("wrap", [np.array, sparse.csr_array])
def test_complex_numbers_are_refused(wrap):
    with pytest.raises(ValueError, match="Complex data not supported"):
        validate.counts(wrap(DENSE + 1j))


def test_presence_without_a_threshold_wants_zeros_and_ones():
    """scikit-learn makes P(feature) = 4/3 of a 3, then NaN."""
    with pytest.raises(ValueError, match=r"row 0, column 1 is 3.*give a threshold"):
        validate.presence(DENSE, None, "m")
    np.testing.assert_array_equal(validate.presence(DENSE > 0, None, "m").toarray(), DENSE > 0)


@pytest.mark.parametrize("threshold", [-1.0, 0.0, 1.0, 2.5])
def test_presence_is_being_above_the_threshold_zeros_included(threshold):
    for X in (DENSE, sparse.csr_array(DENSE)):
        np.testing.assert_array_equal(validate.presence(X, threshold, "m").toarray(), threshold < DENSE)


def test_known_prior_accepts_rounding_and_exact_zeros():
    np.testing.assert_allclose(validate.known_prior([0.1] * 10, 10), 0.1, rtol=1e-15)
    np.testing.assert_array_equal(validate.known_prior([0, 1], 2), [0, 1])


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.5, 0.9], "The sum of the priors should be 1.*1.4"),
        ([-0.5, 1.5], r"Priors must be non-negative.*class_prior\[0\] is -0.5"),
        ([0.5, np.nan], r"class_prior\[1\] is nan"),
        ([0.2, 0.3, 0.5], "Number of priors must match number of classes"),
        ([], "Number of priors must match number of classes"),
        ("ab", "class_prior"),
        ([0.5, np.inf], "The sum of the priors should be 1"),
    ],
)
def test_a_prior_that_is_no_probability_is_refused(prior, words):
    with pytest.raises(ValueError, match=words):
        validate.known_prior(prior, 2)


def test_a_normalised_prior_stays_bit_for_bit_when_read_again():
    """Dividing by the sum once more changes the last place of many a prior, and so of a model saved and loaded."""
    rng = np.random.default_rng(0)
    for p in rng.dirichlet(np.ones(7), 100):
        once = validate.known_prior(p * (1 + 1e-9), 7)
        np.testing.assert_array_equal(validate.known_prior(once, 7), once)


@pytest.mark.parametrize(
    ("y", "kind", "expected"),
    [
        (pd.Series([1, 0], dtype="Int64"), "i", [1, 0]),
        ([True, False], "b", [True, False]),
        (np.array([True, False]), "b", [True, False]),
        (pd.Series([True, False], dtype="boolean"), "b", [True, False]),
        (pd.Series(["a", "b"]), "O", ["a", "b"]),
        (pd.Series(["a", "b"]).astype("category"), "O", ["a", "b"]),
        (pl.Series(["a", "b"]), "O", ["a", "b"]),
        (["a", "b\0"], "O", ["a", "b\0"]),
        (np.array(["a", "b"]), "U", ["a", "b"]),
        ((3, 2.5), "f", [3, 2.5]),
    ],
)
def test_labels_keep_their_type(y, kind, expected):
    labels = validate.labels(y)
    assert labels.dtype.kind == kind and labels.tolist() == expected


@pytest.mark.parametrize(
    "y",
    [
        ["a", None],
        ["a", float("nan")],
        ["a", pd.NA],
        [0, pd.NA],
        np.array([1.0, np.nan]),
        pd.Series([1, None], dtype="Int64"),
        pd.Series(["a", None]),
        pd.Series(["a", None], dtype="str"),
        pd.Series(["a", None], dtype="category"),
        pl.Series(["a", None]),
        pd.Series([pd.Timestamp("2024-01-01"), pd.NaT]),
    ],
)
def test_a_missing_label_is_named_by_its_row(y):
    with pytest.raises(ValueError, match="missing label at row 1"):
        validate.labels(y)


@pytest.mark.parametrize(("y", "row"), [(["a", 1], 1), ([True, True, 1], 2), (["a", "b", False], 2)])
def test_labels_of_several_types_are_a_type_error_that_names_both(y, row):
    """scikit-learn silently turns ["a", 1] into the strings "a" and "1"."""
    with pytest.raises(TypeError, match=f"row 0 is .* row {row} is"):
        validate.labels(y)


def test_infinite_labels_and_tables_of_labels_are_refused():
    with pytest.raises(ValueError, match=r"row 1.*infinity"):
        validate.labels([0.0, np.inf])
    with pytest.raises(ValueError, match="1d array"):
        validate.labels([[0, 1], [1, 0]])


def test_concentrations_broadcast_to_classes_and_tokens_or_say_why_not():
    np.testing.assert_array_equal(validate.concentration(2, shape=(2, 3)), np.full((2, 3), 2.0))
    np.testing.assert_array_equal(validate.concentration([1, 2, 3], shape=(2, 3))[1], [1, 2, 3])
    with pytest.raises(ValueError, match=r"prior has shape \(2,\), which does not fit \(2, 3\)"):
        validate.concentration([1, 2], shape=(2, 3))
    with pytest.raises(ValueError, match=r"got -1 at \(1, 0\)"):
        validate.concentration([[1, 2], [-1, 2]])


def test_weights_are_one_a_document_and_not_negative():
    assert validate.sample_weight(None, 3) is None
    np.testing.assert_array_equal(validate.sample_weight(2, 3), [2, 2, 2])
    with pytest.raises(ValueError, match="one weight a document"):
        validate.sample_weight([1, 2], 3)
    for bad in (-1, np.nan, np.inf, None):
        with pytest.raises(ValueError, match="row 1"):
            validate.sample_weight([1, bad, 1], 3)


def test_an_unknown_estimate_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"mle, map, mean, predictive; got 'median'"):
        validate.estimate("median")


@pytest.mark.parametrize(("part", "at", "value"), [("indices", 0, 10**6), ("indices", 0, -1), ("indptr", 1, 99)])
def test_a_damaged_sparse_matrix_is_refused_before_it_is_followed(part, at, value):
    """SciPy would lose the count without a word, or read memory that is not there."""
    X = sparse.csr_array(np.ones((3, 4), int))
    broken = getattr(X, part).copy()
    broken[at] = value
    setattr(X, part, broken)
    with pytest.raises(ValueError, match="the sparse matrix is damaged"):
        bayesnb.MultinomialNB().fit(X, [0, 1, 1])
