"""Ways to make a model file wrong, each with the words its refusal must hold."""

import numpy as np


def setting(name, value):
    """An edit of one setting."""
    return lambda f: f.document["model"]["settings"].update({name: value})


def model(name, value):
    """An edit of one field of the model."""
    return lambda f: f.document["model"].update({name: value})


def document(name, value):
    """An edit of one field of the document."""
    return lambda f: f.document.update({name: value})


def entry(tensor, **changes):
    """An edit of one entry of the table of arrays."""
    return lambda f: f.table[tensor].update(changes)


def array(tensor, values):
    """An edit of the values of an array."""
    return lambda f: f.put(tensor, values)


def labels(kind, values):
    """An edit of the class labels."""
    return model("classes", {"type": kind, "values": values})


def known(names, probabilities):
    """An edit of the known class prior."""
    labelled = {"labels": {"type": "object", "values": names}, "probabilities": probabilities}
    return setting("class_prior", labelled)


NAN, INFINITY = float("nan"), float("inf")

JSON_EDITS = {
    "schema newer": (document("schema", 2), "schema: 2 is newer.*upgrade"),
    "schema far newer": (document("schema", 10**30), "schema: .*upgrade"),
    "schema 0": (document("schema", 0), "schema"),
    "schema float": (document("schema", 1.0), "schema"),
    "schema true": (document("schema", True), "schema"),
    "schema text": (document("schema", "1"), "schema"),
    "schema missing": (lambda f: f.document.pop("schema"), "schema"),
    "key missing": (lambda f: f.document.pop("meta"), "document: missing .'meta'."),
    "key unknown": (document("extra", 1), "document: .*unknown .'extra'."),
    "date number": (document("date", 5), "date"),
    "date words": (document("date", "yesterday"), "date"),
    "date local": (document("date", "2024-01-01T00:00:00"), "date"),
    "versions": (document("versions", {"numpy": 2}), "versions"),
    "meta list": (document("meta", []), "meta"),
    "meta NaN": (document("meta", {"x": NAN}), "bayesnb: NaN"),
    "fingerprint short": (document("fingerprint", "ab"), "fingerprint"),
    "fingerprint other": (document("fingerprint", "0" * 64), "fingerprint"),
    "summary": (document("summary", None), "summary"),
    "summary prior": (lambda f: f.document["summary"].update(prior=1), "summary: prior"),
    "summary counts": (lambda f: f.document["summary"].update(class_count=[2, 3]), "summary: class_count"),
    "summary length": (lambda f: f.document["summary"].update(class_count=[2]), "summary: class_count"),
    "summary text": (lambda f: f.document["summary"].update(tokens_seen=["5", "5"]), "summary: tokens_seen"),
    "summary none": (lambda f: f.document["summary"].update(tokens_seen=None), "summary: tokens_seen"),
    "model": (document("model", 3), "model"),
    "model key missing": (lambda f: f.document["model"].pop("closed"), "model: missing .'closed'."),
    "model key unknown": (model("loss", 1), "model: .*'loss'"),
    "kind": (model("kind", "image"), "kind"),
    "kind matrix": (model("kind", "matrix"), "kind"),
    "tokens number": (model("tokens", 5), "tokens"),
    "columns": (model("columns", "range"), "columns"),
    "closed": (model("closed", 0), "closed"),
    "fixed": (model("fixed", None), "fixed"),
    "n_tokens negative": (model("n_tokens", -1), "n_tokens"),
    "n_tokens other": (model("n_tokens", 6), "tensor 'feature_count'"),
    "n_tokens huge": (model("n_tokens", 2**62), "tensor 'feature_count'"),
    "n_tokens float": (model("n_tokens", 5.0), "n_tokens"),
    "classes": (model("classes", ["ham", "spam"]), "classes"),
    "no class": (labels("object", []), "classes"),
    "a class too many": (labels("object", ["a", "b", "c"]), "summary|class_count"),
    "labels twice": (labels("object", ["ham", "ham"]), "classes: 'ham' .*twice"),
    "labels unsorted": (labels("object", ["spam", "ham"]), "classes: .*sorted"),
    "labels mixed": (labels("object", ["ham", 1]), "classes"),
    "labels of no type": (labels("datetime64", [1, 2]), "classes"),
    "labels of a list": (labels(["object"], [1, 2]), "classes"),
    "labels too large": (labels("int8", [1, 300]), "classes"),
    "labels true": (labels("int64", [0, True]), "classes"),
    "labels float": (labels("int64", [0, 1.0]), "classes"),
    "labels rounded": (labels("float16", [0.1, 0.5]), "classes"),
    "labels overflow": (labels("float16", [0.5, 1e300]), "classes"),
    "labels 1e999": (lambda f: labels("float64", [0.5, 1e300])(f), "classes|fingerprint"),
    "labels NUL": (labels("str", ["a", "b\x00"]), "classes: .*NUL"),
    "labels surrogate": (labels("object", ["a", "\ud800"]), "classes: .*surrogate"),
    "settings": (model("settings", []), "settings"),
    "setting missing": (lambda f: f.document["model"]["settings"].pop("alpha"), "settings: .*alpha"),
    "setting unknown": (setting("gamma", 1.0), "settings"),
    "event": (setting("event", "poisson"), "settings: event"),
    "event number": (setting("event", 1), "settings: event"),
    "estimate": (setting("estimate", "mode"), "settings: estimate"),
    "alpha text": (setting("alpha", "abc"), "settings: alpha"),
    "alpha null": (setting("alpha", None), "settings: alpha"),
    "alpha array": (setting("alpha", {"array": [5]}), "tensors: missing .'alpha'."),
    "alpha list": (setting("alpha", [1.0]), "settings: alpha"),
    "prior name": (setting("prior", "secret"), "settings|prior"),
    "prior shape": (setting("prior", {"array": [5, 2]}), "tensor 'prior'"),
    "prior shape 3": (setting("prior", {"array": [1, 2, 5]}), "settings: prior"),
    "prior shape huge": (setting("prior", {"array": [2**70]}), "tensor 'prior'"),
    "prior form": (setting("prior", {"gamma": 1.0}), "settings: prior"),
    "prior beta": (setting("prior", {"beta": [1.0]}), "settings: prior"),
    "prior beta in beta": (setting("prior", {"beta": [1.0, {"beta": [1.0, 1.0]}]}), "settings: prior"),
    "prior dirichlet": (setting("prior", {"dirichlet": "x"}), "settings: prior"),
    "prior number": (setting("prior", -1.0), "tensors"),
    "class prior sum": (known(["ham", "spam"], [0.5, 0.9]), "settings: .*sum"),
    "class prior class": (known(["eggs", "spam"], [0.5, 0.5]), "settings: .*eggs"),
    "class prior length": (known(["ham", "spam"], [1.0]), "settings: class_prior"),
    "class prior text": (known(["ham", "spam"], ["0.5", "0.5"]), "settings: class_prior"),
    "class prior name": (setting("class_prior", "uniform"), "settings: class_prior"),
    "class prior negative": (setting("class_prior", -1.0), "settings: .*class_prior"),
    "fit_prior": (setting("fit_prior", 1), "settings: fit_prior"),
    "binary": (setting("binary", "no"), "settings: binary"),
    "power": (setting("power", 0.0), "settings: power|power"),
    "power text": (setting("power", "1"), "settings: power"),
    "binarize": (setting("binarize", "0"), "settings: binarize"),
    "a setting of another model": (setting("power", 0.5), "fingerprint"),
}  # fmt: skip

