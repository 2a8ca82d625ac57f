"""Ask which rows to measure, tell what they gave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Optional, Union

import numpy as np
import pandas as pd
from sklearn.base import clone

from . import _suggest
from .estimators import UTVIClassifier, UTVIRegressor

FEWEST = 10  # rows that utvi fit needs


class Experiment:
    """What to measure next, in a loop: ask for rows, measure them, tell their values.

    The first rows fill the space; once `first` of them are told, a model is fitted to all that is
    known whenever new rows are asked for.

    >>> e = Experiment({"temperature": (100, 220), "resin": ["amber", "birch"]}, goal="max")
    >>> while len(e.data) < 60:
    ...     rows = e.ask(4)
    ...     e.tell(rows, measure(rows))
    >>> e.best

    Parameters
    ----------
    space : a dict: for each column (low, high), range(low, high) for whole numbers, or a list of
        texts; or a data frame of candidates
    goal : "learn", "min", "max", or a number to come near to
    target : str, name of the column that is measured
    first : int, rows that fill the space before the first model; at least 10
    estimator : UTVIRegressor or UTVIClassifier with its settings (default UTVIRegressor())
    random_state : int, the same number gives the same rows
    options : limits, costs, require, sure, draws, as in Model.suggest

    Attributes
    ----------
    data : all rows that were told, with the target
    model_ : the estimator that was fitted last, or None
    """

    def __init__(
        self,
        space: Any,
        goal: _suggest.Goal = "learn",
        *,
        target: str = "y",
        first: int = FEWEST,
        estimator: Union[UTVIRegressor, UTVIClassifier, None] = None,
        random_state: int = 0,
        **options: Any,
    ) -> None:
        if first < FEWEST:
            raise ValueError(f"first is {first}; a model needs at least {FEWEST} rows")
        if not isinstance(goal, str):
            goal = float(goal)
        elif goal not in ("learn", "min", "max"):
            raise ValueError(f'goal is {goal!r}; it must be "learn", "min", "max", or a number to come near to')
        if not isinstance(space, Mapping):
            space = pd.DataFrame(space).drop(columns=target, errors="ignore")
            if not space.index.is_unique:
                raise ValueError("two candidates have the same index; reset_index(drop=True) gives them new ones")
        if len(space) == 0:
            raise ValueError("the space is empty; name its columns, or give candidates")
        _suggest.options_of(**options)
        self.space = space
        self.goal = goal
        self.target = target
        self.first = first
        self.estimator = UTVIRegressor() if estimator is None else estimator
        self.random_state = random_state
        self.options = options
        self.data: pd.DataFrame = pd.DataFrame(columns=[*self.columns, target])
        self.model_: Any = None
        self._open: list[Any] = []  # candidates that were asked for and not told, or rows of the start
        self._asked = 0  # since rows were told
        self._given = 0

    @property
    def columns(self) -> list[str]:
        """The names of the columns that are chosen."""
        return [str(c) for c in (self.space if isinstance(self.space, Mapping) else self.space.columns)]

    def ask(self, count: int = 1) -> pd.DataFrame:
        """Return rows to measure; once there is a model, with what it expects and why. Rows that
        were asked for and not told yet are not repeated."""
        if count < 1:
            raise ValueError(f"{count} rows are asked for; the number must be at least 1")
        if len(self.data) < self.first or self._untold():
            return self._fill(count)
        if self.model_ is None:
            self.model_ = clone(self.estimator).fit(self.data[self.columns], self.data[self.target])
        candidates, skip = self.space, self._asked
        if not isinstance(self.space, Mapping):
            candidates, skip = self.space.loc[self._left()], 0
        rows: pd.DataFrame = self.model_.suggest(candidates, skip + count, self.goal, random_state=self.random_state, **self.options)
        if isinstance(self.space, Mapping):
            rows = rows.iloc[min(skip, len(rows)) :].reset_index(drop=True)
        self._note(rows)
        return rows

    def tell(self, rows: pd.DataFrame, values: Any) -> Experiment:
        """Add measured rows, which need not be those that were asked for; return self."""
        missing = [c for c in self.columns if c not in rows]
        if missing:
            raise ValueError(f"rows have no column {missing[0]}; the experiment has {', '.join(self.columns)}")
        values = np.asarray(values).ravel()
        if len(values) != len(rows):
            raise ValueError(f"{len(rows)} rows were measured and {len(values)} values given")
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError("a value is not a finite number; leave out rows that could not be measured")
        told = rows[self.columns].copy()
        told[self.target] = values
        self.data = pd.concat([self.data, told] if len(self.data) else [told], ignore_index=isinstance(self.space, Mapping))
        if not isinstance(self.space, Mapping):
            self._open = [i for i in self._open if i not in set(rows.index)]
        self._asked = 0
        self.model_ = None
        return self

    @property
    def best(self) -> pd.Series:
        """The told row whose value is best; for goal "learn" there is none."""
        if self.goal == "learn":
            raise ValueError('goal is "learn", for which no row is best')
        if len(self.data) == 0:
            raise ValueError("no row has been told yet")
        y = self.data[self.target].to_numpy(np.float64)
        loss = np.abs(y - self.goal) if not isinstance(self.goal, str) else y if self.goal == "min" else -y
        return self.data.iloc[int(np.argmin(loss))]

    def _note(self, rows: pd.DataFrame) -> None:
        self._asked += len(rows)
        self._given += len(rows)
        if not isinstance(self.space, Mapping):
            self._open += list(rows.index)

    def _left(self) -> pd.Index:
        """The candidates that were neither told nor asked for."""
        done = set(self.data.index) | set(self._open)
        left = [i for i in self.space.index if i not in done]
        if not left:
            raise ValueError(f"all {len(self.space)} candidates have been asked for")
        index: pd.Index = pd.Index(left)
        return index

    def _fill(self, count: int) -> pd.DataFrame:
        """Rows of the start: candidates at random, or Latin hypercubes of `first` rows."""
        rows: pd.DataFrame
        if not isinstance(self.space, Mapping):
            rng = np.random.default_rng([self.random_state, self._given])
            left = self._left()
            rows = self.space.loc[left[np.sort(rng.permutation(len(left))[:count])]]
        else:
            cubes = range(self._given // self.first, (self._given + count - 1) // self.first + 1)
            rows = pd.concat([self._cube(i) for i in cubes]).iloc[self._given % self.first :][:count].reset_index(drop=True)
            for name, missing in self._untold().items():
                rows.loc[rows.index[: len(missing)], name] = missing[:count]
        self._note(rows)
        return rows

    def _cube(self, number: int) -> pd.DataFrame:
        rng = np.random.default_rng([self.random_state, number])
        return pd.DataFrame({str(name): _spread(str(name), axis, self.first, rng) for name, axis in self.space.items()})

    def _untold(self) -> dict[str, list[str]]:
        """Levels that no model can know, because no told row has them, once the start is over."""
        if not isinstance(self.space, Mapping) or len(self.data) < self.first:
            return {}
        levels = {str(n): [v for v in a if v not in set(self.data[n])] for n, a in self.space.items() if _is_levels(a)}
        return {n: missing for n, missing in levels.items() if missing}


def _is_levels(axis: Any) -> bool:
    return axis is not None and not isinstance(axis, (str, range)) and all(isinstance(a, str) for a in axis)


def _spread(name: str, axis: Any, count: int, rng: np.random.Generator) -> Any:
    """Values of a column, one from each of `count` equal parts."""
    u = (rng.permutation(count) + rng.uniform(size=count)) / count
    if axis is None:
        raise ValueError(f"column {name} has no range or levels, and there is no model yet that knows them")
    if isinstance(axis, range):
        first, last = _suggest.whole(name, axis)
        return first + (u * (last - first + 1)).astype(int)
    if _is_levels(axis):
        values = np.array(list(axis), dtype=object)
        if len(values) == 0:
            raise ValueError(f"column {name} has nothing to choose from")
        return values[(u * len(values)).astype(int)]
    low, high = _suggest.ends(name, axis)
    if not low <= high:
        raise ValueError(f"column {name} cannot lie between {low:g} and {high:g}")
    return low + u * (high - low)


__all__ = ["Experiment"]
