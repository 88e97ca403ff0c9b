"""Labels that may be wrong: recovery of the flip rate and of phi, and what is refused."""

import numpy as np
import pytest
from bayesnb.models import noisy_labels

from bayesnb.em import label_evidence
from bayesnb.sampling import Documents
from tests.models import simulated


def test_flip_rate_and_phi_are_recovered():
    """15 % of 200 labels are flipped; the truths lie within their intervals as often as they should."""
    tree, made = simulated.fit("noisy_labels"), simulated.truth("noisy_labels")
    simulated.converged(tree, ["theta", "phi", "flip_rate"])
    true = {"theta": made["theta"], "phi": made["phi"], "flip_rate": simulated.FLIPS}
    outside, allowed = simulated.recovered(tree, true)
    assert outside <= allowed
    rate = tree["posterior"]["flip_rate"].values
    share = (made["z"] != made["y"]).mean()
    # with the classes known its standard deviation would be sqrt(.15 .85 / 200) = 0.025; 5 of them around the share
    assert abs(rate.mean() - share) < 5 * 0.025
    assert rate.max() < 0.5


def test_wrong_labels_are_found():
    """Of the flipped labels at least nine in ten are called wrong, and at most one in fifty of the others.

    Thirty tokens of two unrelated distributions tell the classes apart all but for certain: the true parameters
    themselves misjudge under 1 % of the documents.
    """
    tree, made = simulated.fit("noisy_labels"), simulated.truth("noisy_labels")
    phi, theta = (tree["posterior"][name].values.mean(axis=(0, 1)) for name in ("phi", "theta"))
    evidence = label_evidence(made["z"], 2, float(tree["posterior"]["flip_rate"].mean()))
    found = (np.log(theta) + made["X"] @ np.log(phi).T + evidence).argmax(axis=1)
    flipped = made["z"] != made["y"]
    assert (found != made["z"])[flipped].mean() > 0.9
    assert (found != made["z"])[~flipped].mean() < 0.02


def test_what_cannot_be_sampled_is_refused():
    """One class, or no label at all, leaves nothing that could be wrong."""
    X = np.array([[1.0, 2.0], [0.0, 3.0]])
    for y, k in (([0, 0], 1), ([-1, -1], 2)):
        with pytest.raises(ValueError, match="labels can be wrong where there are some"):
            noisy_labels.build(Documents(X, np.array(y), k), simulated.flat(1, k, 2))
