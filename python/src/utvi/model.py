"""Models as files have them: loaded, asked, calibrated, explained, updated."""

from __future__ import annotations

import csv
import json
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray

from . import _binary, _suggest, _table, _warm

if TYPE_CHECKING:
    import pandas as pd

Path = Union[str, "os.PathLike[str]"]
Numbers = NDArray[np.float64]

MODEL, ROWS, RESULT, UPDATED = "model.utvi", "rows.csv", "predicted.csv", "updated.utvi"
MOST_WARM = 2000  # rows; more are better streamed by a command
PARTS = ("weights", "inputs", "noise")


class Model:
    """A model that `utvi fit` or an estimator made.

    Columns are found by name, in any order; columns that the model does not know are ignored.
    Arrays have the model's columns in their order.

    >>> m = utvi.load("price.utvi")
    >>> m.predict_frame(houses)
    """

    def __init__(self, data: bytes, binary: Optional[Path] = None) -> None:
        self.data = data
        self.binary = binary
        self._about: Optional[dict[str, Any]] = None

    def __repr__(self) -> str:
        return f"<utvi.Model of {', '.join(self.targets)} from {', '.join(self.columns)}>"

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data, "binary": self.binary, "_about": None}

    @property
    def about(self) -> dict[str, Any]:
        """What the server's GET /models says: columns with ranges and levels, scores, rows."""
        if self._about is None:
            with TemporaryModel(self.data) as folder:
                try:
                    (self._about,) = _warm.ask(self.binary, self.data, "/models")["models"]
                except _warm.Refused:
                    _binary.run(self.binary, ["inspect", MODEL], folder)
                    raise
        return self._about

    @property
    def columns(self) -> list[str]:
        """The names of the input columns, and of columns that hold their standard deviations."""
        return [c["name"] for c in self.about.get("columns", ())]

    @property
    def targets(self) -> list[str]:
        return [c["name"] for c in self.about["targets"]]

    @property
    def classes(self) -> Optional[list[str]]:
        """The names of the classes, in order; None for numbers."""
        if self.about["task"] != "classification":
            return None
        return list(self.about["targets"][0]["levels"])

    def save(self, path: Path) -> None:
        """Write the model's file."""
        with open(path, "wb") as f:
            f.write(self.data)

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of each row, with return_std also its standard deviation; the most
        probable class of each row."""
        _, values = self.ask(*self.rows_of(X))
        classes = self.classes
        if classes is not None:
            if return_std:
                raise ValueError(f"return_std is for numbers; {self.targets[0]} is a class")
            return np.array(classes, dtype=object)[np.argmax(values[:, : len(classes)], axis=1)]
        each = (values.shape[1] - 1) // len(self.targets)
        mean, std = (np.squeeze(values[:, i:-1:each], axis=1) if len(self.targets) == 1 else values[:, i:-1:each] for i in (0, 1))
        return (mean, std) if return_std else mean

    def predict_frame(self, X: Any, level: float = 0.9, quantiles: Sequence[float] = ()) -> pd.DataFrame:
        """Return everything about each row as a data frame, with the index of X."""
        import pandas as pd

        names, values = self.ask(*self.rows_of(X), level, quantiles)
        out: pd.DataFrame = pd.DataFrame(values, columns=names, index=_table.index_of(X))
        classes = self.classes
        if classes is not None:
            best = np.array(classes, dtype=object)[np.argmax(values[:, : len(classes)], axis=1)]
            out.insert(0, self.targets[0], best)
        return out

    def explain(self, X: Any, columns: int = 3) -> pd.DataFrame:
        """Return the columns that moved each prediction most (…_why1, …), and by how much."""
        return self.explained(*self.rows_of(X), columns, _table.index_of(X))

    def calibrate(self, X: Any, y: Any, method: Union[str, Sequence[str], None] = None) -> Model:
        """Correct the error bars by rows that the model was not trained with; return self."""
        self.data = self.calibrated(*self._table(X, y), method)
        self._about = None
        return self

    def update(self, X: Any, y: Any, forget: float = 0.0, holdout: Optional[float] = None) -> Model:
        """Learn new rows on top of what the model knows, without the rows before; return self.

        forget is the share of what is remembered that no longer counts, holdout the share of the
        new rows that training does not see. A calibration is not carried over.
        """
        self.data = self.updated(*self._table(X, y), forget, holdout)
        self._about = None
        return self

    def surprise(self, X: Any, y: Any) -> dict[str, Any]:
        """Return how new rows differ from those that the model was fitted to, before it learns
        them: scores with what its error bars promise, and the columns that have moved."""
        return self.surprised(*self._table(X, y))

    def suggest(
        self, candidates: Union[_suggest.Space, Any] = None, count: int = 1, goal: _suggest.Goal = "learn", **options: Any
    ) -> pd.DataFrame:
        """Return the rows to measure next, with what is predicted, the gain, and why.

        Parameters
        ----------
        candidates : data frame of rows to choose from (those with a value of the target are left
            out), or a dict of what they are drawn from: for a column (low, high), range(low, high)
            for whole numbers, a list of texts, or None for all levels. Other columns are drawn
            from the range that the training rows showed.
        goal : "learn", "min", "max", or a number to come near to
        target : str, column that is measured (default the first; "learn": all)
        limits : dict of columns and (low, high), either of which may be None
        costs : name of a column of costs, or a dict of columns and the price of a unit
        require : what targets must be, as "price<10" or a list
        sure : least probability that a row meets all requirements
        best : best value that is known
        draws : int, networks that are drawn (default 256); fewer are faster
        random_state : int, seed of the candidates that are drawn
        """
        return _suggest.suggest(self, candidates, count, _suggest.options_of(goal, **options))

    def _table(self, X: Any, y: Any) -> tuple[list[str], list[Sequence[Any]]]:
        """Rows with their targets."""
        names, rows = self.rows_of(X)
        values = np.asarray(y, dtype=object)
        if len(values) != len(rows):
            raise ValueError(f"X has {len(rows)} rows and y has {len(values)}")
        return names + self.targets, [(*r, *t) for r, t in zip(rows, values.reshape(len(rows), -1).tolist())]

    def rows_of(self, X: Any) -> tuple[list[str], list[Sequence[Any]]]:
        """The names of columns and the rows of X."""
        columns = self.columns
        if _table.is_frame(X):
            stds = {c["std_in"] for c in self.about["columns"] if "std_in" in c}
            given = [str(c) for c in X.columns]
            missing = [c for c in columns if c not in given and c not in stds]
            if missing:
                raise ValueError(f"X has no column {missing[0]}; the model needs {', '.join(columns)}")
            names = [c for c in columns if c in given]
            X = X.iloc[:, [given.index(c) for c in names]]
            kinds = [_table.kind_of(X.iloc[:, i]) for i in range(len(names))]
        else:
            X = np.asarray(X, dtype=object)
            if X.ndim != 2 or X.shape[1] != len(columns):
                raise ValueError(f"X has the shape {X.shape}; the model needs rows of {len(columns)} columns: {', '.join(columns)}")
            names = columns
            numeric = [c.get("type") == "numeric" for c in self.about["columns"]]
            kinds = ["number" if n else "text" for n in numeric]
        if len(X) == 0:
            raise ValueError("X has 0 rows; at least 1 is needed")
        rows: list[Sequence[Any]] = _table.frame_rows(X, names, kinds, True)
        layouts = {c["name"]: c["layout"] for c in self.about["columns"] if "layout" in c}
        dates = [i for i, (n, k) in enumerate(zip(names, kinds)) if k == "date" and n in layouts]
        if dates:
            rows = [[_dated(v, layouts[names[i]]) if i in dates else v for i, v in enumerate(r)] for r in rows]
        return names, rows

    def ask(
        self, names: Sequence[str], rows: Sequence[Sequence[Any]], level: float = 0.9, quantiles: Iterable[float] = ()
    ) -> tuple[list[str], Numbers]:
        """Predict rows: the names of the columns of `utvi predict`, and their numbers."""
        quantiles = [float(q) for q in quantiles]
        if len(rows) <= MOST_WARM:
            question = {"rows": [{n: None if v == "" else v for n, v in zip(names, r)} for r in rows], "quantiles": quantiles}
            if level != 0.9:
                question["interval"] = float(level)
            try:
                return _columns(_warm.ask(self.binary, self.data, "/predict/model", question)["predictions"], quantiles)
            except (_warm.Refused, ValueError):
                pass  # the command says what is wrong
        options = [f"--interval={level}"] if level != 0.9 else []
        if quantiles:
            options.append("--quantiles=" + ",".join(map(repr, quantiles)))
        header, lines = self._command(names, rows, *options)
        skip = 0 if lines and _is_number(lines[0][0]) else 1  # the class
        values = [[float(v) if v else np.nan for v in line[skip:]] for line in lines]
        return header[skip:], np.array(values, dtype=np.float64).reshape(len(lines), len(header) - skip)

    def _command(self, names: Sequence[str], rows: Sequence[Sequence[Any]], *options: str) -> tuple[list[str], list[list[str]]]:
        """Run utvi predict: the header and the lines that it writes."""
        with TemporaryModel(self.data) as folder:
            _table.write_csv(os.path.join(folder, ROWS), names, rows)
            args = ["predict", MODEL, ROWS, "--strict", "--digits", "17", "--header", "yes", "--delimiter", ",", *options]
            _binary.run(self.binary, args, folder, stdout=os.path.join(folder, RESULT))
            with open(os.path.join(folder, RESULT), newline="", encoding="utf-8") as f:
                lines = list(csv.reader(f))
        return lines[0], lines[1:]

    def explained(self, names: Sequence[str], rows: Sequence[Sequence[Any]], columns: int, index: Any) -> pd.DataFrame:
        """Explain rows."""
        import pandas as pd

        header, lines = self._command(names, rows, f"--explain={columns}")
        wanted = [i for i, n in enumerate(header) if "_why" in n or "_unsure" in n]
        out: pd.DataFrame = pd.DataFrame([[line[i] for i in wanted] for line in lines], columns=[header[i] for i in wanted], index=index)
        for name in out.columns:
            if name.endswith(("_mean", "_std", "_prob", "_entropy")):
                out[name] = pd.to_numeric(out[name])
        return out

    def calibrated(self, names: Sequence[str], rows: Sequence[Sequence[Any]], method: Union[str, Sequence[str], None]) -> bytes:
        """Return the file of the calibrated model; rows have the targets, too."""
        with TemporaryModel(self.data) as folder:
            _table.write_csv(os.path.join(folder, ROWS), names, rows)
            args = ["calibrate", MODEL, ROWS, "--header", "yes", "--delimiter", ","]
            if method is not None:
                args += ["--method", method if isinstance(method, str) else ",".join(method)]
            _binary.run(self.binary, args, folder)
            with open(os.path.join(folder, MODEL), "rb") as f:
                return f.read()

    def updated(
        self, names: Sequence[str], rows: Sequence[Sequence[Any]], forget: float, holdout: Optional[float], jobs: Optional[int] = None
    ) -> bytes:
        """Return the file of the updated model; rows have the targets, too."""
        options = ["-o", UPDATED, f"--forget={forget}", f"--holdout={-1 if holdout is None else holdout}"]
        if jobs is not None and jobs > 0:
            options.append(f"--jobs={jobs}")
        return self._learn(names, sorted(rows, key=repr), options, UPDATED)

    def surprised(self, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
        """Return what utvi update --dry-run says."""
        report: dict[str, Any] = json.loads(self._learn(names, rows, ["--dry-run", "--json"], RESULT))
        return report

    def _learn(self, names: Sequence[str], rows: Sequence[Sequence[Any]], options: Sequence[str], result: str) -> bytes:
        with TemporaryModel(self.data) as folder:
            _table.write_csv(os.path.join(folder, ROWS), names, rows)
            args = ["update", MODEL, ROWS, "--header", "yes", "--delimiter", ",", *options]
            _binary.run(self.binary, args, folder, stdout=os.path.join(folder, RESULT))
            with open(os.path.join(folder, result), "rb") as f:
                return f.read()


class TemporaryModel:
    """A folder with a model's file, for a command."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.folder = tempfile.TemporaryDirectory(prefix="utvi-")

    def __enter__(self) -> str:
        with open(os.path.join(self.folder.name, MODEL), "wb") as f:
            f.write(self.data)
        return self.folder.name

    def __exit__(self, *_: object) -> None:
        self.folder.cleanup()


