"""Sampling: model files by name and path, refusals, chosen tokens, and a tree that survives a file."""

import subprocess
import sys

import arviz_plots as azp
import numpy as np
import pymc as pm
import pytest
import xarray as xr

import bayesnb
from bayesnb import cli
from bayesnb.events import multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.sampling import aggregate, find_model, limits, sample, to_tree
from tests.fits import NASTY, TOKENS, bernoulli_fit, dirichlet_fit, gamma_fit, presence, toy

USER_MODEL = """
import numpy as np
import pymc as pm

def build(data, prior, form=None):
    with pm.Model(coords={"class": np.arange(data.n_classes)}) as model:
        n = pm.Data("n", data.class_count, dims="class")
        pm.Gamma("rate", 1 + n, 1, dims="class")
    return model
"""


@pytest.fixture
def user_file(tmp_path):
    def write(text):
        path = tmp_path / "mine.py"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    "tree",
    [gamma_fit, bernoulli_fit, dirichlet_fit, lambda: to_tree(toy(tokens=NASTY, classes=(True, False)), draws=9)],
)
def test_the_tree_comes_back_identical_from_a_file(tree, tmp_path):
    """netCDF keeps values, names and attributes, for sampled and exact draws and for any token."""
    tree = tree()
    tree.to_netcdf(tmp_path / "draws.nc")
    with xr.open_datatree(tmp_path / "draws.nc") as back:
        assert back.load().identical(tree)


@pytest.mark.parametrize("tree", [gamma_fit, lambda: to_tree(toy(), draws=50)])
@pytest.mark.parametrize("plot", ["plot_trace_dist", "plot_rank", "plot_forest", "plot_dist", "plot_ess"])
def test_arviz_draws_either_tree(tree, plot):
    """Its pictures take their sample dimensions from the tree's attributes, where they find some."""
    kept = tree().posterior["theta"].to_dataset().assign_attrs(tree().posterior.attrs)
    drawn = getattr(azp, plot)(xr.DataTree.from_dict({"posterior": kept}), var_names=["theta"], backend="none")
    assert "theta" in drawn.aes.children or drawn.viz.children


def test_the_tree_says_what_it_holds_and_how_it_was_made():
    """Groups, dimensions, names in order, and everything needed to make it again."""
    tree = gamma_fit()
    assert {"posterior", "sample_stats", "observed_data", "constant_data"} == set(tree.children)
    assert dict(tree["posterior"].sizes) == {"chain": 4, "draw": 1000, "class": 2, "token": 14}
    assert set(tree["posterior"].data_vars) == {"theta", "phi"}
    assert list(tree["posterior"]["token"].values) == TOKENS
    assert list(tree["posterior"]["class"].values) == ["ham", "spam"]
    assert tree["posterior"]["phi"].dims == ("chain", "draw", "class", "token")
    wanted = {"seed": 0, "sampler": "nutpie", "model": "multinomial", "form": "gamma", "rest": "", "tune": 1000}
    assert wanted.items() <= tree.attrs.items()
    assert tree.attrs["prior"] == "phi ~ Dirichlet(1), theta ~ Dirichlet(1)"
    assert {"bayesnb_version", "pymc_version", "sampler_version"} <= tree.attrs.keys()
    np.testing.assert_array_equal(tree["observed_data"]["n_token"].values, toy().statistics.feature_count)
    np.testing.assert_array_equal(tree["constant_data"]["phi_concentration"].values, np.ones((2, 14)))


def test_exact_trees_hold_the_same_groups_and_variables_as_sampled_ones():
    """Exact draws are a drop-in for sampled ones, whether theta is random or known."""
    for fit, posterior in ((gamma_fit, toy()), (bernoulli_fit, presence())):
        sampled, exact = fit(), to_tree(posterior, draws=20)
        for group in ("posterior", "observed_data", "constant_data"):
            assert set(sampled[group].data_vars) == set(exact[group].data_vars), group
        for name, value in exact["constant_data"].data_vars.items():
            np.testing.assert_array_equal(value, sampled["constant_data"][name])
        assert exact["sample_stats"]["diverging"].sum() == 0


def test_exact_trees_are_the_posterior_s_own_draws():
    """`to_tree` changes neither values nor seed."""
    np.testing.assert_array_equal(to_tree(toy(), draws=7, seed=3)["posterior"]["phi"], toy().draw(7, 4, 3)["phi"])


