"""Models in other processes: forked before or after they scored, sent there, installed where nobody may write."""

import multiprocessing
import operator
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
import pytest

import bayesnb
from bayesnb.scorer import Scorer
from tests.test_hostile_threads import MAKERS, WORDS, Y

PROCESS = """
import os, sys, threading
import numpy as np
from scipy import sparse
import bayesnb
from bayesnb import kernels
rng = np.random.default_rng(0)
X, y = sparse.csr_array(rng.poisson(0.5, (40, 60))), np.arange(40) % 2
"""


def python(code, timeout=120, **environment):
    """Words that a fresh interpreter prints; one that hangs is ended."""
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROCESS + textwrap.dedent(code)],
        capture_output=True, text=True, timeout=timeout, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_learns_though_a_thread_of_its_parent_was_learning():
    """The lock that thread held is nobody's in the child."""
    code = """
        from bayesnb.estimators.turns import turn
        clf = bayesnb.MultinomialNB().fit(X, y)
        held, done = threading.Event(), threading.Event()
        def learn():
            with turn(clf):
                held.set()
                done.wait(30)
        thread = threading.Thread(target=learn)
        thread.start()
        held.wait()
        child = os.fork()
        if not child:
            clf.partial_fit(X, y)
            os._exit(0 if clf.class_count_.sum() == 80 else 1)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        done.set()
        thread.join()
    """
    assert python(code) == ["0"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_prefork_server_answers_alike_in_every_child(tmp_path):
    """Parent scores first, so that compiled loops, thread pools and caches are there; four children score at once."""
    code = f"""
        kernels.ALONE = kernels.LOADED = 0
        kernels.PART = 1
        os.environ["BAYESNB_NUM_THREADS"] = "3"
        texts = [" ".join(map(str, row)) for row in rng.integers(0, 500, (200, 30)) + 100]
        models = [
            (bayesnb.MultinomialNB().fit(X, y), X), (bayesnb.BernoulliNB().fit(X, y), X),
            (bayesnb.GaussianNB(prior="weak", estimate="mean").fit(X.toarray(), y), X.toarray()),
            (bayesnb.CategoricalNB().fit(X.toarray(), y), X.toarray()),
            (bayesnb.TextClassifier().fit(texts[:40], y), texts),
        ]
        models[-1][0].save({str(tmp_path / "m")!r})
        models.append((bayesnb.Scorer.load({str(tmp_path / "m")!r}), texts))
        def answers():
            found = [model.predict_proba(given).tobytes() for model, given in models]
            found += [model.predict_interval(given[:5]).tobytes() for model, given in models]
            return found + [models[-1][0].score(texts[0]).tobytes()]
        right = answers()
        children = []
        for _ in range(4):
            child = os.fork()
            if not child:
                same = answers() == right
                models[0][0].partial_fit(X, y)
                os._exit(0 if same and models[0][0].class_count_.sum() == 80 else 1)
            children.append(child)
        assert answers() == right
        print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 4)
    """
    assert python(code) == ["True"]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_models_go_to_other_processes_and_answer_alike(method, tmp_path):
    """Estimators and the scorer, pickled before and after they have scored."""
    models = [(make().fit(documents, Y), documents) for make, documents, _ in MAKERS.values()]
    models[-1][0].save(tmp_path / "m")
    models.append((Scorer.load(tmp_path / "m"), WORDS))
    asked = [(operator.methodcaller("predict_proba", documents), model) for model, documents in models]
    with multiprocessing.get_context(method).Pool(2) as pool:
        before = pool.starmap_async(operator.call, asked).get(timeout=120)
        right = [model.predict_proba(documents) for model, documents in models]
        after = pool.starmap_async(operator.call, asked).get(timeout=120)
    for one, two, three in zip(before, right, after, strict=True):
        assert np.array_equal(one, two) and np.array_equal(two, three)


READ_ONLY = """
    assert os.getuid() != 0 or os.name != "posix"
    assert not os.access(os.path.dirname(bayesnb.__file__), os.W_OK)
    assert bayesnb.__file__.startswith(os.environ["INSTALLED"])
    kernels.ALONE = kernels.LOADED = 0
    clf = bayesnb.MultinomialNB().fit(X, y)
    print(np.array_equal(clf.predict(X), clf.predict_proba(X).argmax(1)))
    print(kernels.compiled(X) is not None, clf.class_count_.tolist() == [20, 20])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other users are started as on Linux")
def test_an_installation_that_nobody_may_write_to_works(tmp_path):
    """A read-only package, no home, no cache folder; slower, since nothing compiled is kept."""
    with tempfile.TemporaryDirectory() as top:  # the folders of pytest are closed to other users
        shutil.copytree(Path(bayesnb.__file__).parent, Path(top, "bayesnb"), ignore=shutil.ignore_patterns("__pyc*"))
        for path in [Path(top), *Path(top).rglob("*")]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        code = "import sys; sys.path.insert(0, " + repr(top) + ")\n" + PROCESS + textwrap.dedent(READ_ONLY)
        if os.getuid() == 0:  # once all is imported that another user may not read
            user = "import os, numba, pandas, scipy.sparse, scipy.special, sklearn.naive_bayes\nos.setuid(65534)\n"
            code = user + code
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA", "XDG"))}
        ran = subprocess.run(
            [sys.executable, "-B", "-c", code], capture_output=True, text=True, timeout=240, check=False,
            env=environment | {"HOME": "/nowhere", "INSTALLED": top}, cwd="/",
        )  # fmt: skip
        for path in [Path(top), *Path(top).rglob("*")]:
            path.chmod(0o755)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split() == ["True"] * 3
