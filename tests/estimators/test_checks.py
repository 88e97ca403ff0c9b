"""scikit-learn's own checks of what an estimator is."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import bayesnb


@pytest.mark.filterwarnings("ignore:.*is no whole number.*:UserWarning")  # the checks feed CategoricalNB uniform floats
@pytest.mark.filterwarnings("default")  # the checks themselves warn
@parametrize_with_checks(
    [bayesnb.MultinomialNB(), bayesnb.BernoulliNB(), bayesnb.GaussianNB(), bayesnb.CategoricalNB()]
)
def test_keeps_scikit_learns_conventions(estimator, check):
    check(estimator)
