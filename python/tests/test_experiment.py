"""What to measure next, and learning on without the old rows."""

import numpy as np
import pandas as pd
import pytest

import utvi
from utvi import Experiment, Model, UTVIClassifier, UTVIRegressor, UtviError

LEVELS = ["Graz", "Linz, east", "Wels"]


def table(n, seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"size": rng.uniform(30, 120, n), "floor": rng.integers(1, 9, n), "town": rng.choice(LEVELS, n)})
    y = 2 * X["size"] - 5 * X["floor"] + 30 * (X["town"] == "Graz") + 4 * rng.normal(size=n)
    return X, y.rename("price")


@pytest.fixture(scope="module")
def fitted():
    from conftest import QUICK

    X, y = table(80, 5)
    return UTVIRegressor(noise="learned", **QUICK).fit(X, y), X, y


def test_suggest_from_a_list(fitted):
    m, _, _ = fitted
    rest, price = table(40, 6)
    rest = rest.iloc[:, ::-1].assign(fee=np.linspace(1, 9, 40), note="to do").set_index(np.arange(40) + 500)
    rows = m.suggest(rest, 3, "max")
    assert len(rows) == 3 and rows.index.is_unique and set(rows.index) <= set(rest.index)
    pd.testing.assert_frame_equal(rows[rest.columns], rest.loc[rows.index])  # as they were, types too
    assert list(rows.columns[5:]) == ["price_mean", "price_std", "price_doubt", "gain", "why"]
    assert (rows["price_mean"] > np.median(m.predict(rest[["size", "floor", "town"]]))).all()
    pd.testing.assert_frame_equal(Model(m.model_).suggest(rest, 3, "max"), rows)

    cheap = m.suggest(rest, 40, limits={"size": (None, 60), "floor": (3, None)}, costs="fee", require=["price<100"], sure=0.5)
    assert 0 < len(cheap) < 40 and cheap["size"].max() <= 60 and cheap["floor"].min() >= 3
    assert np.allclose(cheap["cost"], cheap["fee"], rtol=1e-4) and (cheap["fulfils"] >= 0.5).all()

    rest["price"] = price.to_numpy()
    rest.loc[rest.index[:4], "price"] = np.nan
    assert set(m.suggest(rest, 9, 120.0).index) == set(rest.index[:4])  # the others are measured
    with pytest.raises(UtviError, match="the data is exhausted"):
        m.suggest(rest.iloc[4:])


def test_suggest_from_ranges(fitted):
    m, _, _ = fitted
    rows = m.suggest({"size": (50, 60), "floor": range(2, 4), "town": LEVELS[1:]}, 4, "min", random_state=3)
    assert rows["size"].between(50, 60).all() and rows["town"].isin(LEVELS[1:]).all()
    assert rows["floor"].isin([2, 3]).all() and rows["size"].dtype == rows["floor"].dtype == np.float64
    assert len(m.suggest(count=2)) == 2
    assert m.suggest({"town": None}).loc[0, "why"].startswith("settles")
    for space, says in (
        ({"size": [1, 2, 3]}, r"column size is drawn from \[1, 2, 3\]; give \(low, high\)"),
        ({"floor": range(0, 9, 2)}, "every whole number"),
        ({"town": ["Rome"]}, "column town has no level Rome"),
        ({"street": (0, 1)}, "no column street"),
    ):
        with pytest.raises(ValueError, match=says):
            m.suggest(space)


def test_suggest_for_arrays_and_classes(quick):
    X = np.random.default_rng(7).normal(size=(60, 2))
    m = UTVIClassifier(**quick).fit(X, np.where(X[:, 0] > 0, "yes", "no"))
    rows = m.suggest(X[:20] / 2, 2)
    assert list(rows.columns) == ["x0", "x1", "gain", "why"]
    assert np.allclose(rows[["x0", "x1"]], X[rows.index] / 2)
    pd.testing.assert_frame_equal(m.suggest(pd.DataFrame(X[:20] / 2), 2), rows)
    with pytest.raises(UtviError, match="it can only learn"):
        m.suggest(X[:20], goal="max")


def off(m, X, y):
    return np.sqrt(np.mean((m.predict(X) - y) ** 2))


def test_update(fitted, tmp_path):
    m, X, y = fitted
    m.save(tmp_path / "old.utvi")
    new, value = table(60, 8)
    new["size"] += 90  # where the model has never been
    value = value + 180
    report = m.surprise(new, value)
    assert report["rows"] == 60 and [c["column"] for c in report["moved"]][0] == "size"
    again = UTVIRegressor.load(tmp_path / "old.utvi")
    assert again.update(new.iloc[::-1], value.iloc[::-1]) is again
    test, truth = table(200, 9)
    assert off(again, new, value) < 0.5 * off(m, new, value)
    loaded = utvi.load(tmp_path / "old.utvi").update(new, value)  # whatever the order of rows
    assert np.array_equal(loaded.predict(test), again.predict(test))
    assert loaded.about["rows"] != utvi.load(tmp_path / "old.utvi").about["rows"]
    gone = UTVIRegressor.load(tmp_path / "old.utvi").update(new, value, forget=1)
    assert off(gone, test, truth) > 2 * off(again, test, truth)
    with pytest.raises(ValueError, match="X has 60 rows and y has 2"):
        m.update(new, value[:2])
    with pytest.raises(ValueError, match="X has 60 rows and y has 2"):
        loaded.update(new, value[:2])
    with pytest.raises(UtviError, match="the data: the model was fitted to all of these 80 rows already"):
        m.update(X, y)
    with pytest.raises(UtviError, match="--forget is 2"):
        m.update(new, value, forget=2)


