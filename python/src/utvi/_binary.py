"""Find the utvi program and run it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Sequence
from typing import Optional, Union


# Where wheels have the program.
INSIDE = os.path.join(
    os.path.dirname(os.path.abspath(__file__)),
    "_bin",
    "utvi.exe" if os.name == "nt" else "utvi",
)


# What files are called that only this package makes.
NAMES = {"rows.csv": "the data", "model.utvi": "the model", "settings.json": "the settings"}


class UtviError(ValueError):
    """The utvi program refused its input; the message says why."""


class BinaryNotFoundError(FileNotFoundError):
    """The utvi program was not found."""


def find(binary: Union[str, os.PathLike[str], None] = None) -> str:
    """Return the path of the utvi program: `binary`, or UTVI_BINARY, or the one inside this
    package, or from PATH."""
    if binary is not None:
        named, how = os.fspath(binary), "the parameter binary names it"
    elif os.environ.get("UTVI_BINARY"):
        named, how = os.environ["UTVI_BINARY"], "UTVI_BINARY names it"
    else:
        if os.path.isfile(INSIDE):
            return INSIDE
        path = shutil.which("utvi")
        if path is None:
            raise BinaryNotFoundError(
                "this package has no program inside, and utvi is not on PATH; install a "
                "wheel for this system, or name the program with the parameter binary or "
                "the environment variable UTVI_BINARY"
            )
        return os.path.abspath(path)
    path = shutil.which(named)
    if path is None:
        raise BinaryNotFoundError(f"there is no program {named}, but {how}")
    return os.path.abspath(path)


def run(
    binary: Union[str, os.PathLike[str], None],
    args: Sequence[str],
    folder: str,
    stdout: Optional[str] = None,
    verbose: bool = False,
) -> None:
    """Run utvi in `folder`. Its output goes to the file `stdout`, if given."""
    with open(stdout if stdout is not None else os.devnull, "wb") as out:
        process = subprocess.Popen(
            [find(binary), *args],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        last: deque[str] = deque(maxlen=1)
        assert process.stderr is not None
        try:
            for line in process.stderr:
                last.append(line.rstrip("\n"))
                if verbose:
                    print(line, end="", file=sys.stderr)
            code = process.wait()
        finally:
            process.kill()  # does nothing if the program has ended
            process.stderr.close()
            process.wait()
    if code == 0:
        return
    message = last[0] if last else f"utvi ended with status {code} and no message"
    prefix = "utvi: "
    if not message.startswith(prefix) or message.startswith(prefix + "internal error"):
        raise RuntimeError(message)
    message = message[len(prefix):]
    for file, name in NAMES.items():
        message = message.replace(file, name)
    raise UtviError(message)


def main() -> None:
    """Be the command utvi."""
    args = [INSIDE, *sys.argv[1:]]
    if os.name == "nt":  # where exec returns to the shell before the program ends
        sys.exit(subprocess.call(args))
    os.execv(INSIDE, args)
