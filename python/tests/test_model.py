"""Processes that stay, models from files, calibration, explanations, figures."""

import asyncio
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed

import utvi
from utvi import AsyncClient, Client, Model, ServerError, UTVIClassifier, UTVIRegressor, UtviError
from utvi import _binary, _warm, model


@pytest.fixture(scope="module")
def fitted():
    """A regressor with columns of every kind, and its rows."""
    from conftest import QUICK

    rng = np.random.default_rng(5)
    n = 80
    X = pd.DataFrame(
        {
            "size": rng.uniform(30, 120, n),
            "size_std": rng.uniform(0, 2, n),
            "town": rng.choice(["Graz", "Linz, east", "7"], n),
            "built": pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D"),
        },
        index=np.arange(n) + 100,
    )
    y = (2 * X["size"] + 30 * (X["town"] == "Graz") + 4 * rng.normal(size=n)).rename("price")
    return UTVIRegressor(noise="learned", **QUICK).fit(X, y), X, y


def by_command(monkeypatch, ask):
    with monkeypatch.context() as m:
        m.setattr(model, "MOST_WARM", 0)
        return ask()


def test_the_process_answers_with_the_bits_of_the_command(fitted, monkeypatch):
    m, X, _ = fitted
    for ask in (
        lambda: m.predict_frame(X),
        lambda: m.predict_frame(X, level=0.5),
        lambda: pd.DataFrame(m.predict_quantiles(X, [0.1, 0.9])),
        lambda: Model(m.model_).predict_frame(X, quantiles=[0.25]),
    ):
        pd.testing.assert_frame_equal(ask(), by_command(monkeypatch, ask), check_exact=True)


def test_classes_have_the_bits_of_the_command(quick, monkeypatch):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 2))
    m = UTVIClassifier(**quick).fit(X, np.where(X[:, 0] > 0, "yes it is", "no"))
    for ask in (lambda: m.predict_frame(X), lambda: Model(m.model_).predict_frame(X)):
        pd.testing.assert_frame_equal(ask(), by_command(monkeypatch, ask), check_exact=True)
    assert list(m.predict(X)) == list(Model(m.model_).predict(X))


def test_one_process_answers_all_calls(fitted):
    m, X, _ = fitted
    _warm.close()
    m.predict(X)
    (server,) = _warm._servers.values()
    for _ in range(5):
        m.predict(X.head(1))
    assert list(_warm._servers.values()) == [server] and len(server.idle) == 1


def test_a_killed_process_is_started_again(fitted):
    m, X, _ = fitted
    want = m.predict(X)
    for s in _warm._servers.values():
        s.process.kill()
        s.process.wait()
    assert np.array_equal(m.predict(X), want)


