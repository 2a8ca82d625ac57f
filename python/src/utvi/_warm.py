"""Programs that stay: one `utvi serve` for each model, asked over loopback."""

from __future__ import annotations

import atexit
import http.client
import json
import os
import secrets
import subprocess
import tempfile
import threading
from collections import OrderedDict
from typing import Any, Optional, Union

from . import _binary

MODEL = "model.utvi"
MOST = 4  # processes that are kept at a time
TIMEOUT = 60.0  # seconds for an answer


class Refused(Exception):
    """The program refused a question, or is gone: ask the command, which says why."""


class _Server:
    """A process that answers for one model and ends with this one."""

    def __init__(self, binary: str, model: bytes) -> None:
        self.token = secrets.token_hex(16)
        self.idle: list[http.client.HTTPConnection] = []
        with tempfile.TemporaryDirectory(prefix="utvi-") as folder:
            with open(os.path.join(folder, MODEL), "wb") as f:
                f.write(model)
            self.process = subprocess.Popen(
                [
                    binary, "serve", MODEL, "--until-stdin-ends", "--http", "127.0.0.1:0", "--grpc", "none",
                    "--reload", "0", "--log", "json", "--client-share", "1",
                ],
                cwd=folder,
                env={**os.environ, "UTVI_TOKEN": self.token},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,  # a buffer has a lock, which a fork could find taken
            )
            try:
                self.port = self._port()
            except BaseException:
                self.close()
                raise
        threading.Thread(target=self._drain, daemon=True).start()

    def _port(self) -> int:
        assert self.process.stderr is not None
        said = b""
        for line in self.process.stderr:  # of the log; one says where it serves
            try:
                return int(json.loads(line)["http"].rsplit(":", 1)[1])
            except (ValueError, KeyError, TypeError, AttributeError):
                said = line  # a warning, or why the program ends
        raise Refused(said.decode("utf-8", "replace") or "the program ended")

    def _drain(self) -> None:
        """Read the log, so that it never fills its pipe."""
        assert self.process.stderr is not None
        try:
            while self.process.stderr.read(4096):
                pass
        except (OSError, ValueError):
            pass  # closed

    def ask(self, path: str, body: Optional[bytes] = None) -> Any:
        headers = {"Authorization": "Bearer " + self.token, "Content-Type": "application/json"}
        while True:
            try:
                connection, fresh = self.idle.pop(), False
            except IndexError:
                connection, fresh = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT), True
            try:
                connection.request("GET" if body is None else "POST", path, body, headers)
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as e:
                connection.close()
                if fresh:
                    raise Refused(str(e)) from None
                continue  # one that was idle for too long
            except BaseException:
                connection.close()
                raise
            self.idle.append(connection)
            if answer.status != 200:
                raise Refused(text.decode("utf-8", "replace"))
            return json.loads(text)

    def close(self) -> None:
        while self.idle:
            self.idle.pop().close()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()

    def abandon(self) -> None:
        """Let go of what a parent process uses."""
        for c in self.idle:
            c.close()
        assert self.process.stdin is not None and self.process.stderr is not None
        self.process.stdin.close()
        self.process.stderr.close()
        self.process.returncode = 0  # it is nobody's child here


_lock = threading.Lock()
_servers: OrderedDict[tuple[str, bytes], _Server] = OrderedDict()


def ask(binary: Union[str, os.PathLike[str], None], model: bytes, path: str, question: Any = None) -> Any:
    """Ask the process of a model, and start it first if need be."""
    key = (_binary.find(binary), model)
    body = None if question is None else json.dumps(question, allow_nan=False).encode()
    for attempt in (1, 2):
        server = _server(key)
        try:
            return server.ask(path, body)
        except Refused:
            if attempt == 2 or server.process.poll() is None:
                raise
            _forget(key, server)  # it was killed
    raise AssertionError


def _server(key: tuple[str, bytes]) -> _Server:
    with _lock:
        server = _servers.pop(key, None)
        if server is None:
            server = _Server(*key)
        _servers[key] = server  # the last one used
        old = _servers.popitem(last=False)[1] if len(_servers) > MOST else None
    if old is not None:
        old.close()
    return server


def _forget(key: tuple[str, bytes], server: _Server) -> None:
    with _lock:
        if _servers.get(key) is server:
            del _servers[key]
    server.close()


def close() -> None:
    """End all processes; the next prediction starts one again."""
    with _lock:
        servers = list(_servers.values())
        _servers.clear()
    for s in servers:
        s.close()


def _forked() -> None:
    """A child starts processes of its own: two must not share a connection."""
    global _lock
    _lock = threading.Lock()
    for s in _servers.values():
        s.abandon()
    _servers.clear()


atexit.register(close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