def test_names_that_netcdf_cannot_tell_apart_are_refused():
    """NUL is stored as its symbol; a second token written alike is an error, not a duplicate."""
    assert list(to_tree(toy(tokens=NASTY), draws=2)["posterior"]["token"].values[4:6]) == ["nul\u2400", "\u2400"]
    with pytest.raises(ValueError, match="two tokens are written '1'"):
        to_tree(toy(tokens=[1, "1", *TOKENS[2:]]), draws=2)
    surrogate = to_tree(toy(tokens=["\ud800", *TOKENS[1:]]), draws=2)
    assert surrogate["posterior"]["token"].values[0] == "\\ud800"


def test_lumping_the_rest_is_exact():
    """Identity 7: chosen tokens keep their margins, the rest adds up, in any order of choice."""
    whole, small = toy().phi.concentration, aggregate(toy(), ["investors", "a"])
    assert list(small.tokens) == ["investors", "a", "other"]
    np.testing.assert_array_equal(small.phi.concentration[:, :2], whole[:, [8, 0]])
    np.testing.assert_array_equal(small.phi.total, toy().phi.total)
    np.testing.assert_array_equal(small.phi.marginal().variance()[:, 0], toy().phi.marginal().variance()[:, 8])
    assert aggregate(toy(tokens=NASTY), ["other", "$$"]).tokens.tolist() == ["other", "$$", "(other)"]
    assert len(aggregate(toy(), TOKENS[::-1]).tokens) == 14
    columns = aggregate(presence(), [2, 0])
    np.testing.assert_array_equal(columns.phi.a, presence().phi.a[:, [2, 0]])


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (["nosuch"], "token 'nosuch' is not among the vocabulary"),
        (["a", "a"], "token 'a' is chosen twice"),
        ([], "tokens is empty"),
        ("free", r"write tokens=\['free'\]"),
        (5, r"write tokens=\[5\]"),
        ([["a"]], r"tokens must be a list of names, got \['a'\] in it"),
    ],
)
def test_bad_choices_of_tokens_are_refused(tokens, message):
    """Each names the token or the remedy, before anything is sampled."""
    with pytest.raises(ValueError, match=message):
        sample(toy(), tokens=tokens)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"max_bytes": 9e5},
            r"0.00096 GB.*above the limit of 0.0009 GB.*tokens=\[...\], fewer draws or chains.*posterior.draw",
        ),
        ({"sampler": "stan"}, "sampler must be one of nutpie, pymc, exact; got 'stan'"),
        ({"draws": 0}, "draws must be a whole number of at least 1, got 0"),
        ({"chains": 2.5}, "chains must be a whole number"),
        ({"seed": -1}, "seed must be a whole number of at least 0"),
        ({"model": "multinomal"}, "model 'multinomal' is not known; models are bernoulli, .*multinomial"),
        ({"form": "beta"}, "form must be one of gamma, dirichlet"),
        ({"X": [[1] * 14], "y": ["ham"]}, "leave X and y out"),
        ({"sampler": "exact", "form": "gamma"}, "exact draws are of the closed form"),
        ({"model": "bernoulli"}, "model bernoulli.* posterior.* multinomial"),
        ({"model": 3}, "model must be a name or the path of a .py file, got int"),
        ({"max_bytes": "1GB"}, "max_bytes must be a number of bytes above 0, such as 2e9, got '1GB'"),
        ({"max_bytes": float("nan")}, "max_bytes must be a number of bytes above 0"),
        ({"sampler": "exact", "X": [[1] * 14]}, "exact draws are of the totals of the fit: leave X and y out"),
    ],
)
def test_bad_arguments_are_refused_before_sampling(arguments, message):
    """One line with what, and what to do."""
    with pytest.raises(ValueError, match=message):
        sample(toy(), **arguments)


def test_small_concentrations_are_refused_by_name():
    """Below .2 the sampler fails silently: the token, its class and the exact way out are named."""
    with pytest.raises(ValueError, match=r"token 'coffee' in class 'spam' is 0.1: below 0.2.*posterior.draw"):
        sample(toy(prior=np.full((2, 14), 0.1) + (np.arange(14) != 1) * 1.0))
    assert to_tree(toy(prior=0.1), draws=2)["posterior"].sizes["draw"] == 2


def test_what_is_no_posterior_is_refused():
    """Neither a posterior nor a fitted estimator."""
    with pytest.raises(ValueError, match="expected a fitted estimator or a Posterior, got dict"):
        sample({})


def test_a_user_s_file_is_sampled_like_ours(user_file):
    """By path, with the same seed the same draws and with another others; its own variables are kept."""
    path = user_file(USER_MODEL)
    one, two, other = (sample(toy(), path, draws=40, tune=40, chains=2, seed=s) for s in (4, 4, 5))
    assert one["posterior"]["rate"].dims == ("chain", "draw", "class")
    assert list(one["posterior"]["class"].values) == ["ham", "spam"]
    assert one.attrs["model"] == str(path)
    assert one["posterior"]["rate"].equals(two["posterior"]["rate"])
    assert not np.array_equal(one["posterior"]["rate"], other["posterior"]["rate"])


