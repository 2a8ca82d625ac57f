"""Images: classes, numbers, or every pixel, with error bars, as scikit-learn has its estimators."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Sequence
from typing import Any, Optional, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from . import _binary

Path = Union[str, "os.PathLike[str]"]
Array = NDArray[Any]

MODEL, IMAGES, TARGETS, TABLE, RESULT, FOLDER = "model.utvi", "x.npy", "y.npy", "images.csv", "predicted.csv", "predicted"
FILE, TARGET, ABOUT = "file", "y", "about.json"
SETTINGS = ("size", "augment", "steps", "ensemble", "width", "depth", "minutes", "normalise")


class _Images(BaseEstimator):  # type: ignore[misc]
    """What estimators of images share.

    X is an array, N×H×W or N×H×W×C, a list of image files, or the path of a folder of images. also are further
    inputs, a row for each image: a data frame, or an array of numbers. start is a network to start from (ONNX).
    """

    def __init__(
        self,
        size: Optional[int] = None,
        augment: Optional[str] = None,
        steps: Optional[int] = None,
        ensemble: Optional[int] = None,
        width: Optional[int] = None,
        depth: Optional[int] = None,
        minutes: Optional[float] = None,
        start: Optional[Path] = None,
        normalise: Optional[str] = None,
        random_state: int = 1,
        verbose: bool = False,
        binary: Optional[Path] = None,
    ) -> None:
        self.size = size
        self.augment = augment
        self.steps = steps
        self.ensemble = ensemble
        self.width = width
        self.depth = depth
        self.minutes = minutes
        self.start = start
        self.normalise = normalise
        self.random_state = random_state
        self.verbose = verbose
        self.binary = binary

    def save(self, path: Path) -> None:
        """Write the model's file, for utvi predict, eval, calibrate and serve."""
        check_is_fitted(self)
        with open(path, "wb") as f:
            f.write(self.data_)

    def _learn(self, folder: str, args: Sequence[str]) -> None:
        """Run utvi fit in a folder, and keep its model."""
        args = ["fit", *args, "--out", MODEL, "--report", "none", f"--seed={self.random_state}"]
        for name in SETTINGS:
            value = getattr(self, name)
            if value is not None:
                args.append(f"--{name}={value}")
        if self.start is not None:
            args.append(f"--from={os.path.abspath(self.start)}")
        _binary.run(self.binary, args, folder, verbose=self.verbose)
        with open(os.path.join(folder, MODEL), "rb") as f:
            self.data_ = f.read()

    def _ask(self, X: Any, *options: str, also: Any = None) -> tuple[list[str], list[list[str]]]:
        """Run utvi predict: the names of the columns and the rows, the images' names first."""
        check_is_fitted(self)
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            with open(os.path.join(folder, MODEL), "wb") as f:
                f.write(self.data_)
            name = _write(folder, X, None, also)
            out = os.path.join(folder, RESULT)
            _binary.run(self.binary, ["predict", MODEL, name, "--keep", FILE, "--digits", "17", *options, "-o", RESULT], folder)
            with open(out, newline="", encoding="utf-8") as f:
                rows = list(csv.reader(f))
        return rows[0], rows[1:]

    def predict_frame(self, X: Any, *options: str, also: Any = None) -> Any:
        """Return everything that utvi predict writes as a data frame, by the names of the images; options are its flags."""
        import pandas as pd

        header, rows = self._ask(X, *options, also=also)
        out = pd.DataFrame([r[1:] for r in rows], columns=header[1:], index=pd.Index([r[0] for r in rows], name=FILE))
        for name in header[1:]:
            numbers = pd.to_numeric(out[name], errors="coerce")
            if numbers.notna().any():
                out[name] = numbers
        return out


def _is_path(X: Any) -> bool:
    return isinstance(X, (str, os.PathLike))


