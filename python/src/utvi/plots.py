"""Figures with matplotlib, which they import when they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _table
from .model import Model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .estimators import UTVIRegressor

    Regressor = Union[UTVIRegressor, Model]

COLOUR = "#1f6f9f"
NAMES = 20  # that a figure has room for


def plot_predictions(model: Regressor, X: Any, y: Any, level: float = 0.9, ax: Optional[Axes] = None) -> Axes:
    """Draw predictions with their intervals over the true values."""
    ax = _axes(ax)
    mean, low, high = _answers(model, X, level)
    truth = np.asarray(y, dtype=np.float64).ravel()
    ax.errorbar(truth, mean, yerr=[mean - low, high - mean], fmt="o", ms=3, lw=1, color=COLOUR, ecolor=COLOUR + "66", label=f"mean, {level:.0%} interval")
    ends = [min(truth.min(), low.min()), max(truth.max(), high.max())]
    ax.plot(ends, ends, color="0.4", lw=1, label="true = predicted")
    ax.set_xlabel("true")
    ax.set_ylabel("predicted")
    ax.legend()
    return ax


def plot_column(model: Regressor, X: Any, column: Union[str, int], level: float = 0.9, points: int = 100, ax: Optional[Axes] = None) -> Axes:
    """Draw what the model predicts as one column of numbers, times or names varies; the others
    keep the values of the first row of X."""
    ax = _axes(ax)
    if _table.is_frame(X):
        names = [str(c) for c in X.columns]
        if column not in names:
            raise ValueError(f"X has no column {column}; its columns are {', '.join(names)}")
        values = _values(X[column], points)
        rows = X.iloc[[0] * len(values)].reset_index(drop=True)
        rows[column] = values
    else:
        X = np.asarray(X)
        at = int(column)
        values = np.linspace(float(np.nanmin(X[:, at])), float(np.nanmax(X[:, at])), points)
        rows = np.repeat(X[:1], points, axis=0).astype(np.float64)
        rows[:, at] = values
    mean, low, high = _answers(model, rows, level)
    if np.asarray(values).dtype.kind not in "fmM":
        names = [str(v) for v in values]
        ax.errorbar(names, mean, yerr=[mean - low, high - mean], fmt="o", color=COLOUR, label=f"mean, {level:.0%} interval")
        if sum(map(len, names)) > 40:
            ax.tick_params("x", rotation=90)
    else:
        ax.fill_between(values, low, high, color=COLOUR, alpha=0.2, lw=0, label=f"{level:.0%} interval")
        ax.plot(values, mean, color=COLOUR, label="mean")
    if np.asarray(values).dtype.kind == "M":
        from matplotlib import dates

        untyped: Any = dates  # its constructors have no types
        ax.xaxis.set_major_locator(untyped.AutoDateLocator())
        ax.xaxis.set_major_formatter(untyped.ConciseDateFormatter(ax.xaxis.get_major_locator()))
    ax.set_xlabel(str(column))
    ax.set_ylabel("predicted")
    ax.legend()
    return ax


def plot_coverage(model: Regressor, X: Any, y: Any, levels: Sequence[float] = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95), ax: Optional[Axes] = None) -> Axes:
    """Draw which share of true values lies in intervals of each level: honest error bars
    follow the diagonal."""
    ax = _axes(ax)
    truth = np.asarray(y, dtype=np.float64).ravel()
    inside = []
    for level in levels:
        _, low, high = _answers(model, X, level)
        inside.append(np.mean((low <= truth) & (truth <= high)))
    ax.plot([0, 1], [0, 1], color="0.4", lw=1, label="honest")
    ax.plot(levels, inside, "o-", color=COLOUR, label=f"{len(truth)} rows")
    ax.set_xlabel("level of the interval")
    ax.set_ylabel("share of true values inside")
    ax.legend()
    return ax


def _values(column: Any, points: int) -> Any:
    """Values from the least to the largest one; of names the most frequent."""
    kind = _table.kind_of(column)
    if kind in ("date", "duration"):
        least = column.min()
        return least + (column.max() - least) * np.linspace(0, 1, points)
    if kind == "number" and column.dtype.kind != "b":
        return np.linspace(float(column.min()), float(column.max()), points)
    return column.value_counts().index[:NAMES]


def _axes(ax: Optional[Axes]) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("figures need matplotlib: pip install matplotlib") from None
    return plt.figure(layout="constrained").add_subplot()


def _answers(model: Regressor, X: Any, level: float) -> tuple[Any, Any, Any]:
    """The mean and the interval of each row, of the only target."""
    values = model.predict_frame(X, level).to_numpy()
    each = 4 + 3
    if isinstance(model, Model) and model.classes is not None or values.shape[1] != each + 1:
        raise ValueError("figures are for models of one number")
    return tuple(np.asarray(values[:, i], dtype=np.float64) for i in (0, 2, 3))  # type: ignore[return-value]


__all__ = ["plot_column", "plot_coverage", "plot_predictions"]
