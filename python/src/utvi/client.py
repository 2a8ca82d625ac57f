"""Clients for `utvi serve`."""

from __future__ import annotations

import asyncio
import json
import math
import time
import warnings
from collections.abc import Sequence
from datetime import datetime
from http.client import HTTPException
from typing import TYPE_CHECKING, Any, Optional, Union
from urllib.error import HTTPError, URLError
from urllib.parse import quote
from urllib.request import Request, urlopen

import numpy as np

from ._table import index_of, is_frame

if TYPE_CHECKING:
    import pandas as pd

Version = Union[str, int, None]


class ServerError(RuntimeError):
    """The server refused a request, or could not be asked; the message says why. `status` is
    that of HTTP, or None without an answer."""

    def __init__(self, message: str, status: Optional[int]) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """Ask a server for predictions.

    >>> client = Client("http://127.0.0.1:8080")
    >>> client.predict("price", [{"size": 82.5, "town": "Graz"}])[0]["targets"]["price"]["mean"]

    A server that is busy is asked again, `retries` times, when it says so.
    """

    def __init__(self, url: str, token: Optional[str] = None, timeout: float = 30.0, retries: int = 3) -> None:
        self.url = url.rstrip("/")
        self.token = token
        self.timeout = timeout
        self.retries = retries

    def models(self) -> list[dict[str, Any]]:
        """Return the description of every model."""
        models: list[dict[str, Any]] = self._ask("/models")["models"]
        return models

    def model(self, name: str, version: Version = None) -> dict[str, Any]:
        """Return the description of a model."""
        model: dict[str, Any] = self._ask("/models" + _path(name, version))
        return model

    def predict(self, name: str, rows: Any, version: Version = None, **options: Any) -> list[dict[str, Any]]:
        """Return the prediction of each row, as a dict.

        Rows are dicts, a data frame, or lists of numbers in the order of the model's
        columns. Options are fields of the request: interval, quantiles, max_std,
        max_ood, min_probability, density.
        """
        if "max_unfamiliar" in options:
            warnings.warn("max_unfamiliar is now called max_ood", DeprecationWarning, stacklevel=2)
            options.setdefault("max_ood", options.pop("max_unfamiliar"))
        question = {"rows": _rows(rows), **options}
        body = json.dumps(question, default=_value, allow_nan=False).encode()
        predictions: list[dict[str, Any]] = self._ask("/predict" + _path(name, version), body)["predictions"]
        return predictions

    def predict_frame(self, name: str, rows: Any, version: Version = None, **options: Any) -> pd.DataFrame:
        """Return the predictions as a data frame, with the index of `rows`."""
        import pandas as pd

        answers = self.predict(name, rows, version, **options)
        levels = options.get("quantiles", ())
        out: pd.DataFrame = pd.DataFrame([_flat(a, levels) for a in answers], index=index_of(rows))
        return out

    def _ask(self, path: str, body: Optional[bytes] = None) -> Any:
        headers = {"Content-Type": "application/json"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        for attempt in range(self.retries + 1):
            try:
                with urlopen(Request(self.url + path, body, headers), timeout=self.timeout) as answer:
                    return json.load(answer)
            except HTTPError as e:
                with e:
                    text = e.read().decode("utf-8", "replace")
                if e.code not in (429, 503) or attempt == self.retries:
                    raise ServerError(_message(text) or e.reason, e.code) from None
                time.sleep(min(10.0, float(e.headers.get("Retry-After") or 1)))
            except (URLError, OSError, HTTPException) as e:
                reason = getattr(e, "reason", None) or e
                raise ServerError(f"no answer from {self.url}: {reason}; is utvi serve running there?", None) from None


class AsyncClient:
    """Client for programs that use asyncio: the same methods, to be awaited.

    >>> answers = await asyncio.gather(*(client.predict("price", [row]) for row in rows))

    Each request waits in a thread of its own.
    """

    def __init__(self, url: str, token: Optional[str] = None, timeout: float = 30.0, retries: int = 3) -> None:
        self._client = Client(url, token, timeout, retries)

    async def models(self) -> list[dict[str, Any]]:
        """Return the description of every model."""
        return await asyncio.to_thread(self._client.models)

    async def model(self, name: str, version: Version = None) -> dict[str, Any]:
        """Return the description of a model."""
        return await asyncio.to_thread(self._client.model, name, version)

    async def predict(self, name: str, rows: Any, version: Version = None, **options: Any) -> list[dict[str, Any]]:
        """Return the prediction of each row, as a dict."""
        return await asyncio.to_thread(self._client.predict, name, rows, version, **options)

    async def predict_frame(self, name: str, rows: Any, version: Version = None, **options: Any) -> pd.DataFrame:
        """Return the predictions as a data frame, with the index of `rows`."""
        return await asyncio.to_thread(self._client.predict_frame, name, rows, version, **options)


def _path(name: str, version: Version) -> str:
    path = "/" + quote(name, safe="")
    return path if version is None else path + "/versions/" + quote(str(version), safe="")


def _message(text: str) -> str:
    try:
        return str(json.loads(text)["error"])
    except (ValueError, KeyError, TypeError):
        return text.strip()


def _rows(rows: Any) -> list[Any]:
    if is_frame(rows):
        names = [str(n) for n in rows.columns]
        columns = [[_value(v) for v in np.asarray(rows.iloc[:, i], dtype=object)] for i in range(len(names))]
        return [dict(zip(names, row)) for row in zip(*columns)]
    if isinstance(rows, np.ndarray):
        rows = rows.tolist()
    return [{k: _value(v) for k, v in r.items()} if isinstance(r, dict) else [_value(v) for v in r] for r in rows]


def _value(v: Any) -> Any:
    """A value as JSON has it: missing values are null, times are texts."""
    if isinstance(v, np.generic):
        v = v.item()
    if v is None or type(v).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(v, float):
        return None if math.isnan(v) else v
    if isinstance(v, datetime):
        return v.isoformat(sep=" ", timespec="seconds")
    if hasattr(v, "isoformat"):
        return v.isoformat()
    return v


def _flat(answer: dict[str, Any], levels: Sequence[float]) -> dict[str, Any]:
    """A prediction as one row, with the names that `utvi predict` gives its columns."""
    row: dict[str, Any] = {}
    for name, t in answer["targets"].items():
        if "class" in t:
            row[name] = t["class"]
            row.update({f"p_{c}": p for c, p in t["probabilities"].items()})
            row["entropy"] = t["entropy"]
            continue
        row[f"{name}_mean"], row[f"{name}_std"] = t["mean"], t["std"]
        if "interval" in t:
            row[f"{name}_lo"], row[f"{name}_hi"] = t["interval"]
        row.update({f"{name}_var_{part}": v for part, v in t["variance"].items()})
        row.update({f"{name}_q{level:g}": v for level, v in zip(levels, t.get("quantiles", ()))})
    if "ood" in answer or "unfamiliar" in answer:  # which earlier servers call unfamiliar
        row["ood"] = answer.get("ood", answer.get("unfamiliar"))
    row["abstain"] = answer["abstain"]
    return row


__all__ = ["AsyncClient", "Client", "ServerError"]
