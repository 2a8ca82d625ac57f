"""Bayesian neural networks without sampling, as scikit-learn estimators, and a client."""

from ._binary import BinaryNotFoundError, UtviError
from .client import Client, ServerError
from .estimators import UTVIClassifier, UTVIRegressor

__all__ = [
    "BinaryNotFoundError",
    "Client",
    "ServerError",
    "UTVIClassifier",
    "UTVIRegressor",
    "UtviError",
]
