"""Peers of utvi on tables, with scikit-learn and, where they are installed, LightGBM, CatBoost and NGBoost.

    python peers.py score < JSON      a training and a test table: scores of all peers, as JSON
    python peers.py export FOLDER     the tables that scikit-learn and statsmodels bring, as CSV

Settings are the libraries' own, as a user would take them without tuning; where a library has a class
that chooses a penalty by itself, that class is taken. Distributions of numbers are Normals: of the
model's own variance where it has one, of residuals of folds elsewhere.
"""

import json
import math
import os
import sys
import warnings

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
warnings.filterwarnings("ignore")

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (ExtraTreesClassifier, ExtraTreesRegressor, HistGradientBoostingClassifier,
                              HistGradientBoostingRegressor)
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import BayesianRidge, LogisticRegression
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

MOST_GP = 1000  # rows that a Gaussian process takes


def columns(spec, train, test):
    """Inputs as numbers: names have a column for each of at most 50 levels, gaps a column that says so."""
    used = [c for c in train.columns if c != spec["target"] and c not in (spec.get("ignore") or [])]
    named = [c for c in used if c in (spec.get("categorical") or []) or not pd.api.types.is_numeric_dtype(train[c])]
    numbers = [c for c in used if c not in named]
    parts = []
    if numbers:
        parts.append((make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers))
    if named:
        parts.append((make_pipeline(SimpleImputer(strategy="constant", fill_value="?"),
                                    OneHotEncoder(handle_unknown="ignore", max_categories=50, sparse_output=False)), named))
    for c in named:
        train[c], test[c] = train[c].astype(object), test[c].astype(object)
        train[c] = train[c].where(train[c].isna(), train[c].astype(str))
        test[c] = test[c].where(test[c].isna(), test[c].astype(str))
    both = make_column_transformer(*parts)
    x, tx = both.fit_transform(train[used]), both.transform(test[used])
    varies = x.std(axis=0) > 0
    return np.asarray(x[:, varies], float), np.asarray(tx[:, varies], float)


def normal(y, mean, sd):
    return -0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((y - mean) / sd) ** 2


def mass(y, mean, sd):
    """The logarithm of the probability of a whole number: of the Normal over half a unit to each side."""
    from scipy.stats import norm
    return np.log(np.maximum(1e-30, norm.cdf((y + 0.5 - mean) / sd) - norm.cdf((y - 0.5 - mean) / sd)))


def regression(x, y, tx, ty, seed):
    scale = y.std() or 1
    # A Normal of constant width, as far as predictions of folds are off.
    def of_folds(model):
        off = y - cross_val_predict(clone(model), x, y, cv=KFold(min(5, len(y)), shuffle=True, random_state=seed))
        return model.fit(x, y).predict(tx), np.full(len(ty), max(off.std(), 1e-6 * scale))

    def gp():
        few = np.random.RandomState(seed).permutation(len(y))[:MOST_GP]
        kernel = ConstantKernel(1.0) * RBF(np.full(x.shape[1], 2.0), (1e-1, 1e4)) + WhiteKernel(0.3, (1e-4, 10))
        if x.shape[1] > 30:
            kernel = ConstantKernel(1.0) * RBF(math.sqrt(x.shape[1])) + WhiteKernel(0.3)
        m = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed).fit(x[few], y[few])
        return m.predict(tx, return_std=True)

    def trees():
        m = ExtraTreesRegressor(400, bootstrap=True, oob_score=True, random_state=seed, n_jobs=1).fit(x, y)
        each = np.stack([t.predict(tx) for t in m.estimators_])
        off = max(1e-6 * scale, float(np.nanstd(y - m.oob_prediction_)))
        return m.predict(tx), np.sqrt(off**2 + 0 * each.var(0))

    def catboost():
        from catboost import CatBoostRegressor
        m = CatBoostRegressor(loss_function="RMSEWithUncertainty", random_seed=seed, verbose=0, thread_count=1, iterations=500, allow_writing_files=False).fit(x, y)
        p = m.predict(tx)
        return p[:, 0], np.sqrt(p[:, 1])

    def ngboost():
        from ngboost import NGBRegressor
        p = NGBRegressor(random_state=seed, verbose=False).fit(x, y).pred_dist(tx)
        return p.loc, p.scale

    def lightgbm():
        from lightgbm import LGBMRegressor
        return of_folds(LGBMRegressor(random_state=seed, verbose=-1, n_jobs=1))

    methods = {
        "mean": lambda: (np.full(len(ty), y.mean()), np.full(len(ty), y.std(ddof=1))),
        "ridge": lambda: BayesianRidge().fit(x, y).predict(tx, return_std=True),
        "GP": gp, "extra trees": trees,
        "hist boosting": lambda: of_folds(HistGradientBoostingRegressor(random_state=seed)),
        "LightGBM": lightgbm, "CatBoost": catboost, "NGBoost": ngboost,
    }
    found = {}
    whole = bool(np.all(y == np.round(y)) and np.all(ty == np.round(ty)))

    def add(name, mean, sd, at, slopes=0.0, back=lambda v: v):
        mean, sd = np.asarray(mean, float), np.maximum(np.asarray(sd, float), 1e-9)
        found[name] = {"ll": float(np.mean(normal(at, mean, sd) + slopes)), "rmse": float(np.sqrt(np.mean((back(mean) - ty) ** 2))),
                       "cover": float(np.mean(np.abs(at - mean) < 1.644854 * sd))}
        if whole and at is ty:
            found[name]["ll_mass"] = float(np.mean(mass(ty, mean, sd)))

    for name, run in methods.items():
        try:
            add(name, *run(), ty)
        except ImportError:
            pass
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e)[:200]}", file=sys.stderr)
    if min(y.min(), ty.min()) > 0:
        mean, sd = BayesianRidge().fit(x, np.log(y)).predict(tx, return_std=True)
        add("ridge on ln y", mean, sd, np.log(ty), -np.log(ty), np.exp)
    return found


