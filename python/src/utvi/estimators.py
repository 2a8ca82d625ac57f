"""Estimators for scikit-learn over the utvi program."""

import json
import os
import tempfile
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _binary, _table
from ._compat import check_columns, finite, validate_data

MODEL, ROWS, SETTINGS, RESULT = "model.utvi", "rows.csv", "settings.json", "predicted.csv"
NO_HOLDOUT = -1


class _Estimator(BaseEstimator):
    """What regression and classification share."""

    def __init__(
        self,
        *,
        ensemble=None,
        steps=None,
        width=None,
        depth=None,
        activation=None,
        rule=None,
        kl=None,
        rate=None,
        batch=None,
        validation=None,
        holdout=None,
        categorical=None,
        max_levels=None,
        impute=False,
        random_state=None,
        n_jobs=None,
        binary=None,
        verbose=False,
    ):
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

    def _more_tags(self):
        return {"allow_nan": self.impute}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.impute
        return tags

    def _network(self):
        """The settings of the networks; utvi decides those that are None."""
        names = ("ensemble", "steps", "width", "depth", "activation", "rule", "kl", "rate", "batch", "validation")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def _seed(self):
        if self.random_state is None:
            return 1
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state) + 1  # utvi counts seeds from 1
        return int(check_random_state(self.random_state).randint(1, 2**31 - 1))

    def _learn_rows(self, X, y, **options):
        """Check X and y, learn what the columns are, and return rows and y."""
        if _table.is_mixed(X):
            y = validate_data(self, y=y, X="no_validation", **options)
            check_columns(self, X, reset=True)
            if len(X) != len(y):
                raise ValueError(f"X has {len(X)} rows and y has {len(y)}")
            self._kinds = [_table.kind_of(X.iloc[:, i]) for i in range(X.shape[1])]
            rows = _table.frame_rows(X, self._names(), self._kinds, self.impute)
        else:
            X, y = validate_data(self, X, y, ensure_min_samples=2, **finite(self.impute), **options)
            self._kinds = None
            rows = _table.array_rows(X)
        return rows, y

    def _rows(self, X):
        """The rows of X, which must have the columns of fit."""
        check_is_fitted(self)
        if self._kinds is None:
            X = validate_data(self, X, reset=False, **finite(self.impute))
            return _table.array_rows(X)
        if not _table.is_frame(X):
            X = np.asarray(X, dtype=object)
        check_columns(self, X, reset=False)
        if len(X) == 0:
            raise ValueError("X has 0 rows; at least 1 is needed")
        return _table.frame_rows(X, self._names(), self._kinds, self.impute)

    def _names(self):
        if hasattr(self, "feature_names_in_"):
            return list(self.feature_names_in_)
        return [f"x{i}" for i in range(self.n_features_in_)]

    def _categorical(self):
        names = self._names()
        chosen = [] if self.categorical is None else [names[c] if isinstance(c, (int, np.integer)) else c for c in self.categorical]
        for name, kind in zip(names, self._kinds or ()):
            if kind == "category" and name not in chosen:
                chosen.append(name)
        return chosen

    def _fit(self, rows, targets, y, sample_weight, task, network):
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

    def _predicted(self, X, *options, skip=0):
        """Run utvi predict: the names of its columns and their numbers."""
        rows = self._rows(X)
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            with open(os.path.join(folder, MODEL), "wb") as f:
                f.write(self.model_)
            _table.write_csv(os.path.join(folder, ROWS), self._names(), rows)
            result = os.path.join(folder, RESULT)
            args = ["predict", MODEL, ROWS, "--digits", "17", "--header", "yes", "--delimiter", ",", *options]
            _binary.run(self.binary, args, folder, stdout=result)
            return _table.read_csv(result, skip)

    def predict_ood(self, X):
        """Return how unlike the training rows each row is (out of distribution): 99 of 100
        training rows are below 1."""
        return self._predicted(X, skip=1)[1][:, -1]

    def predict_unfamiliarity(self, X):
        """Return predict_ood(X), under its old name."""
        warnings.warn("predict_unfamiliarity is now called predict_ood", DeprecationWarning, stacklevel=2)
        return self.predict_ood(X)

    def save(self, path):
        """Write the model to a file that `utvi predict`, `utvi serve` and others read."""
        check_is_fitted(self)
        with open(path, "wb") as f:
            f.write(self.model_)


