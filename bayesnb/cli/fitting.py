"""From options and labelled documents to a model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from bayesnb.cli import inputs, output

if TYPE_CHECKING:  # what takes time to import is imported where it is used: --help needs none of it
    from collections.abc import Callable, Sequence

    import numpy as np

    from bayesnb.corpus.records import Corpus
    from bayesnb.model import Settings, State
    from bayesnb.storage import Model

EVENTS = ("multinomial", "bernoulli")
ESTIMATES = ("map", "mean", "mle", "predictive")
PRIORS = ("laplace", "uniform", "jeffreys", "background", "empirical", "empirical-background")
AUTO = "auto"
_MANY = 10  # classes of which each document may be one of its own


def settings_from(
    event: str, alpha: float, prior: str | None, class_prior: str | None, estimate: str, binary: bool
) -> dict[str, Any]:
    """Estimator arguments from options, judged before any file is read.

    Raises
    ------
    ValueError
        An option has no such value.
    """
    from bayesnb.corpus.nearby import suggestion
    from bayesnb.events import empirical, priors
    from bayesnb.model import Settings

    inputs.choice("--event", event, EVENTS, " for texts and counts")
    inputs.choice("--estimate", estimate, ESTIMATES)
    if not 0 <= alpha < float("inf"):
        raise ValueError(f"--alpha must be a number >= 0, got {alpha:g}")
    if binary and event != "multinomial":
        raise ValueError("--binary goes with --event multinomial: the Bernoulli model counts presence anyway")
    given = {
        "alpha": alpha,
        "prior": _number_or_name(prior),
        "class_prior": class_prior_from(class_prior),
        "estimate": estimate,
    }
    if event == "multinomial":
        given["binary"] = binary
    Settings(event=event, **given)
    if empirical.rule(given["prior"], estimate) is None:
        try:
            priors.concentration(given["prior"], alpha, estimate)
        except ValueError as error:
            unknown = isinstance(given["prior"], str) and given["prior"] not in PRIORS
            raise ValueError(f"{error}{suggestion(given['prior'], PRIORS) if unknown else ''}") from None
    return given


def check_tokens(written: str) -> None:
    """Judge --tokens before any file is read; ValueError where it is neither a rule's name nor an expression."""
    from bayesnb.corpus.tokens import Tokenizer

    if written.isalnum():
        inputs.choice("--tokens", written, inputs.TOKENS, " or a regular expression for one token")
    Tokenizer(written)


def power_from(written: str) -> float | None:
    """The exponent of the likelihood; None where it is to be fitted.

    Raises
    ------
    ValueError
        It is neither a number above 0 nor "auto".
    """
    if written == AUTO:
        return None
    try:
        power = float(written)
    except ValueError:
        power = float("nan")
    if not 0 < power < float("inf"):
        raise ValueError(f"--power must be a number above 0, or {AUTO}; got {written!r}")
    return power


@dataclass(frozen=True, eq=False)
class Counted:
    """A labelled corpus as counts.

    Attributes
    ----------
    corpus : Corpus
        What was read.
    y : ndarray, shape (N,)
        Labels.
    X : scipy.sparse.csr_array, shape (N, V)
        Counts.
    names : ndarray of str, shape (V,)
        Tokens or columns.
    tokens : str or None
        How texts were cut; None where the corpus holds counts.
    texts : dict
        Settings of texts alone: see `bayesnb.cli.texts.options_from`.
    """

    corpus: Corpus
    y: np.ndarray
    X: Any
    names: np.ndarray
    tokens: str | None
    texts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(
        cls,
        paths: Sequence[str],
        reading: inputs.Reading,
        tokens: str,
        texts: dict[str, Any] | None = None,
        *,
        presence: bool = False,
    ) -> Counted:
        """Read a labelled corpus and count it, and show how far that is; see `of`."""
        with output.working("reading"):
            corpus = reading.labelled(paths)
        with output.progress("counting") as tell:
            return cls.of(corpus, tokens, texts, presence=presence, progress=tell)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        tokens: str,
        texts: dict[str, Any] | None = None,
        *,
        presence: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Counted:
        """Count the tokens of a corpus of texts, or take the counts it holds.

        Parameters
        ----------
        corpus : Corpus
        tokens : str
            How texts are cut.
        texts : dict, optional
            Settings of texts alone.
        presence : bool
            Whether the event model will look at presence, which is then what `max_features` goes by.
        progress : callable, optional
            Told how many documents are counted, and how many there are.

        Raises
        ------
        ValueError
            The corpus has no labels, its texts hold no token, or too few documents hold one.
        """
        import numpy as np

        from bayesnb import validate
        from bayesnb.cli.texts import chosen, refuse_for_counts
        from bayesnb.corpus.tokens import Tokenizer
        from bayesnb.model import Settings

        y, settings = validate.labels(inputs.labels_of(corpus)), Settings(**texts or {})
        if corpus.texts is None:
            refuse_for_counts(settings, corpus.source)
            return cls(corpus, y, corpus.X, np.array(corpus.tokens, dtype=object), None)
        with inputs.naming_rows(corpus):
            counted = Tokenizer(tokens, **settings.cutting).count(corpus.texts, progress=progress)
        if not counted.tokens:
            raise ValueError(
                f"empty vocabulary: {len(y)} documents hold no token by tokens={tokens!r}; "
                "choose other tokens or look at the texts"
            )
        keep = chosen(counted.X, settings, presence=presence)
        names = np.array(counted.tokens, dtype=object)[keep]
        return cls(corpus, y, counted.X[:, keep], names, tokens, texts or {})

    def settings(self, event: str, given: dict[str, Any]) -> Settings:
        """Settings for these classes: in a known class prior a label that is written 0 may be the number."""
        import numpy as np

        from bayesnb.model import Settings

        class_prior = given["class_prior"]
        if isinstance(class_prior, dict):
            classes = np.unique(self.y)
            class_prior = {inputs.find_label(classes, name, "--class-prior"): p for name, p in class_prior.items()}
        return Settings(event=event, **given | {"class_prior": class_prior} | self.texts)

    def documents(self, settings: Settings) -> Any:
        """The counts as the event model reads them."""
        with inputs.naming_rows(self.corpus):
            return settings.documents(self.X, self.names)

    def learnt(self, settings: Settings) -> State:
        """Totals, whatever may then be estimated from them."""
        return self._state(settings, self.documents(settings))

    def fitted(self, settings: Settings, power: float | None = 1.0) -> Model:
        """The model of these documents; a power of None is the one with the largest leave-one-out log score.

        Raises
        ------
        ValueError
            The estimate does not exist for these documents, or without one of them where the power is fitted.
        """
        from bayesnb.storage import Model

        documents = self.documents(settings)
        state = self._state(settings, documents)
        settings.posterior(state).require(settings.estimate)
        if power is None:
            with inputs.naming_rows(self.corpus):
                power = _fitted_power(settings, state, documents, self.y)
        return Model(replace(settings, power=power), state, tokens=self.tokens, named_columns=True)

    def _state(self, settings: Settings, documents: Any) -> State:
        from bayesnb.model import State

        fixed = self.tokens is None or settings.prunes
        return State.learn(settings.event, documents, self.y, self.names, fixed=fixed)


