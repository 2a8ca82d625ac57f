"""Images: classes, numbers, or every pixel, with error bars, as scikit-learn has its estimators."""

from __future__ import annotations

import csv
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
SETTINGS = ("size", "augment", "steps", "ensemble", "width", "depth", "minutes")


class _Images(BaseEstimator):  # type: ignore[misc]
    """What estimators of images share. X is an array, N×H×W or N×H×W×C, or a list of image files."""

    def __init__(
        self,
        size: Optional[int] = None,
        augment: Optional[str] = None,
        steps: Optional[int] = None,
        ensemble: Optional[int] = None,
        width: Optional[int] = None,
        depth: Optional[int] = None,
        minutes: Optional[float] = None,
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
        _binary.run(self.binary, args, folder, verbose=self.verbose)
        with open(os.path.join(folder, MODEL), "rb") as f:
            self.data_ = f.read()

    def _ask(self, X: Any, *options: str) -> tuple[list[str], list[list[str]]]:
        """Run utvi predict: the names of the columns and the rows, without the images' names."""
        check_is_fitted(self)
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            with open(os.path.join(folder, MODEL), "wb") as f:
                f.write(self.data_)
            name = _write(folder, X, None)
            out = os.path.join(folder, RESULT)
            _binary.run(self.binary, ["predict", MODEL, name, "--keep", "file", "--digits", "17", *options, "-o", RESULT], folder)
            with open(out, newline="", encoding="utf-8") as f:
                rows = list(csv.reader(f))
        return rows[0][1:], [r[1:] for r in rows[1:]]

    def predict_frame(self, X: Any, *options: str) -> Any:
        """Return everything that utvi predict writes as a data frame; options are its flags."""
        import pandas as pd

        header, rows = self._ask(X, *options)
        out = pd.DataFrame(rows, columns=header)
        for name in header:
            numbers = pd.to_numeric(out[name], errors="coerce")
            if numbers.notna().any():
                out[name] = numbers
        return out


def _write(folder: str, X: Any, y: Optional[Array]) -> str:
    """Write images, and their targets if there are any; return what utvi is to read."""
    if isinstance(X, (str, os.PathLike)):
        raise TypeError("X is a path; it must be an array of images, or a list of the paths of image files")
    if len(X) == 0:
        raise ValueError("X has 0 images; at least 1 is needed")
    if y is not None and len(y) != len(X):
        raise ValueError(f"X has {len(X)} images and y has {len(y)}")
    if not isinstance(X[0], (str, os.PathLike)):
        x = np.ascontiguousarray(X)
        if x.ndim not in (3, 4):
            raise ValueError(f"X has the shape {x.shape}; images are N×H×W or N×H×W×C")
        np.save(os.path.join(folder, IMAGES), x)
        if y is not None:
            np.save(os.path.join(folder, TARGETS), y)
        return IMAGES
    columns = [] if y is None else ["y"] if y.ndim == 1 else [f"y{i + 1}" for i in range(y.shape[1])]
    with open(os.path.join(folder, TABLE), "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f)
        w.writerow(["file", *columns])
        for i, path in enumerate(X):
            w.writerow([os.path.abspath(path), *([] if y is None else np.atleast_1d(y[i]).tolist())])
    return TABLE


def _fit(self: _Images, X: Any, y: Array, task: str) -> None:
    with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
        name = _write(folder, X, y)
        targets = [TARGETS]
        if name == TABLE:
            targets = ["y"] if y.ndim == 1 else [f"y{i + 1}" for i in range(y.shape[1])]
        args = [name, "--holdout=-1", f"--task={task}"]
        for t in targets:
            args += ["--target", t]
        if name == TABLE:
            args += ["--image", "file"]
        self._learn(folder, args)


class ImageClassifier(_Images):
    """Tells images apart.

    >>> m = ImageClassifier().fit(X, y)        # N×H×W or N×H×W×C, or a list of files
    >>> m.predict_proba(X_new)
    """

    def fit(self, X: Any, y: Any) -> ImageClassifier:
        self.classes_, numbers = np.unique(np.asarray(y), return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_}; at least 2 are needed")
        _fit(self, X, numbers.astype(np.int64), "classification")
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probability of each of classes_, image by image; NaN where one cannot be read."""
        header, rows = self._ask(X)
        at = [header.index(f"p_{k}") for k in range(len(self.classes_))]
        return np.array([[float(r[i]) if r[i] else np.nan for i in at] for r in rows])

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each image."""
        return np.asarray(self.classes_[np.argmax(self.predict_proba(X), axis=1)])


class ImageRegressor(_Images):
    """Predicts numbers of images, with error bars that also hold for worn images."""

    def fit(self, X: Any, y: Any) -> ImageRegressor:
        y = np.asarray(y, dtype=np.float64)
        if y.ndim not in (1, 2):
            raise ValueError(f"y has the shape {y.shape}; it has a number for each image, or a row of numbers; ImagePixels learns images")
        self._single = y.ndim == 1
        _fit(self, X, y, "regression")
        return self

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of each target, with return_std also its standard deviation."""
        mean, std = self._numbers(X, ("_mean", "_std"))
        return (mean, std) if return_std else mean

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Array, Array]:
        """Return the ends of the central interval of each target."""
        low, high = self._numbers(X, ("_lo", "_hi"), f"--interval={level}")
        return low, high

    def _numbers(self, X: Any, ends: Sequence[str], *options: str) -> list[Array]:
        header, rows = self._ask(X, *options)
        out = []
        for end in ends:
            at = [i for i, name in enumerate(header) if name.endswith(end)]
            v = np.array([[float(r[i]) if r[i] else np.nan for i in at] for r in rows])
            out.append(v[:, 0] if self._single else v)
        return out


class ImagePixels(_Images):
    """Predicts every pixel: numbers with error bars, or classes where the targets have few values.

    >>> m = ImagePixels().fit(noisy, clean)    # arrays
    >>> mean, std = m.predict(new, return_std=True)
    """

    def fit(self, X: Any, Y: Any) -> ImagePixels:
        Y = np.ascontiguousarray(Y)
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            name = _write(folder, X, Y)
            if name == TABLE:
                raise TypeError("X is a list; images and their targets are arrays here")
            self._learn(folder, [name, "--target-image", TARGETS, "--holdout=-1"])
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