def classes(x, y, tx, ty, seed):
    names = np.unique(y)
    number = {c: i for i, c in enumerate(names)}
    y = np.array([number[c] for c in y])
    at = np.array([number.get(c, -1) for c in ty])

    def library(name, make):
        def run():
            module = __import__(name)
            return make(module)
        return run

    methods = {
        "shares": lambda: None,
        "logistic": lambda: LogisticRegression(max_iter=5000),
        "extra trees": lambda: ExtraTreesClassifier(400, random_state=seed, n_jobs=1),
        "hist boosting": lambda: HistGradientBoostingClassifier(random_state=seed),
        "LightGBM": library("lightgbm", lambda m: m.LGBMClassifier(random_state=seed, verbose=-1, n_jobs=1)),
        "CatBoost": library("catboost", lambda m: m.CatBoostClassifier(random_seed=seed, verbose=0, thread_count=1, iterations=300 if len(names) > 4 else 500, allow_writing_files=False)),
    }
    if len(names) == 2:
        methods["NGBoost"] = library("ngboost", lambda m: m.NGBClassifier(random_state=seed, verbose=False))
    if x.shape[1] * len(names) > 3000:  # minutes a fit
        for slow in ("CatBoost", "LightGBM", "hist boosting"):
            methods.pop(slow)
    found = {}
    for name, make in methods.items():
        try:
            m = make()
            if m is None:
                p = np.tile(np.bincount(y, minlength=len(names)) / len(y), (len(at), 1))
            else:
                p = m.fit(x, y).predict_proba(tx)
        except ImportError:
            continue
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {str(e)[:200]}", file=sys.stderr)
            continue
        right = np.where(at >= 0, p[np.arange(len(at)), np.maximum(at, 0)], 0)
        least = 1e-3 if name == "extra trees" else 1e-15  # of votes: 400 trees do not say 0
        found[name] = {"ll": float(np.mean(np.log(np.maximum(least, right)))), "accuracy": float(np.mean(p.argmax(1) == at))}
    return found


def score():
    spec = json.load(sys.stdin)
    marks = ["", "NA", "?"]
    train, test = (pd.read_csv(spec[k], na_values=marks, keep_default_na=False) for k in ("train", "test"))
    train, test = train.dropna(subset=[spec["target"]]), test.dropna(subset=[spec["target"]])
    y, ty = train[spec["target"]].to_numpy(), test[spec["target"]].to_numpy()
    x, tx = columns(spec, train, test)
    run = classes if spec.get("task") == "classification" else regression
    if run is regression:
        y, ty = y.astype(float), ty.astype(float)
    else:
        y, ty = y.astype(str), ty.astype(str)
    json.dump(run(x, y, tx, ty, spec.get("seed", 0)), sys.stdout)


def export(folder):
    import sklearn.datasets
    import statsmodels.datasets

    def write(name, frame):
        frame.to_csv(os.path.join(folder, name + ".csv"), index=False)

    for name in ("breast_cancer", "wine", "digits", "iris", "diabetes"):
        data = getattr(sklearn.datasets, "load_" + name)(as_frame=True)
        frame = data.frame
        if name != "diabetes":
            frame["target"] = [f"c{int(v)}" for v in data.target]
        write("sklearn_" + name, frame)
    for name in ("statecrime", "ccard", "strikes", "cancer", "spector", "anes96", "star98", "engel", "grunfeld"):
        frame = getattr(statsmodels.datasets, name).load_pandas().data
        if name == "star98":
            frame["share"] = frame["NABOVE"] / (frame["NABOVE"] + frame["NBELOW"])
        if name in ("spector", "anes96"):
            target = {"spector": "GRADE", "anes96": "vote"}[name]
            frame[target] = ["yes" if v > 0 else "no" for v in frame[target]]
        write("statsmodels_" + name, frame)


if __name__ == "__main__":
    if sys.argv[1:2] == ["export"] and len(sys.argv) == 3:
        export(sys.argv[2])
    elif sys.argv[1:] == ["score"]:
        score()
    else:
        sys.exit(__doc__)