def _write(folder: str, X: Any, y: Optional[Array], also: Any = None) -> str:
    """Write images, their targets and further inputs, if there are any; return what utvi is to read."""
    if _is_path(X):
        if y is not None or also is not None:
            raise TypeError("X is a path; a folder has the classes of its subfolders and no further inputs: give a list of files beside those")
        return str(os.path.abspath(X))
    if len(X) == 0:
        raise ValueError("X has 0 images; at least 1 is needed")
    if y is not None and len(y) != len(X):
        raise ValueError(f"X has {len(X)} images and y has {len(y)}")
    columns = _columns(also, len(X))
    if _is_path(X[0]):
        names = [os.path.abspath(path) for path in X]
    else:
        x = np.ascontiguousarray(X)
        if x.ndim not in (3, 4):
            raise ValueError(f"X has the shape {x.shape}; images are N×H×W or N×H×W×C")
        np.save(os.path.join(folder, IMAGES), x)
        if not columns:
            if y is not None:
                np.save(os.path.join(folder, TARGETS), y)
            return IMAGES
        names = [f"{IMAGES}[{i}]" for i in range(len(x))]
    table: dict[str, Sequence[Any]] = {FILE: names, **columns}
    if y is not None:
        table.update(zip(_targets(y), np.asarray(y).reshape(len(y), -1).T.tolist()))
    _write_table(folder, table)
    return TABLE


def _columns(also: Any, rows: int) -> dict[str, Sequence[Any]]:
    """The further inputs, by their names."""
    if also is None:
        return {}
    if hasattr(also, "columns"):
        columns = {str(name): also[name].tolist() for name in also.columns}
    else:
        numbers = np.asarray(also).reshape(rows, -1) if len(also) == rows else np.asarray(also)
        columns = {f"x{i}": c.tolist() for i, c in enumerate(numbers.T)}
    for name, values in columns.items():
        if name == FILE or name == TARGET or name.startswith(TARGET) and name[1:].isdigit():
            raise ValueError(f"also has a column {name!r}, which is what images or targets are called; give it another name")
        if len(values) != rows:
            raise ValueError(f"X has {rows} images and also has {len(values)} rows")
    return columns


def _targets(y: Array) -> list[str]:
    """The names of the columns of targets."""
    return [TARGET] if y.ndim == 1 else [f"{TARGET}{i + 1}" for i in range(y.shape[1])]


