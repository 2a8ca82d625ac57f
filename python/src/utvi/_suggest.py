"""Run utvi suggest: which rows to measure next."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _binary, _table

if TYPE_CHECKING:
    import pandas as pd

    from .model import Model

# A range of numbers, whole numbers, some levels, or None: what the training rows showed.
Axis = Union[tuple[float, float], range, Sequence[str], None]
Space = Mapping[str, Axis]
Goal = Union[str, float]


def suggest(model: Model, candidates: Any, count: int, options: Sequence[str]) -> pd.DataFrame:
    """The suggested rows of a table, with the index of the table, or rows of a space."""
    if candidates is None or isinstance(candidates, Mapping):
        names = model.columns
        limits = [] if candidates is None else [axis_option(name, a) for name, a in candidates.items()]
        return _drawn(model, names, _run(model, ["--count", str(count), *options, *limits], None))
    return _listed(model, candidates, ["--count", str(count), *options])


def options_of(
    goal: Goal = "learn",
    target: Optional[str] = None,
    limits: Optional[Mapping[str, tuple[Optional[float], Optional[float]]]] = None,
    costs: Union[str, Mapping[str, float], None] = None,
    require: Union[str, Sequence[str]] = (),
    sure: Optional[float] = None,
    best: Optional[float] = None,
    draws: Optional[int] = None,
    random_state: Optional[int] = None,
) -> list[str]:
    """The flags of utvi suggest."""
    flags = ["--goal", goal if isinstance(goal, str) else f"target={float(goal)!r}"]
    if target is not None:
        flags += ["--target", target]
    for name, (low, high) in (limits or {}).items():
        flags += ["--limit", f"{name}={'' if low is None else float(low)}:{'' if high is None else float(high)}"]
    if isinstance(costs, str):
        costs = {costs: 1.0}
    for name, price in (costs or {}).items():
        flags += ["--cost", f"{name}={float(price)!r}"]
    for text in [require] if isinstance(require, str) else require:
        flags += ["--require", text]
    for name, value in (("sure", sure), ("best", best)):
        if value is not None:
            flags.append(f"--{name}={float(value)!r}")
    if draws is not None:
        flags += ["--draws", str(int(draws))]
    if random_state is not None:
        flags += ["--seed", str(int(random_state) + 1)]
    return flags


def axis_option(name: str, axis: Axis) -> str:
    """The flag for a column that candidates are drawn from."""
    if axis is None:
        return f"--levels={name}"
    if isinstance(axis, range):
        first, last = whole(name, axis)
        return f"--range={name}={first}:{last}"
    if isinstance(axis, str) or not all(isinstance(a, str) for a in axis):
        low, high = ends(name, axis)
        return f"--range={name}={low!r}:{high!r}"
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(axis)
    return f"--levels={name}={text.getvalue()}"


def whole(name: str, axis: range) -> tuple[int, int]:
    """The ends of a range of whole numbers."""
    if axis.step != 1 or len(axis) == 0:
        raise ValueError(f"column {name} is drawn from {axis!r}; a range must hold every whole number from its first on; other candidates go into a data frame")
    return min(axis), max(axis)


def ends(name: str, axis: Any) -> tuple[float, float]:
    """The ends of a range of numbers."""
    try:
        low, high = axis
        return float(low), float(high)
    except (TypeError, ValueError):
        raise ValueError(
            f"column {name} is drawn from {axis!r}; give (low, high) for numbers, range(low, high) for whole numbers, or a list of texts; "
            "other candidates go into a data frame"
        ) from None


def _listed(model: Model, X: Any, options: Sequence[str]) -> pd.DataFrame:
    """Suggest rows of a table: all of its columns are written, for targets, limits and costs."""
    names, rows = model.rows_of(X)
    frame = _table.is_frame(X)
    if frame:
        more = [str(c) for c in X.columns if str(c) not in names]
        extra = X.iloc[:, [[str(c) for c in X.columns].index(c) for c in more]]
        if more:
            cells = _table.frame_rows(extra, more, [_table.kind_of(extra.iloc[:, i]) for i in range(len(more))], True)
            rows = [(*r, *c) for r, c in zip(rows, cells)]
            names = names + more
    number = "row"
    while number in names:
        number += "_"
    header, lines = _run(model, options, ([*names, number], [(*r, i) for i, r in enumerate(rows)]))
    at = [int(line[len(names)]) for line in lines]
    chosen = X.iloc[at].copy() if frame else _frame(names, [line[: len(names)] for line in lines], names, at)
    return _joined(chosen, header[len(names) + 1 :], [line[len(names) + 1 :] for line in lines])


def _drawn(model: Model, names: Sequence[str], answer: tuple[list[str], list[list[str]]]) -> pd.DataFrame:
    header, lines = answer
    numbers = [c["name"] for c in model.about["columns"] if c.get("type") == "numeric"]
    chosen = _frame(header[: len(names)], [line[: len(names)] for line in lines], numbers)
    return _joined(chosen, header[len(names) :], [line[len(names) :] for line in lines])


def _joined(chosen: pd.DataFrame, names: Sequence[str], lines: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The rows beside what is known of them."""
    import pandas as pd

    known = _frame(names, lines, [n for n in names if n != "why"], chosen.index)
    return pd.concat([chosen, known], axis=1)


def _frame(names: Sequence[str], lines: Sequence[Sequence[str]], numbers: Sequence[str], index: Any = None) -> pd.DataFrame:
    import pandas as pd

    out: pd.DataFrame = pd.DataFrame([list(line) for line in lines], columns=list(names), index=index, dtype=object)
    for n in numbers:
        out[n] = pd.to_numeric(out[n], errors="coerce").astype(np.float64)
    return out


def _run(model: Model, options: Sequence[str], table: Optional[tuple[Sequence[str], Sequence[Sequence[Any]]]]) -> tuple[list[str], list[list[str]]]:
    from .model import MODEL, RESULT, ROWS, TemporaryModel  # which imports this module

    with TemporaryModel(model.data) as folder:
        files = [MODEL]
        if table is not None:
            _table.write_csv(os.path.join(folder, ROWS), *table)
            files += [ROWS, "--header", "yes", "--delimiter", ","]
        _binary.run(model.binary, ["suggest", *files, *options], folder, stdout=os.path.join(folder, RESULT))
        with open(os.path.join(folder, RESULT), newline="", encoding="utf-8") as f:
            lines = list(csv.reader(f))
    return lines[0], lines[1:]
