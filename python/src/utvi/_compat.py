"""Validation of inputs, which scikit-learn 1.6 moved from methods to functions."""

from __future__ import annotations

from inspect import signature
from typing import Any

from sklearn.utils import check_array

try:
    from sklearn.utils.validation import (
        _check_feature_names,
        _check_n_features,
        validate_data,
    )
except ImportError:

    def validate_data(estimator: Any, *args: Any, **options: Any) -> Any:
        return estimator._validate_data(*args, **options)

    def _check_feature_names(estimator: Any, X: Any, *, reset: bool) -> None:
        estimator._check_feature_names(X, reset=reset)

    def _check_n_features(estimator: Any, X: Any, *, reset: bool) -> None:
        estimator._check_n_features(X, reset=reset)


_FINITE = next(
    name
    for name in ("ensure_all_finite", "force_all_finite")
    if name in signature(check_array).parameters
)


def finite(impute: bool) -> dict[str, Any]:
    """The option of check_array that says whether NaN is accepted."""
    return {_FINITE: "allow-nan" if impute else True}


def check_columns(estimator: Any, X: Any, *, reset: bool) -> None:
    """Learn or compare the names and the number of columns of a data frame."""
    try:
        _check_feature_names(estimator, X, reset=reset)
    except ValueError as e:
        names = getattr(estimator, "feature_names_in_", ())
        if "same order" not in str(e) or set(names) != set(X.columns):
            raise
        raise ValueError(f"{str(e).rstrip()} That is scikit-learn's rule: give X[model.feature_names_in_], or save the model and utvi.load it, which finds columns by name.") from None
    _check_n_features(estimator, X, reset=reset)


__all__ = ["check_columns", "finite", "validate_data"]
