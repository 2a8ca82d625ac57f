"""Bayesian neural networks without sampling, as scikit-learn estimators, and a client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._binary import BinaryNotFoundError, UtviError

if TYPE_CHECKING:
    from .client import AsyncClient, Client, ServerError
    from .estimators import UTVIClassifier, UTVIRegressor
    from .experiment import Experiment
    from .images import ImageClassifier, ImagePixels, ImageRegressor
    from .model import Model, load

__all__ = [
    "AsyncClient",
    "BinaryNotFoundError",
    "Client",
    "Experiment",
    "ImageClassifier",
    "ImagePixels",
    "ImageRegressor",
    "Model",
    "ServerError",
    "UTVIClassifier",
    "UTVIRegressor",
    "UtviError",
    "load",
]

# scikit-learn takes a second to import, which the command and the client need not wait for.
_LATER = {
    "AsyncClient": "client",
    "Client": "client",
    "ServerError": "client",
    "Experiment": "experiment",
    "ImageClassifier": "images",
    "ImagePixels": "images",
    "ImageRegressor": "images",
    "Model": "model",
    "UTVIClassifier": "estimators",
    "UTVIRegressor": "estimators",
    "load": "model",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module("." + _LATER[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