def load(path: Path, binary: Optional[Path] = None) -> Model:
    """Load the model of a file that `utvi fit`, an estimator's save or `utvi calibrate` wrote."""
    with open(path, "rb") as f:
        m = Model(f.read(), binary)
    if not m.columns:
        raise _binary.UtviError(f"{os.fspath(path)} is a network without the columns of a table; `utvi serve` and Client answer with it")
    return m


def _columns(answers: list[dict[str, Any]], quantiles: Sequence[float]) -> tuple[list[str], Numbers]:
    """Answers of the server as the columns that the command writes, but the class."""
    names: list[str] = []
    for name, t in answers[0]["targets"].items():
        if "class" in t:
            names += [*(f"p_{c}" for c in t["probabilities"]), "entropy"]
            continue
        names += [f"{name}_{x}" for x in ("mean", "std", "lo", "hi", *(f"var_{p}" for p in PARTS))]
        names += [f"{name}_q{q:g}" for q in quantiles]
    rows = []
    for a in answers:
        row: list[Optional[float]] = []
        for t in a["targets"].values():
            if "class" in t:
                row += [*t["probabilities"].values(), t["entropy"]]
                continue
            row += [t["mean"], t["std"], *t["interval"], *(t["variance"].get(p) for p in PARTS), *t.get("quantiles", ())]
        rows.append([*row, a["ood"]])
    return [*names, "ood"], np.array(rows, dtype=np.float64)


# Parts of a time as the layouts of models name them, and as Python does. Times are in UTC.
LAYOUT = {
    "2006": "%Y", "06": "%y", "January": "%B", "Jan": "%b", "01": "%m", "02": "%d", "15": "%H", "04": "%M", "05": "%S",
    ".999999999": "", "Z07:00": "Z", "-0700": "+0000", "MST": "UTC", "PM": "%p", "1": "%m", "2": "%d", "3": "%I",
}
PART = re.compile("|".join(map(re.escape, sorted(LAYOUT, key=len, reverse=True))))


def _dated(text: str, layout: str) -> str:
    """A time in the way in which the model's table wrote it."""
    if text == "":
        return ""
    return datetime.fromisoformat(text).strftime(PART.sub(lambda part: LAYOUT[part[0]], layout))


def _is_number(text: str) -> bool:
    try:
        float(text or "nan")
    except ValueError:
        return False
    return True


__all__ = ["Model", "load"]