def test_update_of_classes_and_weights(quick):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(90, 2))
    m = UTVIClassifier(**quick).fit(X, rng.integers(7, 10, 90), sample_weight=rng.uniform(1, 2, 90))
    more = rng.normal(size=(60, 2))
    kept = np.where(more[:, 0] > 0, 8, 9)
    m.update(more, kept)
    assert list(m.classes_) == [7, 8, 9] and m.predict_proba(X).shape == (90, 3)
    with pytest.raises(ValueError, match="y has the class 5; the model knows 7, 8, 9"):
        m.update(more, np.full(60, 5))
    m.update(more * 1.1, kept, forget=1)
    assert list(m.classes_) == [8, 9] and np.mean(m.predict(more) == kept) > 0.9


def measure(rows):
    return -((rows["x"] - 3) ** 2) - (rows["n"] - 2) ** 2 - 5.0 * (rows["kind"] == "b")


SPACE = {"x": (0, 10), "n": range(1, 6), "kind": ["a", "b"]}


def test_ask_and_tell(quick):
    e = Experiment(SPACE, "max", estimator=UTVIRegressor(noise="learned", **quick), target="yield", draws=32)
    first = e.ask(4)
    assert list(first.columns) == ["x", "n", "kind"] and set(first["n"]) <= set(range(1, 6))
    more = e.ask(6)
    assert sorted(np.floor(pd.concat([first, more])["x"])) == list(range(10))  # one from each tenth
    e.tell(first, measure(first)).tell(more, measure(more).tolist())
    start = e.best["yield"]
    rows = e.ask(2)
    other = e.ask(2)
    assert {"yield_mean", "gain", "why"} <= set(rows) and set(rows["n"]) <= set(range(1, 6))
    assert not set(map(tuple, rows[["x", "n", "kind"]].to_numpy())) & set(map(tuple, other[["x", "n", "kind"]].to_numpy()))
    for _ in range(3):
        e.tell(rows, measure(rows))
        rows = e.ask(2)
    assert e.best["yield"] > start and len(e.data) == 16 and e.data.index.is_unique
    twin = Experiment(SPACE, "max", estimator=e.estimator, target="yield", draws=32).tell(e.data, e.data["yield"])
    pd.testing.assert_frame_equal(twin.ask(2), rows)


def test_ask_among_candidates(quick):
    rng = np.random.default_rng(11)
    X = pd.DataFrame({"a": rng.uniform(size=30), "b": rng.uniform(size=30)}, index=[f"s{i}" for i in range(30)])
    value = (X["a"] - 0.5) ** 2 + X["b"]
    e = Experiment(X, 0.4, first=12, estimator=UTVIRegressor(noise="learned", **quick), draws=32)
    seen = []
    for _ in range(6):
        rows = e.ask(4)
        seen += list(rows.index)
        e.tell(rows, value[rows.index])
    assert len(set(seen)) == 24 and abs(e.best["y"] - 0.4) == np.abs(e.data["y"] - 0.4).min()
    e.ask(6)
    with pytest.raises(ValueError, match="all 30 candidates have been asked for"):
        e.ask()


def test_levels_that_nobody_told_come_first(quick):
    e = Experiment(SPACE, "min", estimator=UTVIRegressor(**quick))
    rows = pd.DataFrame({"x": np.linspace(0, 10, 12), "n": np.arange(12) % 5 + 1, "kind": "a"})
    e.tell(rows, measure(rows))
    assert e.ask().loc[0, "kind"] == "b"


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Experiment({"x": (0, 1)}, "best"), '"learn", "min", "max", or a number'),
        (lambda: Experiment({"x": (0, 1)}, first=3), "at least 10 rows"),
        (lambda: Experiment({}), "the space is empty"),
        (lambda: Experiment({"x": None}).ask(), "column x has no range or levels"),
        (lambda: Experiment({"x": (1, 0)}).ask(), "column x cannot lie between 1 and 0"),
        (lambda: Experiment({"x": (0, 1)}).ask(0), "at least 1"),
        (lambda: Experiment({"x": (0, 1)}, "max").best, "no row has been told yet"),
        (lambda: Experiment({"x": (0, 1)}).best, "no row is best"),
        (lambda: Experiment({"x": (0, 1)}).tell(pd.DataFrame({"z": [1]}), [1]), "rows have no column x"),
        (lambda: Experiment({"x": (0, 1)}).tell(pd.DataFrame({"x": [1]}), [1, 2]), "1 rows were measured and 2 values"),
        (lambda: Experiment({"x": (0, 1)}).tell(pd.DataFrame({"x": [1]}), [np.nan]), "not a finite number"),
        (lambda: Experiment(pd.DataFrame({"x": [1, 2]}, index=[0, 0])), "the same index"),
    ],
)
def test_misuse_of_experiments(make, says):
    with pytest.raises(ValueError, match=says):
        make()
