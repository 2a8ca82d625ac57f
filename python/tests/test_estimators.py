"""What users do: error bars, data frames, pipelines, searches, pickles."""

import pickle
import re
import stat
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from utvi import BinaryNotFoundError, UTVIClassifier, UTVIRegressor, UtviError
from utvi import _binary


@pytest.fixture
def line():
    """y = 3 x0 + noise of standard deviation 0.5, and a column that does not matter."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 2))
    return X, 3 * X[:, 0] + 0.5 * rng.normal(size=300)


@pytest.fixture
def houses():
    rng = np.random.default_rng(2)
    n = 200
    town = rng.choice(["Graz", "Linz, east", 'a "quoted" town'], n)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(30, 120, n),
            "town": town,
            "code": pd.Categorical(rng.integers(1, 4, n)),
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
            "lift": rng.random(n) < 0.5,
        },
        index=np.arange(n) + 1000,
    )
    price = 2 * frame["size"] + 40 * (town == "Graz") + 10 * frame["code"].astype(int) + 5 * rng.normal(size=n)
    return frame, price.rename("price")


def test_error_bars(line, quick):
    X, y = line
    m = UTVIRegressor(noise="learned", **quick).fit(X[:200], y[:200])
    mean, std = m.predict(X[200:], return_std=True)
    assert mean.shape == std.shape == (100,)
    assert np.array_equal(mean, m.predict(X[200:]))
    assert 0.35 < std.mean() < 0.75
    lo, hi = m.predict_interval(X[200:], level=0.9)
    inside = (lo <= y[200:]) & (y[200:] <= hi)
    assert 0.78 <= inside.mean() <= 0.99
    q = m.predict_quantiles(X[200:], [0.05, 0.5, 0.95])
    assert q.shape == (100, 3)
    np.testing.assert_allclose(q[:, 0], lo, rtol=1e-5)
    np.testing.assert_allclose(q[:, 2], hi, rtol=1e-5)
    parts = m.predict_variance(X[200:])
    np.testing.assert_allclose(sum(parts.values()), std**2, rtol=1e-5)
    ood = m.predict_ood([[0, 0], [50, 0]])
    assert ood[0] < 1 < ood[1]
    with pytest.warns(DeprecationWarning, match="predict_ood"):
        assert np.array_equal(m.predict_unfamiliarity([[0, 0], [50, 0]]), ood)
    assert m.score(X[200:], y[200:]) > 0.9


def test_same_bits_whatever_the_order(line, quick):
    X, y = line
    order = np.random.default_rng(0).permutation(len(y))
    a = UTVIRegressor(random_state=3, **quick).fit(X, y)
    b = UTVIRegressor(random_state=3, n_jobs=1, **quick).fit(X[order], y[order])
    c = UTVIRegressor(random_state=4, **quick).fit(X, y)
    assert a.model_ == b.model_
    assert a.model_ != c.model_


def test_predictions_have_the_bits_of_the_command(line, quick, tmp_path):
    X, y = line
    m = UTVIRegressor(**quick).fit(X, y)
    m.save(tmp_path / "m.utvi")
    (tmp_path / "x.csv").write_text("x0,x1\n" + "".join(f"{a!r},{b!r}\n" for a, b in X.tolist()))
    out = subprocess.run(
        [_binary.find(), "predict", "m.utvi", "x.csv", "--digits", "17"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    ).stdout.splitlines()
    assert m.predict(X).tolist() == [float(row.split(",")[0]) for row in out[1:]]


def test_several_targets(line, quick):
    X, y = line
    Y = pd.DataFrame({"a": y, "b": -2 * y})
    m = UTVIRegressor(**quick).fit(X, Y)
    mean, std = m.predict(X[:7], return_std=True)
    assert mean.shape == std.shape == (7, 2)
    assert m.predict_quantiles(X[:7], [0.1, 0.9]).shape == (7, 2, 2)
    assert m.predict_interval(X[:7])[0].shape == (7, 2)
    assert "b_mean" in m.predict_frame(X[:7].tolist()).columns
    assert m.score(X, Y) > 0.9


def test_frames(houses, quick):
    X, y = houses
    m = UTVIRegressor(**quick).fit(X[:150], y[:150])
    assert list(m.feature_names_in_) == list(X.columns)
    assert m.score(X[150:], y[150:]) > 0.8
    out = m.predict_frame(X[150:], level=0.5)
    assert list(out.index) == list(X.index[150:])
    assert np.array_equal(out["price_mean"], m.predict(X[150:]))
    holes = X[150:].astype({"size": "Float64"})
    holes.iloc[0, 0] = pd.NA
    with pytest.raises(ValueError, match="column size has missing values; set impute=True"):
        m.predict(holes)
    with pytest.raises(ValueError, match="feature names"):
        m.predict(X.rename(columns={"town": "city"}))
    with pytest.warns(UserWarning, match="feature names"), pytest.raises(ValueError, match="4 features"):
        m.predict(X.drop(columns="town").to_numpy())


def test_missing_values(line, quick):
    X, y = line
    holes = X.copy()
    holes[::7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        UTVIRegressor(**quick).fit(holes, y)
    m = UTVIRegressor(impute=True, **quick).fit(holes, y)
    assert np.isfinite(m.predict(holes)).all()


@pytest.mark.parametrize(
    "labels",
    [
        ["setosa", "versicolor", "virginica"],
        [10, 9, 100],
        [-1.0, 2.5e7, 3.0],
        ["10", "9", "none"],
        [True, False, True],
    ],
)
def test_classes(labels, quick):
    X, number = load_iris(return_X_y=True)
    y = np.array(labels)[number]
    m = UTVIClassifier(**quick).fit(X, y)
    assert m.classes_.tolist() == sorted(set(labels))
    p = m.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert m.score(X, y) > (0.6 if len(set(labels)) == 2 else 0.9)
    assert np.array_equal(m.predict_frame(X)["y"], m.predict(X))


def test_codes_that_are_categories(quick):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, (300, 1)).astype(float)
    y = np.array([0, 5, -5, 1])[X[:, 0].astype(int)] + 0.1 * rng.normal(size=300)
    m = UTVIRegressor(categorical=[0], **quick).fit(X, y)
    assert m.score(X, y) > 0.95


def test_weights_count(line, quick):
    X, _ = line
    y = np.where(np.arange(300) < 150, 1.0, -1.0) + 0.01 * X[:, 1]
    w = np.where(y > 0, 1.0, 9.0)
    m = UTVIRegressor(**quick).fit(X, y, sample_weight=w)
    assert m.predict(X).mean() < -0.5
    with pytest.raises(ValueError, match="negative weight"):
        m.fit(X, y, sample_weight=-w)


def test_pipeline_search_and_scores(line, quick):
    X, y = line
    del quick["depth"]
    model = make_pipeline(StandardScaler(), UTVIRegressor(noise="learned", depth=1, **quick))
    assert cross_val_score(model, X, y, cv=3).min() > 0.9
    search = GridSearchCV(UTVIRegressor(noise="learned", **quick), {"depth": [1, 2]}, cv=2).fit(X, y)
    assert search.best_params_["depth"] in (1, 2)
    assert search.best_score_ > 0.9


def test_pickles(line, quick):
    X, y = line
    m = UTVIRegressor(**quick).fit(X, y)
    again = pickle.loads(pickle.dumps(m))
    assert np.array_equal(again.predict(X), m.predict(X))
    assert again.get_params() == m.get_params()


def test_errors(line, quick, monkeypatch, tmp_path):
    X, y = line
    with pytest.raises(UtviError, match="unknown noise"):
        UTVIRegressor(noise="loud", **quick).fit(X, y)
    with pytest.raises(UtviError, match="there is nothing to learn"):
        UTVIRegressor(**quick).fit(X, np.ones(len(y)))
    with pytest.raises(UtviError, match="it must lie between 0 and 1"):
        UTVIRegressor(**quick).fit(X, y).predict_interval(X, level=2)
    with pytest.raises(BinaryNotFoundError, match="no program /no/such/utvi, but the parameter binary"):
        UTVIRegressor(binary="/no/such/utvi", **quick).fit(X, y)
    broken = tmp_path / "utvi"
    broken.write_text("#!/bin/sh\nkill -9 $$\n")
    broken.chmod(broken.stat().st_mode | stat.S_IXUSR)
    with pytest.raises(RuntimeError, match="status -9 and no message"):
        UTVIRegressor(binary=broken, **quick).fit(X, y)
    monkeypatch.setenv("UTVI_BINARY", "no-such-utvi")
    with pytest.raises(BinaryNotFoundError, match="UTVI_BINARY names it"):
        UTVIRegressor(**quick).fit(X, y)
    monkeypatch.delenv("UTVI_BINARY")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.setattr(_binary, "INSIDE", str(tmp_path / "no program"))
    with pytest.raises(BinaryNotFoundError, match="not on PATH"):
        UTVIRegressor(**quick).fit(X, y)


def test_defaults_and_progress(line, capfd):
    """Users who set nothing get the ensemble that utvi chooses."""
    X, y = line
    m = UTVIRegressor(steps=200, verbose=True).fit(X[:60], y[:60])
    assert m.score(X[60:], y[60:]) > 0.9
    members = re.search(r"training the ensemble: (\d+) trainings", capfd.readouterr().err)
    assert members and 5 <= int(members[1]) <= 10