EMPTY = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
TABLE_EDITS = {
    "tensor missing": (lambda f: f.table.pop("class_count"), "size|gap|tensor"),
    "tensor unknown": (lambda f: f.table.update(more=EMPTY), "tensors: .*'more'"),
    "entry no object": (lambda f: f.table.update(prior=3), "tensor 'prior'"),
    "entry key": (entry("prior", strides=[8]), "tensor 'prior'"),
    "dtype": (entry("prior", dtype="BF16"), "tensor 'prior': dtype"),
    "dtype list": (entry("prior", dtype=["F64"]), "tensor 'prior': dtype"),
    "dtype of the counts": (entry("class_count", dtype="I64"), "tensor 'class_count'"),
    "dtype of the same size": (entry("prior", dtype="I64"), "tensor 'prior': dtype I64 is not F64"),
    "shape text": (entry("prior", shape="25"), "tensor 'prior': shape"),
    "shape negative": (entry("prior", shape=[-2, -5]), "tensor 'prior': shape"),
    "shape float": (entry("prior", shape=[2.0, 5]), "tensor 'prior': shape"),
    "shape true": (entry("prior", shape=[True, 10]), "tensor 'prior': shape"),
    "shape turned": (entry("feature_count", shape=[5, 2]), "tensor 'feature_count': shape"),
    "shape flat": (entry("feature_count", shape=[10]), "tensor 'feature_count': shape"),
    "shape huge": (entry("feature_count", shape=[2**40, 2**40]), "tensor 'feature_count'"),
    "shape overflow": (entry("feature_count", shape=[2**63, 2]), "tensor 'feature_count'"),
    "offsets one": (entry("prior", data_offsets=[0]), "tensor 'prior': data_offsets"),
    "offsets negative": (entry("prior", data_offsets=[-80, 0]), "tensor 'prior': data_offsets"),
    "offsets turned": (entry("prior", data_offsets=[80, 0]), "tensor 'prior': data_offsets"),
    "offsets text": (entry("prior", data_offsets=["0", "80"]), "tensor 'prior': data_offsets"),
    "offsets far": (entry("prior", data_offsets=[2**60, 2**60 + 80]), "tensor 'prior': data_offsets"),
    "offsets overlap": (entry("vocabulary_offsets", data_offsets=[8, 56]), "overlap"),
    "a tail": (lambda f: setattr(f, "data", f.data + b"x"), "size"),
}  # fmt: skip

