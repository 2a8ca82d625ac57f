"""The client, against a real server."""

import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import numpy as np
import pandas as pd
import pytest

from utvi import Client, ServerError, UTVIClassifier, UTVIRegressor
from utvi import _binary


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    from conftest import QUICK

    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.uniform(30, 120, 100), "town": rng.choice(["Graz", "Linz"], 100)})
    y = (2 * X["size"] + 40 * (X["town"] == "Graz")).rename("price")
    price = UTVIRegressor(**QUICK).fit(X, y)
    price.save(folder / "price.utvi")
    UTVIClassifier(**QUICK).fit(X[["size"]].to_numpy(), y > 200).save(folder / "dear.utvi")
    (folder / "token").write_text("open sesame\n")
    command = [_binary.find(), "serve", "price.utvi", "dear.utvi", "--http", "127.0.0.1:0", "--grpc", "none", "--token-file", "token"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as server:
        try:
            at = next(m for m in (re.search(r"http=(\S+)", line) for line in server.stderr) if m)
            yield Client("http://" + at[1], token="open sesame"), price, X
        finally:
            server.kill()


def test_predictions_are_those_of_the_estimator(served):
    client, price, X = served
    mean, std = price.predict(X, return_std=True)
    lo, hi = price.predict_interval(X, level=0.8)
    out = client.predict_frame("price", X, interval=0.8, quantiles=[0.25])
    assert np.array_equal(out["price_mean"], mean)
    assert np.array_equal(out["price_std"], std)
    assert np.array_equal(out["price_lo"], lo) and np.array_equal(out["price_hi"], hi)
    assert np.array_equal(out["price_q0.25"], price.predict_quantiles(X, [0.25])[:, 0])
    one = client.predict("price", [{"size": np.float64(X["size"][0]), "town": X["town"][0]}])
    assert one[0]["targets"]["price"]["mean"] == mean[0]


def test_arrays_and_classes(served):
    client, _, _ = served
    (row,) = client.predict("dear", np.array([[119.0]]))
    assert sum(row["targets"]["price"]["probabilities"].values()) == pytest.approx(1)
    assert len(client.predict_frame("dear", [[50.0], [60.0]])) == 2


def test_old_names_of_ood(served):
    client, price, X = served
    rows = X.head(5)
    new = client.predict_frame("price", rows, max_ood=0.5)
    assert np.array_equal(new["ood"], price.predict_ood(rows))
    assert np.array_equal(new["abstain"], new["ood"] > 0.5)
    with pytest.warns(DeprecationWarning, match="max_ood"):
        old = client.predict_frame("price", rows, max_unfamiliar=0.5)
    assert old.equals(new)


def test_answers_of_old_servers():
    from utvi.client import _flat

    number = {"mean": 1.0, "std": 2.0, "variance": {}}
    for name in ("ood", "unfamiliar"):
        assert _flat({"targets": {"y": number}, name: 0.5, "abstain": False}, ())["ood"] == 0.5
    assert "ood" not in _flat({"targets": {"y": number}, "abstain": False}, ())


def test_descriptions(served):
    client, _, _ = served
    assert [m["name"] for m in client.models()] == ["price", "dear"]
    assert client.model("price", version="1")["task"] == "regression"


def test_faults(served):
    client, _, _ = served
    with pytest.raises(ServerError, match="there is no model") as e:
        client.predict("no such/model", [{}])
    assert e.value.status == 404
    with pytest.raises(ServerError, match="a token is needed") as e:
        Client(client.url).models()
    assert e.value.status == 401
    with pytest.raises(ServerError, match="lacks the column"):
        client.predict("price", [{"size": 3}])
    with pytest.raises(ServerError, match="missing"):
        client.predict("price", [{"size": float("nan"), "town": "Graz"}])


def test_busy_servers_are_asked_again():
    class Busy(BaseHTTPRequestHandler):
        asked = 0

        def do_GET(self):
            Busy.asked += 1
            busy = Busy.asked < 3
            body = b'{"error":"busy"}' if busy else b'{"models":[]}'
            self.send_response(429 if busy else 200)
            self.send_header("Retry-After", "0.01")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Busy) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}"
        with pytest.raises(ServerError, match="busy"):
            Client(url, retries=1).models()
        assert Client(url).models() == []
        server.shutdown()