def test_pymc_s_own_sampler_gives_the_same_container(user_file, capsys):
    """The other sampler: same groups, recorded by name, and nothing on standard output."""
    tree = sample(toy(), user_file(USER_MODEL), draws=20, tune=20, chains=2, sampler="pymc")
    assert tree.attrs["sampler"] == "pymc"
    assert tree["posterior"].sizes["draw"] == 20
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import pymc\n\nx = 1 / 0\n", r"mine.py, line 3: ZeroDivisionError: division by zero"),
        ("def build(data:\n", r"mine.py, line 1: SyntaxError"),
        ("x = 1\n", r"has no function build\(data, prior, form=None\)"),
    ],
)
def test_faults_in_a_user_s_file_are_located(text, message, user_file):
    """Errors while it is read name the file and its line."""
    with pytest.raises(ValueError, match=message):
        find_model(user_file(text))


def test_faults_while_a_user_s_model_is_built_are_located(user_file):
    """An error deep inside PyMC is reported at the user's own line; a build that returns no model, by its type."""
    path = user_file("import pymc as pm\n\ndef build(data, prior, form=None):\n    return pm.Normal('x')\n")
    with pytest.raises(ValueError, match=r"mine.py, line 4: TypeError"):
        sample(toy(), path)
    with pytest.raises(ValueError, match=r"build returned int; it must return the pymc.Model"):
        sample(toy(), user_file("def build(data, prior, form=None):\n    return 3\n"))
    with pytest.raises(ValueError, match="does not exist"):
        find_model("nosuch/mine.py")


def test_models_that_need_documents_get_them(user_file):
    """X in the columns that are sampled and codes of y, -1 for unknown; without them an error."""
    saying = "repr(data.X.toarray()[0].tolist()) + repr(data.y.tolist())"
    head = "NEEDS = 'documents'\ndef build(data, prior, form=None):\n"
    path = user_file(f"{head}    raise RuntimeError({saying})\n")
    X = np.arange(42).reshape(3, 14)
    with pytest.raises(ValueError, match=r"line 3: RuntimeError: \[1.0, 90.0\]\[1, -1, 0\]"):
        sample(toy(), path, tokens=["coffee"], X=X, y=["spam", None, "ham"])
    with pytest.raises(ValueError, match="needs the documents"):
        sample(toy(), path)
    with pytest.raises(ValueError, match=r"y\[1\] is 'eggs'"):
        sample(toy(), path, X=X, y=["spam", "eggs", "ham"])


def test_an_interrupted_run_is_not_returned_as_a_short_one(monkeypatch, user_file):
    """Samplers answer Ctrl-C with the draws so far; `sample` raises it instead."""
    short = xr.DataTree.from_dict({"/posterior": xr.Dataset({"rate": (("chain", "draw"), np.ones((2, 5)))})})
    monkeypatch.setattr(pm, "sample", lambda **_: short)
    with pytest.raises(KeyboardInterrupt):
        sample(toy(), user_file(USER_MODEL), draws=40, chains=2)