def _fitted_power(settings: Settings, state: State, documents: Any, y: np.ndarray) -> float:
    """As `selection.fit_power`, of totals that are there already."""
    from bayesnb.model import class_codes
    from bayesnb.selection.loo import scored_parts
    from bayesnb.selection.power import best_power

    posterior = settings.posterior(state)
    if len(posterior.classes) < 2:
        return 1.0  # whatever the power, the only class has probability 1
    return best_power(scored_parts(posterior, documents, class_codes(y, posterior.classes), None, settings.estimate))


def note_labels(counted: Counted) -> None:
    """Remark on labels that may not be what was meant: a single one, or one that looks like a missing value."""
    import numpy as np

    note_classes(*np.unique(counted.y, return_counts=True))


def note_classes(classes: np.ndarray, documents: np.ndarray) -> None:
    """The same of labels and their documents."""
    if len(classes) == 1:
        output.note(f"there is one class only, {str(classes[0])!r}: every document will be called that")
    if len(classes) > _MANY and 2 * len(classes) > documents.sum():
        output.note(
            f"{documents.sum():g} documents are of {len(classes)} classes; is the column of labels the right one?"
        )
    for label, n in zip(classes.tolist(), documents.tolist(), strict=True):
        if str(label).strip().casefold() in ("", "na", "n/a", "nan", "null", "none", "<na>", "?"):
            documents_ = "1 document has" if n == 1 else f"{n:g} documents have"
            output.note(f"{documents_} the label {label!r}, kept as a class of that name; if it means none, drop them")
    alike: dict[str, list[str]] = {}
    for label in classes.tolist():
        alike.setdefault(" ".join(str(label).split()).casefold(), []).append(repr(label))
    for labels in alike.values():
        if len(labels) > 1:
            output.note(f"{' and '.join(labels)} are classes of their own; if they mean the same, write them alike")


def note_zeros(posterior: Any, estimate: str) -> None:
    """Remark on an estimate that is 0 where a token was not seen, which some documents cannot be scored by."""
    can_be_zero = posterior.event in ("multinomial", "bernoulli") and estimate in ("mle", "map")
    if can_be_zero and (posterior.phi_hat(estimate) == 0).any():
        output.note("some probabilities are 0: a document with such tokens of every class cannot be scored")


def class_prior_from(value: str | None) -> Any:
    """A concentration of theta, or known shares by label, from the option --class-prior.

    Raises
    ------
    ValueError
        It is neither.
    """
    if value is None:
        return 1.0
    if "=" not in value:
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"--class-prior must be a number or LABEL=SHARE,..., got {value!r}") from None
    shares: dict[str, float] = {}
    for part in value.split(","):
        label, _, share = part.rpartition("=")
        if label in shares:
            raise ValueError(f"--class-prior names {label!r} twice; give each class one share")
        try:
            shares[label] = float(share)
        except ValueError:
            raise ValueError(f"--class-prior: {part!r} is not LABEL=SHARE, such as ham=.9,spam=.1") from None
    return shares


def _number_or_name(value: str | None) -> Any:
    if value is None:
        return None
    try:
        return float(value)
    except ValueError:
        return value