ARRAY_EDITS = {
    "documents NaN": ("class_count", [NAN, 1.5], "class_count"),
    "documents negative": ("class_count", [-2.5, 2.5], "class_count"),
    "documents other": ("class_count", [3.5, 2.5], "summary: class_count"),
    "counts infinite": ("feature_count", [[INFINITY, 0, 0, 0, 0.5], [0] * 5], "feature_count"),
    "counts negative": ("feature_count", [[-1.0, 0, 0, 0, 0.5], [0] * 5], "feature_count"),
    "counts other": ("feature_count", [[9.0, 0, 0, 0, 0.5], [0] * 5], "summary: tokens_seen"),
    "counts moved": ("feature_count", [[7.5, 0, 0, 0, 0], [7.5, 0, 0, 0, 0]], "fingerprint"),
    "prior NaN": ("prior", np.full((2, 5), NAN), "settings: .*prior"),
    "prior 0": ("prior", np.zeros((2, 5)), "settings: .*prior"),
    "prior other": ("prior", np.ones((2, 5)), "fingerprint"),
    "names twice": ("vocabulary", [*b"cashcashnowteawin"], "vocabulary': 'cash' .*twice"),
    "names unsorted": ("vocabulary", [*b"cashmilkteanowwin"], "vocabulary': .*sorted"),
    "names of no text": ("vocabulary", [*b"cas\xffmilknowteawin"], "vocabulary': .*utf-8"),
    "names surrogate": ("vocabulary", [*b"c\xed\xa0\x80milknowteawin"], "vocabulary': .*utf-8"),
    "names other": ("vocabulary", [*b"cashmilknowteawit"], "fingerprint"),
    "places fall": ("vocabulary_offsets", [0, 8, 4, 11, 14, 17], "vocabulary_offsets"),
    "places beyond": ("vocabulary_offsets", [0, 4, 8, 11, 14, 2**62], "vocabulary_offsets"),
    "places negative": ("vocabulary_offsets", [-1, 4, 8, 11, 14, 17], "vocabulary_offsets"),
    "places short": ("vocabulary_offsets", [0, 4, 8, 11, 14, 16], "vocabulary_offsets"),
    "places moved": ("vocabulary_offsets", [0, 3, 8, 11, 14, 17], "vocabulary|fingerprint"),
}
