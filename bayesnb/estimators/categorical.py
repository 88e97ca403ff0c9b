"""CategoricalNB: documents as rows of categories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NoReturn, Self

import numpy as np

from bayesnb import categories, storage, validate
from bayesnb.columns import Column, columns_of
from bayesnb.estimators.base import _targets
from bayesnb.estimators.matrix import MatrixClassifier
from bayesnb.events.categorical import per_cell
from bayesnb.model import Settings, State


class CategoricalNB(MatrixClassifier):
    """Naive Bayes over categories, with the full posterior of their probabilities.

    y ~ Categorical(theta), x_j ~ Categorical(phi_yj), theta ~ Dirichlet(c), phi_kj ~ Dirichlet(a) over the C_j
    categories of column j.

    Parameters
    ----------
    alpha : number >= 0 or array_like
        Laplace pseudo-count s, with scikit-learn's meaning: the estimate is (n_kjc + s) / (N_kj + C_j s), N_kj the
        documents of the class with a value in the column. One a column (J,), or one a cell (V,).
    prior : None, number, str or array_like
        Concentration a of phi, whatever the estimate: a number, one entry a column (a number, or one a category), one
        a cell (V,), or (K, V). None: 1 + alpha for "map", alpha for "mean" and "predictive", 1 for "mle". Names:
        "laplace" (as None), "uniform" (1), "jeffreys" (1/2).
    class_prior, fit_prior, estimate, power, force_alpha
        As in `MultinomialNB`. "predictive" equals "mean": each column is seen once a document.
    min_categories : None, int or array_like of int, shape (J,)
        A column of codes has at least this many categories; as in scikit-learn.
    unseen : {"skip", "error", "reserve"}
        What a category that was never learnt does in a document to score. "skip": its column drops out, for nothing
        is known about it. "error": a ValueError names it (scikit-learn stops with an IndexError). "reserve": every
        column has one category more, the last, which no document had and which stands for all that were not learnt;
        it takes part in the prior, so that its estimate is s / (N_kj + (C_j + 1) s) and favours classes with fewer
        values in the column.
    missing : {"error", "ignore"}
        Whether a missing value (None, NaN) is an error, or drops out of the totals and of the likelihood.

    Attributes
    ----------
    posterior_ : Posterior
        `.phi` is a `BlockDirichlet` of shape (K, V) over the V cells ``column=category``, one Dirichlet a column.
    categories_ : list of ndarray
        Categories of each column, (C_j,).
    category_count_, feature_log_prob_ : list of ndarray, shape (K, C_j)
        Documents with each category, and log of the estimated phi, column by column.
    n_categories_ : ndarray of int, shape (J,)
        C_j.
    classes_, n_features_in_, feature_names_in_
        As in `MultinomialNB`.

    Notes
    -----
    Whole numbers are codes: a column has the categories 0..max, those that no document had included. Strings and
    booleans are known by themselves, sorted; pandas Categorical and polars Enum columns have all categories that their
    type declares, and numbers in them are names too. `partial_fit` adds the categories it meets. `unlearn` drops those
    whose total returns to 0, but not declared ones (by a type or `min_categories`), nor a code below another.
    Predictions equal scikit-learn's for the same alpha.

    Examples
    --------
    >>> import bayesnb
    >>> X = [["red", 0], ["red", 1], ["blue", 2], ["blue", 2]]
    >>> clf = bayesnb.CategoricalNB().fit(X, ["warm", "warm", "cold", "cold"])
    >>> clf.predict([["red", 2], ["green", 0]]).tolist()
    ['cold', 'warm']
    >>> [names.tolist() for names in clf.categories_]
    [['blue', 'red'], [0, 1, 2]]
    """

    _event = "categorical"

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        prior: Any = None,
        class_prior: Any = 1.0,
        fit_prior: bool = True,
        estimate: str = "map",
        power: float = 1.0,
        min_categories: Any = None,
        force_alpha: bool = True,
        unseen: str = "skip",
        missing: str = "error",
    ) -> None:
        self.alpha = alpha
        self.prior = prior
        self.class_prior = class_prior
        self.fit_prior = fit_prior
        self.estimate = estimate
        self.power = power
        self.min_categories = min_categories
        self.force_alpha = force_alpha
        self.unseen = unseen
        self.missing = missing

    # --- attributes -----------------------------------------------------------------------------------------

    @property
    def categories_(self) -> list[np.ndarray]:
        """Categories of each column, sorted, without the one that is reserved, shape (C_j,)."""
        named: list[list[Any]] = [[] for _ in range(self.n_features_in_)]
        for cell in self._state.tokens.tolist():
            named[cell.column].append(cell.category)
        return [np.array([*names, None], object)[:-1] for names in named]

    @property
    def category_count_(self) -> list[np.ndarray]:
        """Documents of each class with each category, a column each, (K, C_j)."""
        return self._by_column(self.posterior_.statistics.feature_count)

    @property
    def feature_log_prob_(self) -> list[np.ndarray]:  # type: ignore[override]
        """Log of the estimated phi, a column each, (K, C_j); the posterior mean where the estimate is predictive."""
        return self._by_column(self.posterior_.log_phi(self._fitted.estimate))

    @property
    def n_categories_(self) -> np.ndarray:
        """Categories of each column, shape (J,)."""
        return np.bincount(self.posterior_.statistics.block, minlength=self.n_features_in_)

    def _by_column(self, values: np.ndarray) -> list[np.ndarray]:
        block = self.posterior_.statistics.block
        return [values[:, block == j] for j in range(self.n_features_in_)]

    def token_ratios(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: the ratios are of tokens of one vocabulary, and here each column has its own.

        Examples
        --------
        >>> import bayesnb
        >>> bayesnb.CategoricalNB().fit([["red"], ["blue"]], ["warm", "cold"]).token_ratios("warm", "cold")
        Traceback (most recent call last):
            ...
        ValueError: CategoricalNB has no ratios of tokens; look at posterior_.phi, column by column
        """
        raise ValueError("CategoricalNB has no ratios of tokens; look at posterior_.phi, column by column")

    # --- reading --------------------------------------------------------------------------------------------

    def _counts(self, X: Any, settings: Settings) -> Any:
        columns = self._checked(X, settings, reset=False)
        return categories.encode(columns, categories.Known.of(self._state), settings.unseen)

    def _checked(self, X: Any, settings: Settings, *, reset: bool) -> list[Column]:
        """Columns of X, and scikit-learn's checks of their number and names."""
        if not hasattr(X, "toarray"):  # columns_of explains a sparse matrix better
            X = self._table(X, "categories", reset=reset, objects=True)
        return columns_of(X, getattr(self, "feature_names_in_", None), settings.missing)

    def _learn(
        self, X: Any, y: Any, weight: Any, settings: Settings, *, reset: bool, classes: np.ndarray | None = None
    ) -> State:
        columns = self._checked(X, settings, reset=reset)
        y = _targets(self, y)
        w = validate.sample_weight(weight, len(y))
        if len(y) != len(columns[0].values):
            n = len(columns[0].values)
            raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
        if w is not None:  # before categories are found: a document of weight 0 brings none
            columns, y, w = [column.rows(w > 0) for column in columns], y[w > 0], w[w > 0]
        known = None if reset else categories.Known.of(self._state)
        documents, cells = categories.learn(columns, settings.min_categories, known)
        return State.learn(self._event, documents, y, cells, weight=w, classes=classes, fixed=False)

    def merge(self, other: Self) -> Self:
        """Add what another CategoricalNB with the same settings has learnt; categories are united.

        Raises
        ------
        ValueError
            The other has other settings or columns, categories of another kind in one of them, or a class outside
            those declared here. Nothing changes.

        Examples
        --------
        >>> import bayesnb
        >>> north = bayesnb.CategoricalNB().fit([["red"], ["blue"]], ["warm", "cold"])
        >>> south = bayesnb.CategoricalNB().fit([["orange"]], ["warm"])
        >>> north.merge(south).categories_[0].tolist(), north.class_count_.tolist()
        (['blue', 'orange', 'red'], [1.0, 2.0])
        """
        if isinstance(other, CategoricalNB) and hasattr(self, "_state") and hasattr(other, "_state"):
            categories.refuse_other_kinds(categories.Known.of(self._state), categories.Known.of(other._state))
        return super().merge(other)

    # --- files ----------------------------------------------------------------------------------------------

    def _model(self) -> storage.Model:
        model = super()._model()
        settings = model.settings
        if isinstance(settings.prior, (list, tuple)):  # entries of several lengths have no form in a file
            statistics: Any = self.posterior_.statistics
            shape = statistics.feature_count.shape
            prior = per_cell(settings.prior, statistics.block, statistics.n_columns, shape, "prior")
            model = replace(model, settings=replace(settings, prior=prior))
        return model

    @classmethod
    def from_model(cls, model: storage.Model) -> Self:
        """Return the fitted estimator that a model file holds.

        Examples
        --------
        >>> import bayesnb
        >>> from bayesnb import storage
        >>> fingerprint = bayesnb.CategoricalNB().fit([["red"], ["blue"]], ["warm", "cold"]).save("colours.safetensors")
        >>> clf = bayesnb.CategoricalNB.from_model(storage.load("colours.safetensors"))
        >>> clf.predict([["red"]]).tolist()
        ['warm']
        """
        new = cls._restored(model)
        if new.min_categories is not None:  # numbers of a file are floats
            fewest = np.asarray(new.min_categories).astype(np.int64)
            new.min_categories = fewest if fewest.ndim else int(fewest)
        columns = model.state.statistics.columns  # type: ignore[attr-defined]
        new.n_features_in_ = len(columns)
        if model.named_columns:
            new.feature_names_in_ = np.array([*columns, None], object)[:-1]
        return new

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.categorical = True
        tags.input_tags.positive_only = True
        tags.input_tags.allow_nan = self.missing == "ignore"
        return tags
