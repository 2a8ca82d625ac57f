"""Turn arrays and data frames into rows of a CSV file, and predictions into arrays."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:
    return hasattr(X, "dtypes") and hasattr(X, "columns") and hasattr(X, "iloc")


def index_of(X: Any) -> Any:
    """The index of a data frame; None for anything else."""
    return X.index if is_frame(X) else None


def is_mixed(X: Any) -> bool:
    """Report whether a data frame has columns other than numbers."""
    return is_frame(X) and any(kind_of(X.iloc[:, i]) != "number" for i in range(X.shape[1]))


def kind_of(column: Any) -> str:
    """Return "number", "category", "date", "duration" or "text" for a column of a frame."""
    name = str(column.dtype)
    if name == "category":
        return "category"
    if name.startswith("datetime64"):
        return "date"
    if name.startswith("timedelta64"):
        return "duration"
    kind = getattr(column.dtype, "kind", "O")
    return "number" if kind in "fiub" else "text"


def frame_rows(X: Any, names: Sequence[str], kinds: Sequence[str], impute: bool) -> list[Sequence[Any]]:
    """Return the rows of a data frame, or of an array that stands for one."""
    columns = []
    for i, (name, kind) in enumerate(zip(names, kinds)):
        column = X.iloc[:, i] if is_frame(X) else np.asarray(X, dtype=object)[:, i]
        values = _CELLS[kind](column, name)
        if not impute and any(v == "" for v in values):
            raise ValueError(
                f"column {name} has missing values; set impute=True to accept them"
            )
        columns.append(values)
    return list(zip(*columns))


def _number(column: Any, name: str) -> list[Any]:
    try:
        values = np.asarray(column, dtype=object)
        values = np.array([math.nan if _missing(v) else float(v) for v in values])
    except (TypeError, ValueError):
        raise ValueError(f"column {name} holds a value that is not a number") from None
    if np.isinf(values).any():
        raise ValueError(f"column {name} holds infinity")
    return ["" if v != v else v for v in values.tolist()]


def _date(column: Any, name: str) -> list[Any]:
    try:
        if getattr(column.dtype, "tz", None) is not None:
            column = column.dt.tz_convert("UTC").dt.tz_localize(None)
        times = np.asarray(column, "datetime64[s]")
    except (TypeError, ValueError):
        raise ValueError(f"column {name} holds a value that is not a date") from None
    return ["" if np.isnat(t) else str(t).replace("T", " ") for t in times]


def _duration(column: Any, name: str) -> list[Any]:
    try:
        days = np.asarray(column, "timedelta64[ns]") / np.timedelta64(1, "D")
    except (TypeError, ValueError):
        raise ValueError(f"column {name} holds a value that is not a duration") from None
    return ["" if d != d else d for d in days.tolist()]


def _text(column: Any, name: str) -> list[Any]:
    return ["" if _missing(v) else _plain(v) for v in np.asarray(column, dtype=object)]


def _missing(v: Any) -> bool:
    return v is None or type(v).__name__ in ("NAType", "NaTType") or bool(v != v)


def _plain(v: Any) -> Any:
    """Numbers stay numbers: the same value is the same category, however it is typed."""
    if isinstance(v, (bool, np.bool_)):
        return str(v).lower()
    if isinstance(v, (int, float, np.integer, np.floating)):
        return v.item() if isinstance(v, np.generic) else v
    return str(v)


_CELLS = {
    "number": _number,
    "category": _text,
    "date": _date,
    "duration": _duration,
    "text": _text,
}


def array_rows(X: Any) -> list[Sequence[Any]]:
    """Return the rows of an array of numbers; NaN becomes an empty field."""
    rows: list[Sequence[Any]] = X.astype(np.float64).tolist()
    if np.isnan(X.astype(np.float64)).any():
        rows = [["" if v != v else v for v in row] for row in rows]
    return rows


def write_csv(path: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write floats so that they are read back with the same bits."""
    with open(path, "w", newline="", encoding="utf-8") as f:
        out = csv.writer(f)
        out.writerow(names)
        out.writerows(rows)