def _write_table(folder: str, table: dict[str, Sequence[Any]]) -> None:
    with open(os.path.join(folder, TABLE), "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(table)
        w.writerows(zip(*table.values()))


def _fit(self: _Images, X: Any, y: Array, task: str, also: Any) -> None:
    with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
        name = _write(folder, X, y, also)
        args = [name, "--holdout=-1", f"--task={task}"]
        for t in [TARGETS] if name == IMAGES else _targets(y):
            args += ["--target", t]
        if name == TABLE:
            args += ["--image", FILE]
        self._learn(folder, args)


class ImageClassifier(_Images):
    """Tells images apart.

    >>> m = ImageClassifier().fit("photos")    # a folder with a subfolder for each class
    >>> m = ImageClassifier().fit(X, y)        # N×H×W or N×H×W×C, or a list of files
    >>> m.predict_proba(X_new)
    """

    def fit(self, X: Any, y: Any = None, also: Any = None) -> ImageClassifier:
        if y is None:
            return self._fit_folder(X, also)
        self.classes_, numbers = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_}; at least 2 are needed")
        self._levels = [str(k) for k in range(len(self.classes_))]
        _fit(self, X, numbers.astype(np.int64), "classification", also)
        return self

    def _fit_folder(self, X: Any, also: Any) -> ImageClassifier:
        """Learn the classes of a folder's subfolders."""
        if not _is_path(X):
            raise TypeError("y is missing; only a folder of images has the classes of its subfolders")
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            self._learn(folder, [_write(folder, X, None, also), "--holdout=-1"])
            about = os.path.join(folder, ABOUT)
            _binary.run(self.binary, ["inspect", MODEL, "--json"], folder, stdout=about)
            with open(about, encoding="utf-8") as f:
                columns = json.load(f)["table"]["schema"]["columns"]
        self._levels = next(c["levels"] for c in columns if c["role"] == "target")
        self.classes_ = np.array(self._levels)
        return self

    def predict_proba(self, X: Any, also: Any = None) -> Array:
        """Return the probability of each of classes_, image by image; NaN where one cannot be read."""
        header, rows = self._ask(X, also=also)
        at = [header.index(f"p_{k}") for k in self._levels]
        return np.array([[float(r[i]) if r[i] else np.nan for i in at] for r in rows])

    def predict(self, X: Any, also: Any = None) -> Array:
        """Return the most probable class of each image."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X, also), axis=1)])


class ImageRegressor(_Images):
    """Predicts numbers of images, with error bars that also hold for worn images."""

    def fit(self, X: Any, y: Any, also: Any = None) -> ImageRegressor:
        y = np.asarray(y, dtype=np.float64)
        if y.ndim not in (1, 2):
            raise ValueError(f"y has the shape {y.shape}; it has a number for each image, or a row of numbers; ImagePixels learns images")
        self._single = y.ndim == 1
        _fit(self, X, y, "regression", also)
        return self

    def predict(self, X: Any, return_std: bool = False, also: Any = None) -> Any:
        """Return the mean of each target, with return_std also its standard deviation."""
        mean, std = self._numbers(X, ("_mean", "_std"), also=also)
        return (mean, std) if return_std else mean

    def predict_interval(self, X: Any, level: float = 0.9, also: Any = None) -> tuple[Array, Array]:
        """Return the ends of the central interval of each target."""
        low, high = self._numbers(X, ("_lo", "_hi"), f"--interval={level}", also=also)
        return low, high

    def _numbers(self, X: Any, ends: Sequence[str], *options: str, also: Any = None) -> list[Array]:
        header, rows = self._ask(X, *options, also=also)
        out = []
        for end in ends:
            at = [i for i, name in enumerate(header) if name.endswith(end)]
            v = np.array([[float(r[i]) if r[i] else np.nan for i in at] for r in rows])
            out.append(v[:, 0] if self._single else v)
        return out


class ImagePixels(_Images):
    """Predicts every pixel: numbers with error bars, or classes where the targets have few values.

    >>> m = ImagePixels().fit(noisy, clean)    # arrays, or two lists of files
    >>> mean, std = m.predict(new, return_std=True)
    """

    def fit(self, X: Any, Y: Any) -> ImagePixels:
        if _is_path(X) or _is_path(Y) or len(X) == 0 or _is_path(X[0]) != _is_path(Y[0]):
            raise TypeError("images and their targets are two arrays, or two lists of files")
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            if not _is_path(X[0]):
                name = _write(folder, X, np.ascontiguousarray(Y))
                args = [name, "--target-image", TARGETS]
            elif len(X) != len(Y):
                raise ValueError(f"X has {len(X)} images and Y has {len(Y)}")
            else:
                _write_table(folder, {FILE: [os.path.abspath(p) for p in X], TARGET: [os.path.abspath(p) for p in Y]})
                args = [TABLE, "--image", FILE, "--target-image", TARGET]
            self._learn(folder, [*args, "--holdout=-1"])
        return self

    def _arrays(self, X: Any, names: Sequence[str]) -> list[Array]:
        check_is_fitted(self)
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            with open(os.path.join(folder, MODEL), "wb") as f:
                f.write(self.data_)
            name = _write(folder, X, None)
            _binary.run(self.binary, ["predict", MODEL, name, "-o", FOLDER], folder)
            found = [os.path.join(folder, FOLDER, n + ".npy") for n in names]
            if not os.path.exists(found[0]):
                raise AttributeError(f"this model has no {names[0]}; models of numbers have a mean, models of classes probabilities")
            return [np.load(n) for n in found]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of each pixel, with return_std also its standard deviation."""
        mean, std = self._arrays(X, ("mean", "std"))
        return (mean, std) if return_std else mean

    def predict_classes(self, X: Any) -> Any:
        """Return the number of the most probable class of each pixel, and the probabilities of all."""
        return tuple(self._arrays(X, ("class", "probabilities")))


__all__ = ["ImageClassifier", "ImagePixels", "ImageRegressor"]
