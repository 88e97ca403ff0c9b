"""Simulation-based calibration: right inference passes, wrong inference fails, and the test has the level it claims."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from scipy import stats

from bayesnb.checks import calibration
from bayesnb.checks.calibration import FAILURE_RATE, band, calibrate
from bayesnb.events import multinomial
from bayesnb.events.theta import ClassPrior
from bayesnb.plots import plot_ranks

EVENTS = ["multinomial", "bernoulli", "categorical", "gaussian"]
# the data are right, the prior says that tokens are common: concentration 8 in place of some 1
WRONG = """
from dataclasses import replace
from bayesnb.models import bernoulli
from bayesnb.families import Beta
EVENT = "bernoulli"
def build(data, prior, form=None):
    return bernoulli.build(data, replace(prior, phi=Beta({a}, prior.phi.b)))
"""


@pytest.mark.parametrize("event", EVENTS)
def test_the_closed_form_is_calibrated(event):
    """Exact draws of each conjugate posterior recover what was drawn from the prior."""
    result = calibrate(event, sampler="exact")
    assert result.passed, str(result)
    assert result.ranks.shape == (200, len(result.table))
    assert result.ranks.max() <= result.draws == 99
    assert result.table.iloc[-1]["quantity"] == "log density"
    assert "are uniform" in str(result)


@pytest.mark.parametrize("event", EVENTS)
def test_data_from_another_prior_fail(monkeypatch, event):
    """Parameters simulated from a prior with its classes exchanged do not look like draws of the posterior."""
    simulated = calibration.prior_draws

    def exchanged(*arguments):
        drawn = simulated(*arguments)
        return {name: v if name == "theta" else v[..., ::-1, :] for name, v in drawn.items()}

    monkeypatch.setattr(calibration, "prior_draws", exchanged)
    result = calibrate(event, sampler="exact")
    assert not result.passed
    assert "are not uniform" in str(result)


def test_counting_the_data_twice_is_seen(monkeypatch):
    """Intervals that are too narrow: the margins alone show it at the ends of the ranks."""
    simulated = calibration._simulated

    def doubled(empty, rng):
        truth, posterior = simulated(empty, rng)
        n = posterior.statistics
        return truth, multinomial.Posterior(posterior.prior, type(n)(4 * n.class_count, 4 * n.feature_count))

    monkeypatch.setattr(calibration, "_simulated", doubled)
    assert not calibrate("multinomial", sampler="exact").passed


def test_a_known_class_prior_has_no_rank():
    """Only what is unknown is ranked."""
    prior = multinomial.Prior(ClassPrior(known=np.array([0.3, 0.7])), np.ones((2, 2)))
    result = calibrate("multinomial", prior=prior, sampler="exact", replications=50)
    assert set(result.table["quantity"]) == {"phi", "log density"}
    assert result.passed


@pytest.mark.parametrize(("shape", "concentration"), [((1, 3), 1.0), ((2, 1), 1.0), ((2, 3), 1e-6)])
def test_constants_and_draws_that_are_equal_do_not_fail(shape, concentration):
    """One class, one token, and concentrations whose draws are 0 to machine precision: ties are broken by lot."""
    prior = multinomial.Prior(ClassPrior(concentration=np.ones(shape[0])), np.full(shape, concentration))
    result = calibrate("multinomial", prior=prior, sampler="exact", replications=100)
    assert result.passed, str(result)
    assert ("theta" in set(result.table["quantity"])) == (shape[0] > 1)


def test_p_values_are_exact_upper_bounds():
    """Under the truth a p-value at most t comes up at most with chance t, at any t; and the bound is not idle."""
    ranks = np.random.default_rng(0).integers(0, 100, (200, 4000))
    p = calibration._judged(ranks, [("x", "", "")] * 4000, 99)["p_value"].to_numpy()
    for t in (0.01, 0.1, 0.3):
        # 5 standard errors of a share; Bonferroni over correlated thresholds loses less than a factor of 5
        assert t / 5 < (p <= t).mean() < t + 5 * np.sqrt(t / 4000)


def test_extreme_ranks_fail_and_even_ones_pass():
    """All ranks 0 fail, ranks spread evenly pass with p 1, as does the band."""
    names = [("x", "", ""), ("y", 0, 1)]
    even = np.arange(200) % 100
    table = calibration._judged(np.column_stack([even, np.zeros(200, int)]), names, 99)
    assert table["passed"].tolist() == [True, False]
    assert table["p_value"][0] == 1
    result = calibration.Calibration("m", "f", np.column_stack([even, even]), 99, table, 0)
    share, lower, upper = band(result)
    assert ((lower < share) & (share < upper)).all()
    tail = FAILURE_RATE / 2 / 19 / 2
    assert upper[9] == stats.binom.isf(tail, 200, 0.5) / 200


def test_a_wrong_prior_in_a_model_file_fails_by_sampling(tmp_path):
    """The whole way through PyMC: compiled once, refitted to new data, and found out; the first 60 replications do."""
    path = tmp_path / "wrong.py"
    path.write_text(WRONG.format(a="prior.phi.a + 7"))
    result = calibrate(path, replications=60)
    assert not result.passed
    high = result.table[result.table["quantity"] == "phi"]["mean_rank"]
    assert (high < 0.5).all(), "a prior that is too high puts the truth below the draws"


@pytest.mark.long
@pytest.mark.parametrize("event", EVENTS)
def test_every_model_file_is_calibrated_by_sampling(event):
    """The default form of each conjugate model."""
    result = calibrate(event)
    assert result.passed, str(result)


def test_bad_arguments_are_refused():
    """Too few replications or draws, an unknown sampler, a model without closed form."""
    with pytest.raises(ValueError, match="replications must be a whole number of at least 20, got 5"):
        calibrate(replications=5)
    with pytest.raises(ValueError, match="draws must be a whole number of at least 19, got 9"):
        calibrate(draws=9)
    with pytest.raises(ValueError, match="form must be one of beta; got 'gamma'"):
        calibrate("bernoulli", form="gamma", sampler="exact")
    with pytest.raises(ValueError, match=r"prior must be a bayesnb.events.bernoulli.Prior, .* got float"):
        calibrate("bernoulli", prior=1.0, sampler="exact")
    with pytest.raises(ValueError, match="sampler must be nutpie or exact"):
        calibrate(sampler="pymc")
    with pytest.raises(ValueError, match="model bursty has no closed form"):
        calibrate("bursty")


def test_ranks_are_drawn_with_the_verdict_in_the_title():
    """One panel for all quantities, five histograms, for what passed and for what failed."""
    good = calibrate("bernoulli", sampler="exact", replications=50)
    bad = calibration.Calibration("m", "f", np.zeros((50, 3), int), 99, good.table[:3].assign(passed=False), 2)
    for result, words, panels in ((good, "are uniform: bernoulli", 6), (bad, "are not uniform: m", 4)):
        figure = plot_ranks(result)
        assert isinstance(figure, Figure)
        assert words in figure.get_suptitle()
        assert len(figure.axes) == panels
    lines = plot_ranks(bad).axes[0].lines
    # every rank 0: the share below is 1 from the first threshold on
    assert lines[0].get_ydata()[1] == pytest.approx(0.95)
    with pytest.raises(ValueError, match="expected the result of calibrate, got str"):
        plot_ranks("result")
