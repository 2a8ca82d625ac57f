"""scikit-learn's own suite for estimators."""

from conftest import QUICK
from sklearn.utils.estimator_checks import parametrize_with_checks

from utvi import UTVIClassifier, UTVIRegressor


@parametrize_with_checks([UTVIRegressor(noise="learned", **QUICK), UTVIClassifier(**QUICK)])
def test_check_estimator(estimator, check):
    check(estimator)
