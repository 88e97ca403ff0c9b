"""`verify`: every model passes, and a mistake of any kind in a model file is seen."""

import json

import pytest
from bayesnb.models import bursty, hierarchical, noisy_labels, semi_supervised
from bayesnb.models._parts import log_joint

from bayesnb.checks.verification import event_of, verify
from bayesnb.cli import main
from bayesnb.sampling.modelfiles import find_model

BERNOULLI = """
import numpy as np
import pymc as pm

def build(data, prior, form=None):
    with pm.Model() as model:
        theta = pm.Dirichlet("theta", prior.theta.concentration)
        phi = pm.Beta("phi", {prior})
        pm.Multinomial("y", n=data.class_count.sum(), p=theta, observed=data.class_count)
        n, total = data.feature_count, data.class_count[:, None]
        pm.Potential("x", {likelihood})
    return model
"""
RIGHT = {"prior": "prior.phi.a, prior.phi.b", "likelihood": "n * pm.math.log(phi) + (total - n) * pm.math.log1p(-phi)"}


@pytest.fixture
def user_file(tmp_path):
    def write(text):
        path = tmp_path / "mine.py"
        path.write_text(text)
        return str(path)

    return write


def test_every_model_of_the_library_is_verified():
    """All forms of all models, with two rows for each conjugate form and one for each of the others."""
    found = verify()
    assert found.passed, str(found)
    rows = found.table.groupby(["model", "form"], sort=False).size().to_dict()
    conjugate = {"bernoulli", "categorical", "gaussian", "multinomial"}
    assert rows == {(m, f): 2 if m in conjugate else 1 for m, f in rows}
    assert {m for m, _ in rows} >= conjugate | {"bursty", "hierarchical", "noisy_labels", "semi_supervised"}
    assert len(rows) == sum(max(1, len(find_model(name).forms)) for name in {m for m, _ in rows})


def test_a_users_right_file_passes_whatever_its_coefficient(user_file):
    """The likelihood without the binomial coefficient has the same shape; only the shape is judged."""
    found = verify(user_file(BERNOULLI.format(**RIGHT)))
    assert found.passed
    assert list(found.table["compared"]) == ["shape of the posterior, closed form"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"prior": "prior.phi.b, prior.phi.a"},
        {"prior": "2 * prior.phi.a, prior.phi.b"},
        {"likelihood": "n * pm.math.log(phi)"},
        {"likelihood": "2 * (" + RIGHT["likelihood"] + ")"},
    ],
)
def test_a_users_wrong_file_fails(user_file, wrong):
    """A prior with its shapes exchanged or doubled, a likelihood without absence, and data counted twice."""
    found = verify(user_file(BERNOULLI.format(**RIGHT | wrong)))
    assert not found.passed
    assert found.table["largest_difference"].max() > 0.1
    assert "1 of 1 comparisons disagree" in str(found)


def without_theta(theta, *others):
    return log_joint(theta * 0 + 1, *others)


@pytest.mark.parametrize(
    ("name", "module", "attribute", "value"),
    [
        ("noisy_labels", noisy_labels, "FLIP_PRIOR", (1.0, 5.0)),
        ("bursty", bursty, "MEDIAN", 120.0),
        ("semi_supervised", semi_supervised, "log_joint", without_theta),
        ("hierarchical", hierarchical, "class_probabilities", lambda *_: None),
    ],
)
def test_a_mistake_in_a_model_beyond_conjugacy_is_seen(monkeypatch, name, module, attribute, value):
    """Another prior of the flip rate or of s, classes mixed without theta, a class prior left out."""
    monkeypatch.setattr(module, attribute, value)
    if name == "hierarchical":
        with pytest.raises(KeyError, match="theta"):
            verify(name)
        return
    assert not verify(name).passed


def test_a_density_that_is_not_a_number_fails(user_file):
    """NaN does not slip through a comparison."""
    found = verify(user_file(BERNOULLI.format(**RIGHT | {"likelihood": "pm.math.log(phi - 2)"})))
    assert not found.passed


def test_files_without_a_closed_form_are_refused(user_file):
    """Other parameters, documents in place of totals, and a declared event that is none."""
    other = "import pymc as pm\ndef build(data, prior, form=None):\n    with pm.Model() as m:\n        pm.Normal('z')\n"
    with pytest.raises(ValueError, match="parameter 'z' is not one of a closed form"):
        verify(user_file(other + "    return m\n"))
    with pytest.raises(ValueError, match="has no closed form; those with one are multinomial, bernoulli"):
        verify(user_file("NEEDS = 'documents'\ndef build(data, prior, form=None): pass\n"))
    with pytest.raises(ValueError, match="has no closed form"):
        verify(user_file("EVENT = 'poisson'\ndef build(data, prior, form=None): pass\n"))
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0, got -1"):
        verify("bernoulli", seed=-1)
    with pytest.raises(ValueError, match=r"mine.py, line 1: RuntimeError: no"):
        verify(user_file("def build(data, prior, form=None): raise RuntimeError('no')\n"))


def test_the_event_of_a_users_file_is_declared_or_found(user_file):
    """A file that only a Bernoulli prior fits is one of that event; EVENT overrides."""
    assert event_of(find_model(user_file(BERNOULLI.format(**RIGHT)))) == "bernoulli"
    assert event_of(find_model(user_file("EVENT = 'gaussian'\n" + BERNOULLI.format(**RIGHT)))) == "gaussian"
    assert event_of(find_model("categorical")) == "categorical"


def test_the_command_prints_a_table_and_its_status_tells(user_file, capsys):
    """0 and a table where all agree; 1 and strict JSON where a file is wrong; 2 where there is no such model."""
    assert main(["verify", "--model", "hierarchical"]) == 0
    said = capsys.readouterr().out
    assert "hierarchical" in said
    assert "All 1 comparisons agree." in said
    wrong = user_file(BERNOULLI.format(**RIGHT | {"prior": "prior.phi.b, prior.phi.a"}))
    assert main(["verify", "--model", wrong, "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["passed"] is False
    assert told["rows"][0]["model"] == wrong
    assert main(["verify", "--model", "nonesuch"]) == 2
    assert "model 'nonesuch' is not known" in capsys.readouterr().err
