"""Every verb of the estimators, once: learning on totals, predicting from an immutable posterior."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import fields, replace
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from bayesnb import given, storage, validate
from bayesnb.estimators.turns import turn
from bayesnb.events.base import Posterior
from bayesnb.model import Settings, State, class_codes, same_setting

if TYPE_CHECKING:
    import pandas as pd

    from bayesnb.selection.loo import Loo

_SETTING = [field.name for field in fields(Settings) if field.name != "event"]


class PosteriorClassifier(ClassifierMixin, BaseEstimator):
    """What the naive Bayes estimators share; a subclass says how its input becomes counts.

    Learning replaces `posterior_` as a whole when it has succeeded, so a failed call changes nothing and other
    threads may predict while one learns; several that learn take turns.
    """

    posterior_: Any  # a Posterior of the event model
    classes_: np.ndarray
    _state: State
    _fitted: Settings  # those that formed the posterior; parameters set later take effect with the next fit

    # --- what a subclass says -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def _event(self) -> str:
        """Name of the event model."""

    @abstractmethod
    def _counts(self, X: Any, settings: Settings) -> Any:
        """Documents to score as a CSR array in the columns of `posterior_`."""

    @abstractmethod
    def _one(self, x: Any) -> Any:
        """One document as a batch of one."""

    @abstractmethod
    def _read(self, X: Any, settings: Settings, *, reset: bool) -> tuple[Any, np.ndarray, bool]:
        """Documents to learn from: counts, the names of their columns, and whether these are fixed."""

    @abstractmethod
    def _model(self) -> storage.Model:
        """The fitted model as it is written to a file."""

    # --- learning -------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the posterior from documents, forgetting what was learnt before.

        Parameters
        ----------
        X : documents
            Counts, shape (N, V), for the matrix estimators; texts for `TextClassifier`.
        y : array_like, shape (N,)
            Class labels of one type; none may be missing.
        sample_weight : array_like, shape (N,), optional
            Weight of each document: weight 3 is three copies, weight 0 none.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Invalid counts, labels or settings, or an estimate that does not exist for these data.

        Examples
        --------
        >>> import bayesnb
        >>> counts = [[2, 1, 0], [1, 0, 0], [0, 1, 3]]  # of coffee, game, discount in three mails
        >>> clf = bayesnb.MultinomialNB().fit(counts, ["ham", "ham", "spam"])
        >>> clf.feature_count_.tolist()
        [[3.0, 1.0, 0.0], [0.0, 1.0, 3.0]]
        >>> clf.posterior_.phi.concentration.tolist()  # counts, and 2 = 1 + alpha
        [[5.0, 3.0, 2.0], [2.0, 3.0, 5.0]]
        """
        with turn(self):
            new, settings = self._draft(), self._settings()
            state = new._learn(X, y, sample_weight, settings, reset=True)
            if not len(state.classes):
                raise ValueError("every sample_weight is zero: no document to learn from")
            new._adopt(state, settings).posterior_.require(settings.estimate)
            return self._become(new)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Learn from more documents, keeping what was learnt before, or forgetting some of it.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`.
        classes : array_like, optional
            All classes there will ever be; declared in the first call they are closed, and a later label outside
            them is an error. Never declared, classes grow as they are met.
        decay : number, 0 < decay <= 1
            Forgetting: what was learnt before counts this much from now on, as if its documents had had this
            sample weight; after k more batches it has the weight decay^k.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As in `fit`; a label outside the declared classes; other classes than declared before; a decay outside
            (0, 1]. Nothing changes.

        Notes
        -----
        With a decay d the posterior is proportional to prior x L(old documents)^d x L(new documents): the old
        likelihood to a power, and never the prior, which is the power prior of Ibrahim and Chen, "Power prior
        distributions for regression models", Statistical Science 15 (2000), 46-60. For totals this is
        multiplication by d; means of measurements stay. With batches of one size the totals settle at 1/(1 - d)
        batches, so intervals stop shrinking. Priors computed from the totals see what is left of them. A class or
        token that stays away so long that less than 1e-100 of it is left goes, unless declared.

        Documents learnt before a decay have only a share of their weight left; see `unlearn`.

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> whole = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> parts = bayesnb.TextClassifier().partial_fit(toy.texts[:2], toy.y[:2]).partial_fit(toy.texts[2:], toy.y[2:])
        >>> bool((parts.feature_count_ == whole.feature_count_).all())
        True

        With a decay, what was learnt before counts half as much:

        >>> parts.class_count_.tolist(), parts.partial_fit(["free game"], ["spam"], decay=0.5).class_count_.tolist()
        ([2.0, 3.0], [1.0, 2.5])
        """
        with turn(self):
            new, settings, known = self._draft(), self._settings(), getattr(self, "_state", None)
            if known is not None:
                self._refuse_other_reading(settings)
            declared = self._declared(classes, known)
            decay = validate.decay(decay)
            part = new._learn(X, y, sample_weight, settings, reset=known is None, classes=declared)
            return self._become(new._adopt(part if known is None else known.decayed(decay).add(part), settings))

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Take documents back out of the totals: the posterior is the one that never saw them.

        A class that only learning brought in, and whose total returns to 0, is dropped; so is a token of a
        `TextClassifier`. Totals cannot tell which documents they are made of: documents that were never learnt,
        but whose counts fit into the totals, are subtracted all the same.

        After `partial_fit` with a `decay` it cannot be exact: a document has a share of its weight left, so with its
        whole weight it is refused where a total would become negative, and otherwise takes too much away. With
        ``sample_weight=decay**k``, k the batches that decayed it, what is left of it goes, up to rounding.

        Parameters
        ----------
        X, y, sample_weight
            As they were learnt.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            A total would become negative. Nothing changes.

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y).unlearn(toy.texts[:1], toy.y[:1])
        >>> tc.class_count_.tolist()
        [2.0, 2.0]
        >>> "qualified" in tc.vocabulary_
        False
        """
        check_is_fitted(self, "posterior_")
        with turn(self):
            new, settings = self._draft(), self._settings()
            self._refuse_other_reading(settings)
            classes = self._state.classes if self._state.closed else None
            part = new._learn(X, y, sample_weight, settings, reset=False, classes=classes)
            return self._become(new._adopt(self._state.remove(part), settings))

    def merge(self, other: Self) -> Self:
        """Add what another estimator of the same kind has learnt.

        ``a + b`` does the same in a new estimator, and ``sum([a, b, c])`` adds several.

        Parameters
        ----------
        other : estimator
            Fitted, of the same kind and with the same settings; it stays as it is.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            The other is no estimator of the same kind.
        ValueError
            The other has other settings, reads documents in another way or has other columns, or a class outside
            those declared here. Nothing changes.

        Examples
        --------
        >>> import bayesnb
        >>> monday = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> tuesday = bayesnb.TextClassifier().fit(["free coffee", "lunch at ten"], ["spam", "ham"])
        >>> (monday + tuesday).class_count_.tolist()
        [2.0, 2.0]
        >>> sorted(monday.merge(tuesday).vocabulary_)
        ['at', 'coffee', 'free', 'lunch', 'now', 'prices', 'ten']
        """
        if type(other) is not type(self):
            raise TypeError(f"{type(self).__name__} merges with its own kind only, not with {type(other).__name__}")
        check_is_fitted(self, "posterior_")
        check_is_fitted(other, "posterior_")
        with turn(self):
            settings = self._settings()
            for reading in (other._reading(other._fitted), self._reading(settings)):
                self._refuse_other_reading(settings, reading)
            _refuse_other_settings(settings, other._settings())
            return self._become(self._draft()._adopt(self._state.add(other._state), settings))

    def __add__(self, other: Self) -> Self:
        return self._draft().merge(other) if isinstance(other, PosteriorClassifier) else NotImplemented

    def __radd__(self, other: Any) -> Self:
        if not (isinstance(other, int) and other == 0):  # what `sum` begins with
            return NotImplemented
        check_is_fitted(self, "posterior_")
        return self._draft()

    def with_class_prior(self, class_prior: Any) -> Self:
        """Return a copy with other base rates and the same phi; nothing is fitted again.

        Parameters
        ----------
        class_prior : number, Dirichlet, sequence or mapping
            As the argument of the same name, such as ``{"ham": .99, "spam": .01}``.

        Returns
        -------
        estimator
            A new one; this one stays as it is.

        Raises
        ------
        ValueError
            The numbers are no class prior, or the estimator is not fitted.

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> rare = tc.with_class_prior({"ham": 0.99, "spam": 0.01})
        >>> [float(model.predict_proba(["free discount"])[0, 1].round(3)) for model in (tc, rare)]
        [0.9, 0.057]
        """
        check_is_fitted(self, "posterior_")
        new = self._draft()
        new.class_prior, new.fit_prior = class_prior, True
        return new._adopt(self._state, replace(self._fitted, class_prior=class_prior, fit_prior=True))

    # --- predicting -----------------------------------------------------------------------------------------

    def predict_joint_log_proba(self, X: Any) -> np.ndarray:
        """Log p(y = k, x): class share times token sequence, no multinomial coefficient.

        Parameters
        ----------
        X : documents
            As in `fit`, N of them.

        Returns
        -------
        ndarray, shape (N, K)
            In nats, columns in the order of `classes_`.

        Raises
        ------
        ValueError
            Invalid documents, or the estimator is not fitted.

        Examples
        --------
        >>> import bayesnb
        >>> import numpy as np
        >>> clf = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"])
        >>> np.exp(clf.predict_joint_log_proba([[1, 0]])).round(6).tolist()  # 1/2 x 3/4 and 1/2 x 1/4
        [[0.375, 0.125]]
        """
        posterior, settings, X = self._scored(X)
        return posterior.log_joint(X, settings.estimate, settings.power)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Log P(y = k | x).

        Parameters
        ----------
        X : documents
            As in `fit`, N of them.

        Returns
        -------
        ndarray, shape (N, K)
            In nats, columns in the order of `classes_`.

        Raises
        ------
        ValueError
            Invalid documents, or one that is impossible under every class.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"])
        >>> clf.predict_log_proba([[1, 0], [900, 0]]).round(3).tolist()  # probabilities below the smallest float too
        [[-0.288, -1.386], [0.0, -988.751]]
        """
        posterior, settings, X = self._scored(X)
        return posterior.log_proba(X, settings.estimate, settings.power)

    def predict_proba(self, X: Any) -> np.ndarray:
        """P(y = k | x).

        Parameters
        ----------
        X : documents
            As in `fit`, N of them.

        Returns
        -------
        ndarray, shape (N, K)
            Columns in the order of `classes_`; rows sum to 1.

        Raises
        ------
        ValueError
            As `predict_log_proba`.

        Examples
        --------
        >>> import bayesnb
        >>> clf = bayesnb.MultinomialNB().fit([[2, 0], [0, 2]], ["ham", "spam"])
        >>> clf.predict_proba([[1, 0], [1, 3]]).round(3).tolist()
        [[0.75, 0.25], [0.1, 0.9]]
        """
        log_proba = self.predict_log_proba(X)
        return np.exp(log_proba, out=log_proba)

    def predict(self, X: Any, abstain: float | None = None) -> np.ndarray:
        """Most probable label of each document.

        Parameters
        ----------
        X : documents
        abstain : float, optional
            Answer None, in an array of objects, unless P(that label has the largest class probability | D) is at
            least this: the probability that more data of the same kind would not change the answer.

        Returns
        -------
        ndarray, shape (N,)
            Labels of `classes_`, the first where several tie.

        Raises
        ------
        ValueError
            Invalid documents, or a level outside (0, 1).

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> tc.predict(["coffee game", "free discount", "free coffee"]).tolist()
        ['ham', 'spam', 'ham']
        >>> tc.predict(["coffee game", "free discount", "free coffee"], abstain=0.8).tolist()
        [None, 'spam', None]
        """
        from bayesnb import uncertainty

        posterior, settings, X = self._scored(X)
        best = posterior.most_probable(X, settings.estimate, settings.power)
        labels = posterior.classes[best]
        if abstain is None:
            return labels
        abstain = validate.level(abstain, "abstain")
        sure = uncertainty.probability_largest(posterior, X, settings.power)[np.arange(len(best)), best] >= abstain
        answer = labels.astype(object)
        answer[~sure] = None
        return answer

    def predict_interval(self, X: Any, level: float = 0.95) -> np.ndarray:
        """Credible interval of each class probability.

        It is the interval of P(y = k | x, theta, phi) over the posterior of theta and phi: how far the probability
        could lie elsewhere, given how little was learnt. It is not the chance of being right, which is what
        ``estimate="predictive"`` gives. With two classes the ends are exact to 1e-6 where it matters; with more, the
        probability beyond an end is right to about 0.002. See `uncertainty.class_probability_interval`.

        Parameters
        ----------
        X : documents
        level : float, 0 < level < 1
            Credible level.

        Returns
        -------
        ndarray, shape (N, K, 2)
            Lower and upper ends.

        Raises
        ------
        ValueError
            Invalid documents, or a level outside (0, 1).

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> tc.predict_proba(["free discount"]).round(2).tolist()
        [[0.1, 0.9]]
        >>> tc.predict_interval(["free discount"], level=0.8).round(2).tolist()  # wide: five mails were learnt
        [[[0.02, 0.54], [0.46, 0.98]]]
        """
        from bayesnb import uncertainty

        level = validate.level(level)
        posterior, settings, X = self._scored(X)
        return uncertainty.class_probability_interval(posterior, X, level, settings.power)

    def loo(self, X: Any, y: Any, sample_weight: Any = None) -> Loo:
        """Score each learnt document by the model without it, exactly and in one pass.

        Parameters
        ----------
        X, y, sample_weight
            Documents as they were learnt; all, or some of them. Totals cannot tell which documents they are made of:
            only one that does not fit into them is refused.

        Returns
        -------
        Loo
            ``.probabilities`` (N, K), ``.log_score`` (N,) = log P(y_i | x_i, D without i), ``.errors``, ``.note``.
            Equals fitting again without the document, with classes, vocabulary and prior held fixed. A class with one
            document has probability 0 without it under "map" and "mle": its log score is -inf; the note names it.

        Raises
        ------
        ValueError
            A document was not learnt, or the estimate does not exist without it; the row is named.

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> scored = tc.loo(toy.texts, toy.y)
        >>> scored.errors, scored.log_score.round(2).tolist()
        (0, [-0.05, -0.32, -0.42, -0.07, -0.58])
        """
        from bayesnb.selection import loo as selection_loo

        posterior, settings, X = self._scored(X)
        own = class_codes(_targets(self, y), posterior.classes)
        return selection_loo.leave_one_out(posterior, X, own, sample_weight, settings.estimate, settings.power)

    # --- looking inside -------------------------------------------------------------------------------------

    def token_ratios(
        self,
        numerator: Any = None,
        denominator: Any = None,
        level: float = 0.95,
        tokens: Iterable[Any] | None = None,
        shared: Any = None,
    ) -> pd.DataFrame:
        """Exact posterior of phi_numerator / phi_denominator, a row per token, in token order.

        Columns, all explained in `contrast.token_ratios`: raw counts (count_num, count_den, total_num, total_den), the
        ratio of the modes and of the Laplace estimates (ratio_map, ratio_laplace), its posterior median and credible
        interval (ratio_median, lower, upper, and log_lower, log_upper), mean and sd of its log, prob_greater =
        P(ratio > 1), log_bayes_factor of "different" against "same", and expected_wrong_direction. To rank tokens by
        how surely they differ, sort by the interval end nearest 1::

            surest = np.maximum(table.log_lower, -table.log_upper).sort_values(ascending=False).index
            table.loc[surest, ["ratio_median", "lower", "upper", "prob_greater"]]

        Parameters
        ----------
        numerator, denominator : class labels, optional
            Without a denominator: against all other classes pooled into one. Without either: every pair of classes,
            in the order of `classes_`, indexed by (numerator, denominator, token).
        level : float
            Credible level of the interval.
        tokens : iterable, optional
            Only these tokens, in this order.
        shared : float, array_like of shape (V,), Dirichlet or Beta, optional
            Prior of the one phi under "same"; the Bayes factor needs it where the classes' priors differ.

        Returns
        -------
        pandas.DataFrame
            Indexed by token, or by (numerator, denominator, token).

        Raises
        ------
        ValueError
            Unknown class or token, a level outside (0, 1), or classes to be pooled whose priors differ.

        Examples
        --------
        >>> import bayesnb
        >>> import pandas as pd
        >>> papers = bayesnb.load_federalist()
        >>> clf = bayesnb.MultinomialNB().fit(pd.DataFrame(papers.X.toarray(), columns=papers.tokens), papers.y)
        >>> table = clf.token_ratios("HAMILTON", "MADISON")
        >>> table.loc["upon", ["count_num", "count_den", "ratio_median", "lower", "upper"]].round(1).tolist()
        [374.0, 7.0, 13.6, 7.4, 28.7]
        """
        from bayesnb import contrast

        check_is_fitted(self, "posterior_")
        return contrast.token_ratios(
            self.posterior_, numerator, denominator, level=level, tokens=tokens, alpha=self._fitted.alpha, shared=shared
        )

    def explain(self, x: Any, classes: tuple[Any, Any] | None = None, level: float = 0.95) -> pd.DataFrame:
        """Log-odds of one document, by token or column, with a credible interval each; see `uncertainty.explain`.

        Parameters
        ----------
        x : document
            One text, or the counts, categories or measurements of one document: a row, or a table with one row.
        classes : pair of labels, optional
            For the first and against the second; by default the predicted class against the runner-up.
        level : float
            Credible level.

        Returns
        -------
        pandas.DataFrame
            As `uncertainty.explain` gives it; ``attrs["classes"]`` holds the two labels.

        Raises
        ------
        ValueError
            Not one document, an unknown class, or parameters that have no posterior.

        Examples
        --------
        >>> import bayesnb
        >>> toy = bayesnb.load_toy_spam()
        >>> tc = bayesnb.TextClassifier().fit(toy.texts, toy.y)
        >>> tc.explain("free coffee").round(2)
                       count  contribution  lower  upper
        token
        (class prior)    1.0         -0.41  -2.01   1.25
        coffee           1.0          1.30  -0.73   2.98
        free             1.0         -0.89  -2.71   1.00
        """
        from bayesnb import uncertainty

        posterior, settings, X = self._scored(self._one(x))
        return uncertainty.explain(posterior, X, settings.estimate, settings.power, classes=classes, level=level)

    @property
    def class_count_(self) -> np.ndarray:
        """Documents (their weights) in each class, shape (K,)."""
        return self.posterior_.statistics.class_count

    @property
    def feature_count_(self) -> np.ndarray:
        """Occurrences, or documents that hold the token, by class, shape (K, V)."""
        return self.posterior_.statistics.feature_count

    @property
    def class_log_prior_(self) -> np.ndarray:
        """Log of the estimated class probabilities, shape (K,)."""
        return self.posterior_.log_theta(self._fitted.estimate)

    @property
    def feature_log_prob_(self) -> np.ndarray:
        """Log of the estimated phi, shape (K, V); the posterior mean where the estimate is predictive."""
        return self.posterior_.log_phi(self._fitted.estimate)

    # --- files ----------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> str:
        """Write the model file, whole or not at all, and return the model's fingerprint.

        The file keeps prior and counts, so what `bayesnb.load` gives predicts bit for bit the same and can go on
        learning.

        Parameters
        ----------
        path : path-like
            A file that stands there is replaced in one step.

        Returns
        -------
        str
            Sha256 of settings, names and totals, as hexadecimal digits.

        Raises
        ------
        ValueError
            Part of the model has no form in a file.
        OSError
            The file cannot be written; an old one is whole.

        Examples
        --------
        >>> import bayesnb
        >>> tc = bayesnb.TextClassifier().fit(["free prices now", "coffee at ten"], ["spam", "ham"])
        >>> fingerprint = tc.save("mail.safetensors")
        >>> len(fingerprint), bayesnb.load("mail.safetensors").predict(["free coffee prices"]).tolist()
        (64, ['spam'])
        """
        check_is_fitted(self, "posterior_")
        return storage.save(self._model(), path)

    @classmethod
    def _restored(cls, model: storage.Model, **parameters: Any) -> Self:
        names = set(cls._get_param_names())
        values = {name: getattr(model.settings, name) for name in _SETTING if name in names}
        return cls(**values, **parameters)._adopt(model.state, model.settings)

    # --- helpers --------------------------------------------------------------------------------------------

    _forced: ClassVar[float] = 1e-10  # scikit-learn's smallest alpha where force_alpha is False

    def _settings(self) -> Settings:
        values = {name: getattr(self, name) for name in _SETTING if hasattr(self, name)}
        if not given.flag(getattr(self, "force_alpha", True), "force_alpha"):
            values["alpha"] = np.maximum(given.floats(values["alpha"], "alpha must be numbers >= 0"), self._forced)
        return Settings(event=self._event, **values)

    def _learn(
        self, X: Any, y: Any, weight: Any, settings: Settings, *, reset: bool, classes: np.ndarray | None = None
    ) -> State:
        counts, tokens, fixed = self._read(X, settings, reset=reset)
        y = _targets(self, y)
        return State.learn(settings.event, counts, y, tokens, weight=weight, classes=classes, fixed=fixed)

    def _learn_part(self, X: Any, y: Any, settings: Settings) -> tuple[State, ...]:
        """Totals of some of the documents to learn from, such as a worker has; each of them adds up for itself."""
        return (self._learn(X, y, None, settings, reset=True),)

    def _whole(self, states: tuple[State, ...], settings: Settings) -> State:
        """What is learnt, from the sums of what `_learn_part` gave of all documents."""
        return states[0]

    def _declared(self, classes: Any, known: State | None) -> np.ndarray | None:
        named = None if classes is None else np.unique(validate.labels(classes))
        if known is None:
            return named
        if named is not None and not np.array_equal(named, known.classes):
            raise ValueError(
                f"`classes={given.shown(named.tolist())}` is not the same as on last call to partial_fit, "
                f"was: {given.shown(known.classes.tolist())}"
            )
        return known.classes if known.closed else None

    def _reading(self, settings: Settings) -> dict[str, Any]:
        """How documents become totals."""
        return settings.reading

    def _refuse_other_reading(self, settings: Settings, other: dict[str, Any] | None = None) -> None:
        """Totals of documents that were read in two ways have no meaning."""
        mine = self._reading(self._fitted)
        for name, value in (self._reading(settings) if other is None else other).items():
            if value != mine[name]:
                raise ValueError(
                    f"{name}={value!r} reads documents in another way than {name}={mine[name]!r}, which the totals "
                    "were counted with; fit again"
                )

    def _draft(self) -> Self:
        """Copy that learns in our place, so that a failure leaves everything as it was."""
        new = object.__new__(type(self))
        new.__dict__ = dict(self.__dict__)
        return new

    def _become(self, new: Self) -> Self:
        """Take over all that a draft has learnt, in one step: other threads see the old state or the new one."""
        with turn(self):
            self.__dict__ = new.__dict__
        return self

    def _adopt(self, state: State, settings: Settings) -> Self:
        posterior = settings.posterior(state)
        self._state, self._fitted, self.classes_, self.posterior_ = state, settings, posterior.classes, posterior
        return self

    def _scored(self, X: Any) -> tuple[Any, Settings, Any]:
        now = object.__new__(type(self))
        now.__dict__ = self.__dict__  # the state of this moment, whole, while another thread may learn
        check_is_fitted(now, "posterior_")
        _warn_of_impossible_classes(now.posterior_, now._fitted.estimate)
        return now.posterior_, now._fitted, now._counts(X, now._fitted)


def _refuse_other_settings(mine: Settings, theirs: Settings) -> None:
    """Totals have no settings of their own: two estimators must agree on what to make of them."""
    for name in _SETTING:
        one, other = getattr(mine, name), getattr(theirs, name)
        if not same_setting(one, other):
            raise ValueError(
                f"the settings differ: {name}={one!r} in the first and {name}={other!r} in the second; choose one for "
                f"both with set_params({name}=...), then merge"
            )


def _warn_of_impossible_classes(posterior: Posterior, estimate: str) -> None:
    """A declared class without documents has mode 0: true of the mode, and rarely what its user wants."""
    if posterior.prior.theta.known is not None or (posterior.statistics.class_count > 0).all():
        return
    never = posterior.classes[posterior.theta_hat(estimate) == 0].tolist()
    if never:
        warnings.warn(
            f"class {never[0]!r} has no document and probability 0 under estimate={estimate!r}; "
            "use estimate='mean' to leave it its share of the prior",
            UserWarning,
            stacklevel=4,
        )


def _targets(estimator: BaseEstimator, y: Any) -> np.ndarray:
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    if getattr(y, "ndim", 1) == 2:
        y = column_or_1d(y, warn=True)
    y = validate.labels(y)
    if not len(y):
        raise ValueError("Found array with 0 sample(s) (shape=(0,)) while a minimum of 1 is required: y is empty")
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        row = int(np.argmax(y != np.floor(y)))
        raise ValueError(f"Unknown label type: continuous. Label {y[row]:g} at row {row} is no class; make it a string")
    return y
