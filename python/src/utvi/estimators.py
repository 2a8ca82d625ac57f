"""Estimators for scikit-learn over the utvi program."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _binary, _table
from ._compat import check_columns, finite, validate_data
from .model import MODEL, PARTS, ROWS, Model, Numbers, Path, load

if TYPE_CHECKING:
    import pandas as pd
    from typing_extensions import Self

SETTINGS = "settings.json"
NO_HOLDOUT = -1


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What regression and classification share."""

    def __init__(
        self,
        *,
        ensemble: Optional[int] = None,
        steps: Optional[int] = None,
        width: Optional[int] = None,
        depth: Optional[int] = None,
        activation: Optional[str] = None,
        rule: Optional[str] = None,
        kl: Optional[float] = None,
        rate: Optional[float] = None,
        batch: Optional[int] = None,
        validation: Optional[float] = None,
        holdout: Optional[float] = None,
        categorical: Optional[Sequence[Union[str, int]]] = None,
        max_levels: Optional[int] = None,
        impute: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        binary: Optional[Path] = None,
        verbose: bool = False,
    ) -> None:
        self.ensemble = ensemble
        self.steps = steps
        self.width = width
        self.depth = depth
        self.activation = activation
        self.rule = rule
        self.kl = kl
        self.rate = rate
        self.batch = batch
        self.validation = validation
        self.holdout = holdout
        self.categorical = categorical
        self.max_levels = max_levels
        self.impute = impute
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.binary = binary
        self.verbose = verbose

    def _more_tags(self) -> dict[str, Any]:
        return {"allow_nan": self.impute}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute
        return tags

    def _network(self) -> dict[str, Any]:
        """The settings of the networks; utvi decides those that are None."""
        names = ("ensemble", "steps", "width", "depth", "activation", "rule", "kl", "rate", "batch", "validation")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _seed(self) -> int:
        if self.random_state is None:
            return 1
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state) + 1  # utvi counts seeds from 1
        return int(check_random_state(self.random_state).randint(1, 2**31 - 1))

    def _learn_rows(self, X: Any, y: Any, **options: Any) -> tuple[list[Sequence[Any]], Any]:
        """Check X and y, learn what the columns are, and return rows and y."""
        if _table.is_mixed(X):
            y = validate_data(self, y=y, X="no_validation", **options)
            check_columns(self, X, reset=True)
            if len(X) != len(y):
                raise ValueError(f"X has {len(X)} rows and y has {len(y)}")
            self._kinds: Optional[list[str]] = [_table.kind_of(X.iloc[:, i]) for i in range(X.shape[1])]
            rows = _table.frame_rows(X, self._names(), self._kinds, self.impute)
        else:
            with _saying_impute(self):
                X, y = validate_data(self, X, y, ensure_min_samples=2, **finite(self.impute), **options)
            self._kinds = None
            rows = _table.array_rows(X)
        return rows, y

    def _rows(self, X: Any) -> list[Sequence[Any]]:
        """The rows of X, which must have the columns of fit."""
        check_is_fitted(self)
        if self._kinds is None:
            with _saying_impute(self):
                X = validate_data(self, X, reset=False, **finite(self.impute))
            return _table.array_rows(X)
        if not _table.is_frame(X):
            X = np.asarray(X, dtype=object)
        check_columns(self, X, reset=False)
        if len(X) == 0:
            raise ValueError("X has 0 rows; at least 1 is needed")
        return _table.frame_rows(X, self._names(), self._kinds, self.impute)

    def _names(self) -> list[str]:
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _categorical(self) -> list[str]:
        names = self._names()
        chosen = [] if self.categorical is None else [names[c] if isinstance(c, (int, np.integer)) else c for c in self.categorical]
        for name, kind in zip(names, self._kinds or ()):
            if kind == "category" and name not in chosen:
                chosen.append(name)
        return chosen

    def _fit(
        self, rows: Sequence[Sequence[Any]], targets: list[str], y: Any, sample_weight: Any, task: str, network: dict[str, Any]
    ) -> Self:
        """Train with rows of inputs and rows of targets, and keep the model's file."""
        names = self._names()
        settings = {
            "targets": targets,
            "task": task,
            "inputs": names,
            "categorical": self._categorical(),
            "impute": bool(self.impute),
            "holdout": NO_HOLDOUT if self.holdout is None else self.holdout,
            "seed": self._seed(),
            "network": network,
        }
        if self.max_levels is not None:
            settings["max_levels"] = self.max_levels
        columns = names + targets
        if sample_weight is not None:
            weight = _free_name("weight", columns)
            settings["weight"] = weight
            columns = columns + [weight]
            y = [(*t, w) for t, w in zip(y, sample_weight.tolist())]
        # The order of rows must not matter, though utvi draws them by their number.
        table = sorted(((*row, *t) for row, t in zip(rows, y)), key=repr)
        jobs = [] if self.n_jobs is None or self.n_jobs < 0 else ["--jobs", str(self.n_jobs)]
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            _table.write_csv(os.path.join(folder, ROWS), columns, table)
            with open(os.path.join(folder, SETTINGS), "w", encoding="utf-8") as f:
                json.dump(settings, f, default=lambda v: v.item())
            args = ["fit", ROWS, "--config", SETTINGS, "--out", MODEL, "--report", "none", "--header", "yes", "--delimiter", ",", *jobs]
            _binary.run(self.binary, args, folder, verbose=self.verbose)
            with open(os.path.join(folder, MODEL), "rb") as f:
                self.model_ = f.read()
        return self

    def _model(self) -> Model:
        check_is_fitted(self)
        return Model(self.model_, self.binary)

    def _predicted(self, X: Any, level: float = 0.9, quantiles: Iterable[float] = ()) -> tuple[list[str], Numbers]:
        """The names of the columns of utvi predict, and their numbers."""
        rows = self._rows(X)
        return self._model().ask(self._names(), rows, level, quantiles)

    def predict_ood(self, X: Any) -> Numbers:
        """Return how unlike the training rows each row is (out of distribution): 99 of 100
        training rows are below 1."""
        return self._predicted(X)[1][:, -1]

    def predict_unfamiliarity(self, X: Any) -> Numbers:
        """Return predict_ood(X), under its old name."""
        warnings.warn("predict_unfamiliarity is now called predict_ood", DeprecationWarning, stacklevel=2)
        return self.predict_ood(X)

    def explain(self, X: Any, columns: int = 3) -> pd.DataFrame:
        """Return the columns that moved each prediction most, and by how much: how much larger
        the mean is than with a typical value in the column's place."""
        rows = self._rows(X)
        return self._model().explained(self._names(), rows, columns, _table.index_of(X))

    def calibrate(self, X: Any, y: Any, method: Union[str, Sequence[str], None] = None) -> Self:
        """Correct the error bars by rows that fit has not seen; return self.

        Methods are "scale", "isotonic", "conformal" and "asymmetric", for classes
        "temperature" and "conformal". The default is "scale" and "conformal" for numbers,
        and nothing is stored that makes held-out predictions worse.
        """
        self.model_ = self._model().calibrated(*self._table(X, y), method)
        return self

    def update(self, X: Any, y: Any, forget: float = 0.0) -> Self:
        """Learn new rows on top of what the model knows, without the rows of fit; return self.

        The model remembers the rows of fit by made-up ones with the same local means and
        covariances; forget, 0 to 1, is the share of them that no longer counts, for a world that
        drifts. A calibration is not carried over.
        """
        names, rows = self._table(X, y)
        self.model_ = self._model().updated(names, rows, forget, self.holdout, self.n_jobs)
        return self

    def surprise(self, X: Any, y: Any) -> dict[str, Any]:
        """Return how new rows differ from those of fit: scores with what the error bars promise,
        and the columns that have moved."""
        return self._model().surprised(*self._table(X, y))

    def suggest(
        self, candidates: Any = None, count: int = 1, goal: Union[str, float] = "learn", **options: Any
    ) -> pd.DataFrame:
        """Return the rows to measure next: see Model.suggest."""
        if candidates is not None and not isinstance(candidates, Mapping) and not hasattr(self, "feature_names_in_"):
            candidates = np.asarray(candidates, dtype=object)
        return self._model().suggest(candidates, count, goal, **options)

    def _table(self, X: Any, y: Any) -> tuple[list[str], list[Sequence[Any]]]:
        """Rows with their targets."""
        rows = self._rows(X)
        names, y = self._targets_of(y)
        if len(y) != len(rows):
            raise ValueError(f"X has {len(rows)} rows and y has {len(y)}")
        return self._names() + names, [(*r, *t) for r, t in zip(rows, y)]

    def save(self, path: Path) -> None:
        """Write the model to a file that `utvi predict`, `utvi serve`, load and others read."""
        self._model().save(path)

    @classmethod
    def load(cls, path: Path, binary: Optional[Path] = None) -> Self:
        """Return an estimator with the model of a file, whoever fitted it."""
        m = load(path, binary)
        self = cls(binary=binary)
        self.model_ = m.data
        types = [c.get("type") for c in m.about["columns"]]
        kinds = {"numeric": "number", "time": "date"}
        self._kinds = None if set(types) == {"numeric"} else [kinds.get(str(t), "text") for t in types]
        self.impute = bool(m.about["missing"])
        self.n_features_in_ = len(m.columns)
        if m.columns != [f"x{i}" for i in range(len(m.columns))]:
            self.feature_names_in_ = np.array(m.columns, dtype=object)
        self._loaded(m, os.fspath(path))
        return self


class UTVIRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Regression by an ensemble of Bayesian neural networks, with error bars.

    The utvi program trains and predicts; it must be on PATH, or named by `binary` or by
    the environment variable UTVI_BINARY. Nothing needs tuning: utvi decides what is None
    by the number of rows or on rows that it holds out.

    Parameters
    ----------
    ensemble : int, number of networks (default 5, or up to 10 that stop early)
    steps : int, training steps of a network (default by the number of rows)
    width, depth : int, units of a hidden layer and number of hidden layers
    activation : str, nonlinearity, such as "gelu" or a formula of x
    rule : str, rule that carries mean and variance through it, such as "ut(2)"
    noise : str, "embedded", "learned", "heteroscedastic"; for counts "poisson" or
        "negative-binomial"
    kl : float, weight of the KL penalty
    rate : float, largest learning rate
    batch : int, rows in a training step
    validation : float, share of training rows to choose the networks by
    holdout : float, share of rows that training never sees (default none: with
        scikit-learn, rows are held out before fit)
    categorical : list of names or positions of numeric columns that are categories;
        columns of dtype "category" always are
    max_levels : int, most levels of a category that get an input each; a column with
        more levels is embedded
    impute : bool, accept missing inputs
    random_state : int; the same number gives the same bits. None is a fixed seed, too.
    n_jobs : int, trainings at the same time (default all cores)
    binary : path of the utvi program
    verbose : bool, print the progress

    Attributes
    ----------
    model_ : bytes of the model's file
    n_features_in_, feature_names_in_ : as in scikit-learn
    """

    def __init__(
        self,
        *,
        ensemble: Optional[int] = None,
        steps: Optional[int] = None,
        width: Optional[int] = None,
        depth: Optional[int] = None,
        activation: Optional[str] = None,
        rule: Optional[str] = None,
        noise: Optional[str] = None,
        kl: Optional[float] = None,
        rate: Optional[float] = None,
        batch: Optional[int] = None,
        validation: Optional[float] = None,
        holdout: Optional[float] = None,
        categorical: Optional[Sequence[Union[str, int]]] = None,
        max_levels: Optional[int] = None,
        impute: bool = False,
        random_state: Any = None,
        n_jobs: Optional[int] = None,
        binary: Optional[Path] = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            ensemble=ensemble,
            steps=steps,
            width=width,
            depth=depth,
            activation=activation,
            rule=rule,
            kl=kl,
            rate=rate,
            batch=batch,
            validation=validation,
            holdout=holdout,
            categorical=categorical,
            max_levels=max_levels,
            impute=impute,
            random_state=random_state,
            n_jobs=n_jobs,
            binary=binary,
            verbose=verbose,
        )
        self.noise = noise

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn y, one number a row or several, from the columns of X."""
        names = _target_names(y)
        rows, y = self._learn_rows(X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self._flat = y.ndim == 1
        y = y.reshape(len(y), -1)
        rows, y, sample_weight = _weigh(rows, y, sample_weight)
        taken = self._names()
        self._targets: list[str] = []
        for i in range(y.shape[1]):
            name = names[i] if names else ("y" if y.shape[1] == 1 else f"y{i + 1}")
            self._targets.append(_free_name(name, taken + self._targets))
        network = self._network()
        if self.noise is not None:
            network["noise"] = self.noise
        return self._fit(rows, self._targets, y.tolist(), sample_weight, "regression", network)

    def _loaded(self, m: Model, path: str) -> None:
        if m.classes is not None:
            raise ValueError(f"{path} predicts classes; load it with UTVIClassifier")
        self._targets = m.targets
        self._flat = len(m.targets) == 1

    def _targets_of(self, y: Any) -> tuple[list[str], list[list[Any]]]:
        return self._targets, np.asarray(y, dtype=np.float64).reshape(-1, len(self._targets)).tolist()

    def _columns(self, answer: tuple[list[str], Numbers], wanted: Iterable[int]) -> list[Numbers]:
        """Columns of the predictions, one array for each of `wanted`."""
        _, values = answer
        each = (values.shape[1] - 1) // len(self._targets)  # columns of a target; "ood" is last
        values = values[:, :-1].reshape(len(values), len(self._targets), each)
        return [values[:, 0, i] if self._flat else values[:, :, i] for i in wanted]

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """Return the mean of each row, and with return_std its standard deviation."""
        mean, std = self._columns(self._predicted(X), (0, 1))
        return (mean, std) if return_std else mean

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Numbers, Numbers]:
        """Return the lower and upper ends of intervals that hold the target with
        probability `level`."""
        low, high = self._columns(self._predicted(X, level), (2, 3))
        return low, high

    def predict_quantiles(self, X: Any, levels: Union[float, Sequence[float]] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> Numbers:
        """Return the quantiles of each row; the last axis has one entry for each level."""
        levels = [float(q) for q in np.atleast_1d(levels)]
        first = 4 + len(PARTS)
        return np.stack(self._columns(self._predicted(X, quantiles=levels), range(first, first + len(levels))), axis=-1)

    def predict_variance(self, X: Any) -> dict[str, Numbers]:
        """Return where the variance comes from: a dict of the parts "weights" (what the
        model does not know), "inputs" and "noise"."""
        return dict(zip(PARTS, self._columns(self._predicted(X), (4, 5, 6))))

    def predict_frame(self, X: Any, level: float = 0.9) -> pd.DataFrame:
        """Return everything about each row as a data frame, with the index of X."""
        import pandas as pd

        names, values = self._predicted(X, level)
        out: pd.DataFrame = pd.DataFrame(values, columns=names, index=_table.index_of(X))
        return out


class UTVIClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Classification by an ensemble of Bayesian neural networks.

    Parameters and attributes are those of UTVIRegressor without `noise`, and `classes_`.
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the class of each row from the columns of X."""
        name = (_target_names(y) or ["y"])[0]
        rows, y = self._learn_rows(X, y)
        check_classification_targets(y)
        y = np.asarray(y)
        rows, y, sample_weight = _weigh(rows, y, sample_weight)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y has one class, {self.classes_[0]!r}; at least 2 classes are needed")
        labels = _labels(self.classes_)
        self._target = _free_name(name, self._names())
        return self._fit(rows, [self._target], [(labels[i],) for i in number], sample_weight, "classification", self._network())

    def _loaded(self, m: Model, path: str) -> None:
        if m.classes is None:
            raise ValueError(f"{path} predicts numbers; load it with UTVIRegressor")
        self._target = m.targets[0]
        try:
            self.classes_ = np.array([int(c) for c in m.classes])
        except ValueError:
            self.classes_ = np.array(m.classes)

    def update(self, X: Any, y: Any, forget: float = 0.0) -> Self:
        super().update(X, y, forget)
        known = self._model().classes or []
        kept = [text in known for text in _labels(self.classes_)]  # all, unless they were forgotten
        self.classes_ = self.classes_[kept]
        return self

    def _targets_of(self, y: Any) -> tuple[list[str], list[list[Any]]]:
        labels = dict(zip(self.classes_.tolist(), _labels(self.classes_)))
        y = np.asarray(y).ravel().tolist()
        unknown = [v for v in y if v not in labels]
        if unknown:
            raise ValueError(f"y has the class {unknown[0]!r}; the model knows {', '.join(map(repr, labels))}")
        return [self._target], [[labels[v]] for v in y]

    def predict_proba(self, X: Any) -> Numbers:
        """Return the probability of each class, in the order of classes_."""
        check_is_fitted(self)
        p = self._predicted(X)[1][:, : len(self.classes_)]
        total: Numbers = p.sum(axis=1, keepdims=True)
        return p / total

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        p = self.predict_proba(X)
        best: NDArray[Any] = self.classes_[np.argmax(p, axis=1)]
        return best

    def predict_log_proba(self, X: Any) -> Numbers:
        """Return the logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            log: Numbers = np.log(self.predict_proba(X))
            return log

    def predict_frame(self, X: Any) -> pd.DataFrame:
        """Return class, probabilities, entropy and "ood" as a data frame, with the index of X."""
        import pandas as pd

        names, values = self._predicted(X)
        k = len(self.classes_)
        names = [f"p_{c}" for c in self.classes_] + names[k:]
        out: pd.DataFrame = pd.DataFrame(values, columns=names, index=_table.index_of(X))
        out.insert(0, self._target, self.classes_[np.argmax(values[:, :k], axis=1)])
        return out


class _saying_impute:
    """Tell what helps when scikit-learn refuses NaN."""

    def __init__(self, estimator: _Estimator) -> None:
        self.name = type(estimator).__name__

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: Optional[BaseException], trace: Any) -> None:
        if isinstance(error, ValueError) and "Input X contains NaN" in str(error):
            raise ValueError(f"Input X contains NaN; {self.name}(impute=True) accepts missing values") from None


