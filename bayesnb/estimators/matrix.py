"""What the estimators over matrices share: columns that are fixed, and scikit-learn's checks of them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import validate_data

from bayesnb import given, storage
from bayesnb.estimators.base import PosteriorClassifier
from bayesnb.model import Settings


class MatrixClassifier(PosteriorClassifier):
    """An estimator over a matrix of counts with fixed columns."""

    def _one(self, x: Any) -> Any:
        if isinstance(x, np.ndarray) and x.ndim == 1:
            return x.reshape(1, -1)
        row = isinstance(x, (list, tuple)) and not any(isinstance(cell, (list, tuple, np.ndarray)) for cell in x)
        return [x] if row else x

    def _counts(self, X: Any, settings: Settings) -> Any:
        return self._validated(X, settings, reset=False)

    def _read(self, X: Any, settings: Settings, *, reset: bool) -> tuple[Any, np.ndarray, bool]:
        counts = self._validated(X, settings, reset=reset)
        names = getattr(self, "feature_names_in_", None)
        return counts, np.arange(counts.shape[1]) if names is None else names, True

    def _validated(self, X: Any, settings: Settings, *, reset: bool) -> Any:
        X = self._table(X, "counts", reset=reset)
        return settings.documents(X, getattr(self, "feature_names_in_", None))

    def _table(self, X: Any, what: str, *, reset: bool, objects: bool = False) -> Any:
        """X as a frame, a sparse matrix or an array, once its size and the names of its columns are what they must be.

        The cells are judged by the event model's own validator, which names row and column.
        """
        if given.is_frame(X):
            given.refuse_repeated_names(X)
        elif not hasattr(X, "toarray"):
            X = given.table(X, what, objects=objects)
        elif X.ndim != 2:
            raise ValueError(f"Expected 2D array of {what} (documents, columns), got a {X.ndim}D sparse array instead")
        for n, unit in zip(X.shape, ("sample", "feature"), strict=True):
            if not n:
                name = type(self).__name__
                raise ValueError(
                    f"Found array with 0 {unit}(s) (shape={X.shape}) while a minimum of 1 is required by {name}."
                )
        validate_data(self, X, reset=reset, skip_check_array=True)
        return X

    def _model(self) -> storage.Model:
        named = hasattr(self, "feature_names_in_")
        return storage.Model(self._fitted, self._state, tokens=None, named_columns=named)

    @classmethod
    def from_model(cls, model: storage.Model) -> Self:
        """Return the fitted estimator that a model file holds.

        Parameters
        ----------
        model : Model
            As `bayesnb.storage.load` gives it.

        Returns
        -------
        estimator

        Examples
        --------
        >>> import bayesnb
        >>> from bayesnb import storage
        >>> fingerprint = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"]).save("counts.safetensors")
        >>> bayesnb.MultinomialNB.from_model(storage.load("counts.safetensors")).predict([[1, 0]]).tolist()
        ['ham']
        """
        new = cls._restored(model)
        new.n_features_in_ = model.state.statistics.n_tokens
        if model.named_columns:
            new.feature_names_in_ = model.state.tokens
        return new

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True
        return tags