def test_finding_models_does_not_load_pymc():
    """Exact draws and their check need neither PyMC nor ArviZ."""
    code = (
        "import sys, numpy as np; from bayesnb.events.multinomial import *;"
        "from bayesnb.events.theta import ClassPrior as C;"
        "from bayesnb.sampling import to_tree; from bayesnb.checks.agreement import check_agreement;"
        "p = Posterior(Prior(C(np.ones(2)), np.ones((2, 3))), Statistics([1, 1], np.ones((2, 3))));"
        "print(check_agreement(to_tree(p), p).passed, {'pymc', 'pytensor', 'arviz_base'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True set()"


def test_memory_limit_is_half_of_what_is_free(monkeypatch):
    """Without max_bytes, draws larger than half of the free memory are refused; K=2, V=14, 4000 draws are 0.96 MB."""
    monkeypatch.setattr(limits, "free_memory", lambda: 1.9e6)
    with pytest.raises(ValueError, match=r"above the limit of 0\.00095 GB"):
        sample(toy())
    posterior = multinomial.Posterior(
        multinomial.Prior(ClassPrior(concentration=np.ones(2)), np.ones((2, 2_000))),
        multinomial.Statistics(np.ones(2), np.ones((2, 2_000))),
    )
    assert to_tree(posterior, tokens=[3, 5], draws=100)["posterior"].sizes["token"] == 3


def test_a_seed_of_any_size_is_kept_in_the_file(tmp_path):
    """NumPy recommends seeds of 128 bits; netCDF has no such number, so it is kept in words."""
    tree = to_tree(toy(), draws=2, seed=2**80)
    tree.to_netcdf(tmp_path / "draws.nc")
    with xr.open_datatree(tmp_path / "draws.nc") as back:
        assert int(back.attrs["seed"]) == 2**80
    np.testing.assert_array_equal(tree["posterior"]["phi"], toy().draw(2, 4, 2**80)["phi"])


def test_draws_beyond_floating_point_are_refused():
    """A prior of alpha 0.001 puts variances above 1e308: named by column and class, no infinity in the tree."""
    vague = bayesnb.GaussianNB(prior=bayesnb.NormalInverseGamma(0, 1, 0.001, 1))
    vague.partial_fit([[0.0], [1.0]], ["a", "a"], classes=["a", "b"])
    with pytest.raises(ValueError, match=r"of token 0 in class 'b' are too large for floating-point numbers"):
        to_tree(vague)


@pytest.mark.parametrize(
    ("model", "clf"),
    [("semi_supervised", bayesnb.BernoulliNB()), ("hierarchical", bayesnb.GaussianNB(prior="weak"))],
)
def test_models_beyond_conjugacy_refuse_other_event_models(model, clf):
    """They are of multinomial posteriors; another one is told so before anything is built."""
    clf.fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "b"])
    with pytest.raises(ValueError, match=f"model {model} is of a multinomial posterior; this one is"):
        sample(clf, model, X=[[1, 0]], y=["a"])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (3, "y must be a list of labels, one a document, got 3"),
        ("ham", "y must be a list of labels"),
        ([["ham"], ["spam"]], r"y\[0\] is \['ham'\]: give one label a document"),
        (["ham", "-1"], r"y\[1\] is '-1', which is not among the classes .* None means that the class is unknown"),
        (["ham"], r"X has shape \(2, 14\), expected \(1, 14\)"),
    ],
)
def test_bad_labels_of_documents_are_refused(y, message):
    """No list, nested labels, strings that look like -1, and a wrong number of them."""
    with pytest.raises(ValueError, match=message):
        sample(toy(), "semi_supervised", X=np.ones((2, 14)), y=y)


ECHO = """
NEEDS = "documents"
def build(data, prior, form=None):
    raise RuntimeError(repr(data.X.toarray().tolist()) + repr(data.y.tolist()))
"""


def test_documents_are_read_as_the_estimator_reads_them(user_file):
    """Texts for a TextClassifier, presence for binary=True, and missing labels of any kind."""
    path, pandas = user_file(ECHO), pytest.importorskip("pandas")
    texts = bayesnb.TextClassifier().fit(["tea tea", "rum"], ["a", "b"])
    with pytest.raises(ValueError, match=r"\[\[1.0, 2.0\], \[0.0, 0.0\]\]\[0, -1\]"):
        sample(texts, path, X=["tea rum tea", "gin"], y=["a", None])
    binary = bayesnb.MultinomialNB(binary=True).fit([[3, 0], [0, 2]], [0, 1])
    with pytest.raises(ValueError, match=r"\[\[1.0, 1.0\], \[0.0, 1.0\], \[0.0, 0.0\]\]\[1, -1, -1\]"):
        sample(binary, path, X=[[5, 1], [0, 7], [0, 0]], y=[1, float("nan"), pandas.NA])


NORMAL = (
    "import pymc as pm\ndef build(data, prior, form=None):\n    with pm.Model() as m:\n        pm.{x}\n    return m\n"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import sys\nsys.exit(3)\n", "mine.py, line 2: SystemExit: 3"),
        ("NEEDS = 'docs'\ndef build(data, prior, form=None): pass\n", "NEEDS must be 'statistics' or 'documents'"),
        ("FORMS = 3\n" + NORMAL.format(x="Normal('x')"), "FORMS must be a tuple of names, got 3"),
        (NORMAL.format(x="Poisson('x', 3)"), r"discrete variables \(x\), which nutpie cannot sample.* sampler='pymc'"),
        (NORMAL.format(x="Normal('x', observed=1.0)"), "could not be sampled: .* any free variables"),
        (NORMAL.format(x="Normal('x')") + "def start(data, prior, form=None): return 1\n", "start returned int"),
        (
            NORMAL.format(x="Normal('x')") + "def start(data, prior, form=None): return {'zz': 1.0}\n",
            "could not be sampled: KeyError: 'zz'",
        ),
        ("class build:\n    def __init__(self, *a): self.free_RVs = []\n", "must return the pymc.Model"),
    ],
)
def test_faults_of_a_user_s_model_are_one_line(text, message, user_file):
    """Whatever the file does, a ValueError names it: no exit of the process, no other library's error."""
    with pytest.raises(ValueError, match=message):
        sample(toy(), user_file(text), draws=5, tune=5, chains=1)