class UTVIRegressor(RegressorMixin, _Estimator):
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
        ensemble=None,
        steps=None,
        width=None,
        depth=None,
        activation=None,
        rule=None,
        noise=None,
        kl=None,
        rate=None,
        batch=None,
        validation=None,
        holdout=None,
        categorical=None,
        max_levels=None,
        impute=False,
        random_state=None,
        n_jobs=None,
        binary=None,
        verbose=False,
    ):
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

    def _more_tags(self):
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X, y, sample_weight=None):
        """Learn y, one number a row or several, from the columns of X."""
        names = _target_names(y)
        rows, y = self._learn_rows(X, y, multi_output=True, y_numeric=True)
        y = np.asarray(y, dtype=np.float64)
        self._flat = y.ndim == 1
        y = y.reshape(len(y), -1)
        rows, y, sample_weight = _weigh(rows, y, sample_weight)
        taken = self._names()
        self._targets = []
        for i in range(y.shape[1]):
            name = names[i] if names else ("y" if y.shape[1] == 1 else f"y{i + 1}")
            self._targets.append(_free_name(name, taken + self._targets))
        network = self._network()
        if self.noise is not None:
            network["noise"] = self.noise
        return self._fit(rows, self._targets, y.tolist(), sample_weight, "regression", network)

    def _columns(self, X, names, *options):
        """Columns of the predictions, one array for each of `names`."""
        _, values = self._predicted(X, *options)
        each = (values.shape[1] - 1) // len(self._targets)  # columns of a target; "ood" is last
        values = values[:, :-1].reshape(len(values), len(self._targets), each)
        return [values[:, 0, i] if self._flat else values[:, :, i] for i in names]

    def predict(self, X, return_std=False):
        """Return the mean of each row, and with return_std its standard deviation."""
        mean, std = self._columns(X, (0, 1), "--budget=false")
        return (mean, std) if return_std else mean

    def predict_interval(self, X, level=0.9):
        """Return the lower and upper ends of intervals that hold the target with
        probability `level`."""
        return tuple(self._columns(X, (2, 3), "--budget=false", "--interval", str(level)))

    def predict_quantiles(self, X, levels=(0.05, 0.25, 0.5, 0.75, 0.95)):
        """Return the quantiles of each row; the last axis has one entry for each level."""
        levels = [float(q) for q in np.atleast_1d(levels)]
        at = range(4, 4 + len(levels))
        return np.stack(self._columns(X, at, "--budget=false", "--quantiles", ",".join(map(repr, levels))), axis=-1)

    def predict_variance(self, X):
        """Return where the variance comes from: a dict of the parts "weights" (what the
        model does not know), "inputs" and "noise"."""
        return dict(zip(("weights", "inputs", "noise"), self._columns(X, (4, 5, 6))))

    def predict_frame(self, X, level=0.9):
        """Return everything about each row as a data frame, with the index of X."""
        import pandas as pd

        names, values = self._predicted(X, "--interval", str(level))
        return pd.DataFrame(values, columns=names, index=_table.index_of(X))


class UTVIClassifier(ClassifierMixin, _Estimator):
    """Classification by an ensemble of Bayesian neural networks.

    Parameters and attributes are those of UTVIRegressor without `noise`, and `classes_`.
    """

    def fit(self, X, y, sample_weight=None):
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

    def predict_proba(self, X):
        """Return the probability of each class, in the order of classes_."""
        check_is_fitted(self)
        p = self._predicted(X, skip=1)[1][:, : len(self.classes_)]
        return p / p.sum(axis=1, keepdims=True)

    def predict(self, X):
        """Return the most probable class of each row."""
        p = self.predict_proba(X)
        return self.classes_[np.argmax(p, axis=1)]

    def predict_log_proba(self, X):
        """Return the logarithm of predict_proba."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict_frame(self, X):
        """Return class, probabilities, entropy and "ood" as a data frame, with the index of X."""
        import pandas as pd

        names, values = self._predicted(X, skip=1)
        k = len(self.classes_)
        names = [f"p_{c}" for c in self.classes_] + names[k:]
        out = pd.DataFrame(values, columns=names, index=_table.index_of(X))
        out.insert(0, self._target, self.classes_[np.argmax(values[:, :k], axis=1)])
        return out


def _weigh(rows, y, sample_weight):
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


def _target_names(y):
    """The names that a series or a frame of targets has, or None."""
    if hasattr(y, "columns"):
        names = list(y.columns)
    else:
        names = [getattr(y, "name", None)]
    return names if all(isinstance(n, str) and n for n in names) else None


def _free_name(name, taken):
    while name in taken:
        name += "_"
    return name


def _labels(classes):
    """Texts for classes that utvi sorts as numpy does: the classes, or c000, c001 …"""
    texts = [str(c) for c in classes.tolist()]
    if classes.dtype.kind in "iu" or classes.dtype.kind in "OU" and all(map(_is_word, texts)):
        return texts
    return [f"c{i:03d}" for i in range(len(classes))]


def _is_word(text):
    """Report whether utvi reads a text as this text: no number, nothing missing."""
    return text[:1].isalpha() and text == text.strip() and text.lower() not in (
        "na", "n/a", "nan", "null", "none", "inf", "infinity", "true", "false",
    )


__all__ = ["UTVIClassifier", "UTVIRegressor"]