def _weigh(rows: list[Sequence[Any]], y: Any, sample_weight: Any) -> tuple[list[Sequence[Any]], Any, Any]:
    """Rows without weight are left out, and equal weights are none."""
    if sample_weight is None:
        return rows, y, None
    w = _check_sample_weight(sample_weight, np.empty((len(rows), 1)), dtype=np.float64)
    if (w < 0).any():
        raise ValueError("sample_weight has a negative weight")
    if not (w > 0).any():
        raise ValueError("sample_weight is 0 in every row")
    used = w > 0
    rows, y, w = [row for row, u in zip(rows, used) if u], y[used], w[used]
    return rows, y, None if (w == w[0]).all() else w


def _target_names(y: Any) -> Optional[list[str]]:
    """The names that a series or a frame of targets has, or None."""
    if hasattr(y, "columns"):
        names = list(y.columns)
    else:
        names = [getattr(y, "name", None)]
    return names if all(isinstance(n, str) and n for n in names) else None


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _labels(classes: NDArray[Any]) -> list[str]:
    """Texts for classes that utvi sorts as numpy does: the classes, or c000, c001 …"""
    texts = [str(c) for c in classes.tolist()]
    if classes.dtype.kind in "iu" or classes.dtype.kind in "OU" and all(map(_is_word, texts)):
        return texts
    return [f"c{i:03d}" for i in range(len(classes))]


def _is_word(text: str) -> bool:
    """Report whether utvi reads a text as this text: no number, nothing missing."""
    return text[:1].isalpha() and text == text.strip() and text.lower() not in (
        "na", "n/a", "nan", "null", "none", "inf", "infinity", "true", "false",
    )


__all__ = ["UTVIClassifier", "UTVIRegressor"]
