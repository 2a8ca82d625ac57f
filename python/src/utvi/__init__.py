"""Bayesian neural networks without sampling, as scikit-learn estimators."""

from ._binary import BinaryNotFoundError, UtviError
from .estimators import UTVIClassifier, UTVIRegressor

__all__ = ["BinaryNotFoundError", "UTVIClassifier", "UTVIRegressor", "UtviError"]