def test_what_a_user_s_file_prints_is_no_result(user_file, capsys):
    """Standard output stays free for ours."""
    with pytest.raises(ValueError, match="returned int"):
        sample(
            toy(), user_file("print('read')\ndef build(data, prior, form=None):\n    print('built')\n    return 1\n")
        )
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "read\nbuilt\n")


COMPLETED = (
    USER_MODEL
    + """
def complete(draws, data, prior, rng):
    return {values}
"""
)


def test_what_a_user_s_complete_returns_is_looked_at(user_file, monkeypatch):
    """Dims by shape, None drops; another number of draws, no dict, and NaN are told."""
    groups = {"/posterior": xr.Dataset({"rate": (("chain", "draw", "class"), np.ones((2, 5, 2)))})}
    monkeypatch.setattr(pm, "sample", lambda **_: xr.DataTree.from_dict(groups))
    few = {"draws": 5, "chains": 2}
    values = "{'q': draws['rate'], 'r': np.ones((2, 5, 7)), 'b': draws['rate'][..., 0], 'rate': None}"
    drawn = sample(toy(), user_file(COMPLETED.replace("{values}", values)), **few)["posterior"]
    assert {name: drawn[name].dims[2:] for name in drawn.data_vars} == {"q": ("class",), "r": ("r_dim_0",), "b": ()}
    with pytest.raises(ValueError, match=r"complete gave q of shape \(3, 3\); it must start with chains and draws"):
        sample(toy(), user_file(COMPLETED.replace("{values}", "{'q': np.ones((3, 3))}")), **few)
    with pytest.raises(ValueError, match="complete returned NoneType; it must return a dict by name"):
        sample(toy(), user_file(COMPLETED.replace("{values}", "None")), **few)
    with pytest.warns(UserWarning, match="some draws of q are not finite numbers"):
        sample(toy(), user_file(COMPLETED.replace("{values}", "{'q': np.nan * draws['rate']}")), **few)


def test_the_command_takes_documents_of_unknown_class(tmp_path, user_file, capsys):
    """--unlabelled follows --data, in the model's columns, with -1 for the class."""
    for name, text in (("a", "tea tea"), ("b", "rum"), ("new", "tea rum gin")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.txt").write_text(text)
    a, b, new, model = (str(tmp_path / name) for name in ("a", "b", "new", "m"))
    assert cli.main(["fit", f"a={a}", f"b={b}", "-o", model]) == 0
    run = ["sample", model, "--model", str(user_file(ECHO)), "-o", str(tmp_path / "d.nc")]
    assert cli.main([*run, "--data", f"b={b}", "--unlabelled", new]) == 2
    assert "[[1.0, 0.0], [1.0, 1.0]][1, -1]" in capsys.readouterr().err
    assert cli.main([*run]) == 2
    assert "--data" in capsys.readouterr().err


def test_the_command_tells_convergence_where_it_cannot_check(tmp_path, user_file, monkeypatch, capsys):
    """A user's model is sampled unchecked: r_hat, effective sample size and divergences stand in its place."""
    drawn = np.random.default_rng(0).standard_normal((2, 600, 2))
    groups = {
        "/posterior": xr.Dataset({"rate": (("chain", "draw", "class"), drawn)}),
        "/sample_stats": xr.Dataset({"diverging": (("chain", "draw"), np.zeros((2, 600), bool))}),
    }
    monkeypatch.setattr(pm, "sample", lambda **_: xr.DataTree.from_dict(groups))
    (tmp_path / "a.txt").write_text("tea\n")
    (tmp_path / "b.txt").write_text("rum\n")
    model = str(tmp_path / "m")
    assert cli.main(["fit", f"a={tmp_path / 'a.txt'}", f"b={tmp_path / 'b.txt'}", "-o", model]) == 0
    run = ["sample", model, "--model", str(user_file(USER_MODEL)), "-o", str(tmp_path / "d.nc"), "--draws", "600"]
    assert cli.main(run) == 0
    assert "not checked against a closed form; largest r_hat 1.0" in capsys.readouterr().out
    drawn[1] += 5
    assert cli.main([*run, "--json"]) == 0
    assert '"max_r_hat": 1.8' in capsys.readouterr().out