def test_few_processes_are_kept(fitted):
    m, X, _ = fitted
    for i in range(_warm.MOST + 2):  # files may end in anything that the reader skips
        Model(m.model_, binary=None)
        _warm.ask(None, m.model_ if i == 0 else pickle.loads(pickle.dumps(m.model_)), "/models")
    assert len(_warm._servers) == 1  # the same bytes are the same model
    others = [UTVIRegressor(ensemble=1, steps=2, depth=1, width=2, activation="relu", kl=1, random_state=i).fit(X, X["size"]) for i in range(_warm.MOST + 1)]
    for o in others:
        o.predict(X.head(1))
    assert len(_warm._servers) == _warm.MOST


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_has_a_process_of_its_own(fitted):
    m, X, _ = fitted
    want = m.predict(X)
    child = os.fork()
    if child == 0:
        same = not _warm._servers and np.array_equal(m.predict(X), want)
        _warm.close()
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(m.predict(X), want)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_amid_a_call_of_another_thread(fitted):
    m, X, _ = fitted
    want = m.predict(X)
    locked, done = threading.Event(), threading.Event()

    def hold():
        with _warm._lock:  # as a thread that starts a process does
            locked.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    locked.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(300)  # it ends if it waits for a thread that it does not have
        same = np.array_equal(m.predict(X), want)
        _warm.close()
        os._exit(0 if same else 1)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_workers_of_multiprocessing(fitted, method):
    m, X, _ = fitted
    want = m.predict(X)  # so that there is a process, which a fork must not use
    rows = [X.iloc[i : i + 10] for i in range(0, 80, 10)]
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = pool.map(m.predict, rows)
        loaded = pool.map(Model(m.model_).predict, rows)
    assert np.array_equal(np.concatenate(parts), want) and np.array_equal(np.concatenate(loaded), want)
    assert np.array_equal(m.predict(X), want)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_joblib(fitted, backend):
    m, X, _ = fitted
    parts = Parallel(2, backend=backend)(delayed(m.predict)(X.iloc[i : i + 10]) for i in range(0, 80, 10))
    assert np.array_equal(np.concatenate(parts), m.predict(X))


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_no_process_outlives_its_program(fitted, tmp_path):
    m, X, _ = fitted
    m.save(tmp_path / "m.utvi")
    code = (
        "import os, utvi; from utvi import _warm\n"
        f"m = utvi.load({str(tmp_path / 'm.utvi')!r}); m.columns\n"
        "(s,) = _warm._servers.values(); print(s.process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
    server = int(out.stdout)
    for _ in range(1000):  # a bound, not a time: it ends by itself
        try:
            with open(f"/proc/{server}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return
        except FileNotFoundError:
            return
        time.sleep(0.01)
    os.kill(server, 9)
    pytest.fail("the server outlived its program")


def test_load(fitted, tmp_path):
    m, X, _ = fitted
    path = tmp_path / "price.utvi"
    m.save(path)
    loaded = utvi.load(path)
    assert loaded.targets == ["price"] and set(loaded.columns) == set(X.columns) and loaded.classes is None
    mean, std = loaded.predict(X.iloc[:, ::-1].assign(more=1), return_std=True)  # by name, in any order
    want = m.predict(X, return_std=True)
    assert np.array_equal(mean, want[0]) and np.array_equal(std, want[1])
    assert np.array_equal(UTVIRegressor.load(path).predict(X), want[0])
    assert np.array_equal(pickle.loads(pickle.dumps(loaded)).predict(X), want[0])
    with pytest.raises(ValueError, match="X has no column town; the model needs"):
        loaded.predict(X.drop(columns="town"))
    with pytest.raises(ValueError, match="predicts numbers; load it with UTVIRegressor"):
        UTVIClassifier.load(path)
    (tmp_path / "broken.utvi").write_bytes(b"not a model")
    with pytest.raises(UtviError, match="the model"):
        utvi.load(tmp_path / "broken.utvi")


@pytest.mark.parametrize("layout", ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y %I:%M %p", "%d %B %Y"])
def test_dates_as_the_table_wrote_them(layout, tmp_path):
    days = pd.date_range("2020-01-01", periods=40)
    pd.DataFrame({"day": days.strftime(layout), "y": np.arange(40.0)}).to_csv(tmp_path / "t.csv", index=False)
    args = ["fit", "t.csv", "--target", "y", "--ensemble=1", "--steps=5", "--depth=1", "--kl=1", "--activation=relu", "--report=none", "--holdout=-1"]
    _binary.run(None, args, str(tmp_path))
    frame = utvi.load(tmp_path / "y.utvi").predict_frame(pd.DataFrame({"day": days}))
    out = tmp_path / "out.csv"
    _binary.run(None, ["predict", "y.utvi", "t.csv", "--digits", "17"], str(tmp_path), stdout=str(out))
    assert np.allclose(frame["y_mean"], pd.read_csv(out)["y_mean"], rtol=1e-12)


def test_load_classes(quick, tmp_path):
    X = np.random.default_rng(7).normal(size=(60, 2))
    m = UTVIClassifier(**quick).fit(X, np.where(X[:, 0] > 0, 10, 9))
    m.save(tmp_path / "class.utvi")
    again = UTVIClassifier.load(tmp_path / "class.utvi")
    assert list(again.classes_) == [9, 10] and np.array_equal(again.predict(X), m.predict(X))
    with pytest.raises(ValueError, match="y has the class 8; the model knows 9, 10"):
        again.calibrate(X[:2], [8, 9])


def test_calibrate(quick, tmp_path):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 1))
    y = X[:, 0] + rng.normal(size=500)
    m = UTVIRegressor(noise="learned", **quick).fit(X[:60], y[:60] * 0.3 + 0.7 * X[:60, 0])
    before = m.predict(X, return_std=True)[1]
    loaded = Model(m.model_)
    assert m.calibrate(X[100:], y[100:], "scale") is m
    assert (m.predict(X, return_std=True)[1] > 1.5 * before).all()  # it was too sure by half
    assert loaded.calibrate(X[100:], y[100:], ["scale"]).about["calibrated"]
    assert np.array_equal(loaded.predict(X), m.predict(X))
    with pytest.raises(UtviError, match="nonsense"):
        m.calibrate(X[100:], y[100:], "nonsense")
    with pytest.raises(ValueError, match="X has 500 rows and y has 3"):
        m.calibrate(X, y[:3])


def test_explain(fitted):
    m, X, _ = fitted
    why = m.explain(X, columns=2)
    assert list(why.index) == list(X.index)
    assert set(why["price_why1"]) <= {"size", "town", "built"} and why["price_why1_mean"].dtype.kind == "f"
    pd.testing.assert_frame_equal(Model(m.model_).explain(X, columns=2), why)


def test_errors_speak_of_what_users_have(quick):
    X = np.random.default_rng(9).normal(size=(30, 2))
    holes = X.copy()
    holes[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN; UTVIRegressor\(impute=True\) accepts missing values"):
        UTVIRegressor(**quick).fit(holes, X[:, 0])
    m = UTVIRegressor(**quick).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="impute=True"):
        m.predict(holes)
    with pytest.raises(UtviError, match="^the data has too few rows: 9"):
        UTVIRegressor(**quick).fit(X[:9], X[:9, 0])
    with pytest.raises(ServerError, match="no answer from http://127.0.0.1:9: .*is utvi serve running there") as e:
        Client("http://127.0.0.1:9").models()
    assert e.value.status is None


def test_figures(fitted):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from utvi import plots

    m, X, y = fitted
    for ax in (plots.plot_predictions(m, X, y), plots.plot_column(m, X, "size"), plots.plot_coverage(Model(m.model_), X, y)):
        ax.figure.canvas.draw()
        assert ax.get_xlabel() and ax.get_ylabel() and ax.get_legend()
    with pytest.raises(ValueError, match="X has no column nothing"):
        plots.plot_column(m, X, "nothing")


def test_figures_of_names_and_dates(quick):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from utvi import plots

    names = np.array(["amber", "birch"] * 20)
    day = pd.date_range("2026-01-01", periods=40, freq="D")
    X = pd.DataFrame({"kind": names, "grade": pd.Categorical(names), "day": day, "sold": names == "amber", "took": day - day[0]})
    m = UTVIRegressor(**quick).fit(X, np.arange(40.0))
    for column, marks in [("kind", 2), ("grade", 2), ("day", 100), ("sold", 2), ("took", 100)]:
        ax = plots.plot_column(m, X, column)
        ax.figure.canvas.draw()
        assert len(ax.lines[0].get_xdata()) == marks, column


def test_async_client(fitted, tmp_path):
    m, X, _ = fitted
    m.predict(X)
    server = next(reversed(_warm._servers.values()))
    client = AsyncClient(f"http://127.0.0.1:{server.port}", token=server.token)

    async def ask():
        rows = [X.iloc[[i]] for i in range(10)]
        return await asyncio.gather(*(client.predict_frame("model", r) for r in rows))

    answers = pd.concat(asyncio.run(ask()))
    assert np.array_equal(answers["price_mean"], m.predict(X.head(10))) and list(answers.index) == list(X.index[:10])


def test_the_command_does_not_wait_for_scikit_learn():
    code = "import sys, utvi, utvi._binary; sys.exit('sklearn' in sys.modules or 'numpy' in sys.modules)"
    path = os.pathsep.join(p for p in sys.path if p)
    assert subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}).returncode == 0
    assert _binary.find()
