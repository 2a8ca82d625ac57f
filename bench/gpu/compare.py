#!/usr/bin/env python3
"""Print utvi on a card beside PyTorch and JAX, measured in one run.

    bench/gpu/compare.py                       with the utvi of the PATH
    bench/gpu/compare.py --utvi ./utvi --nets 1-128-128-1
    bench/gpu/compare.py --peers cpu --windows 3 --runs 2 --batch 8 --nets 1-16-1   without a card

The table has microseconds in which the card is busy, forward and a training step. Every
network of a package has its own process; all of them compile side by side, and then they
measure one after the other. What cannot be measured is named below the table. peers.py says
what is computed and how it is timed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
OURS = "utvi"


def lines(command):
    """The JSON objects that a command prints, and what it says if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as e:
        return [], f"{command[0]} cannot be run ({e.strerror})"
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return [], said[-1].removeprefix("utvi: ") if said else f"{command[0]} ended with status {done.returncode}"
    return done.stdout, None


def ours(a):
    """The figures of utvi bench."""
    out, failed = lines([a.utvi, "bench", "--device", a.device, "--json", "--quick", "--rules", "ut", "--batches", str(a.batch), "--nets", a.nets])
    if failed:
        return [], [f"{OURS}: {failed}"], []
    report = json.loads(out)
    rows = [dict(n, column=OURS) for n in report["networks"]]
    return rows, [f"{OURS}: {r}" for r in report.get("refused") or []], [f"{OURS} on {report['card']}"]


class Peer:
    """A process that measures a network by a package."""

    def __init__(self, a, package, net):
        self.package, self.lines = package, []
        command = [sys.executable, os.path.join(HERE, "peers.py"), package, "--wait", "--nets", net, "--batch", str(a.batch),
                   "--windows", str(a.windows), "--runs", str(a.runs), "--device", a.peers]
        # JAX would take three quarters of the card's memory for each process.
        environment = dict(os.environ, XLA_PYTHON_CLIENT_PREALLOCATE="false")
        self.said = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said, text=True, env=environment)

    def prepare(self):
        """Waits until everything is compiled."""
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if "ready" in self.lines[-1]:
                return

    def measure(self):
        """Figures, what was not measured and why, and the package's version."""
        out, _ = self.process.communicate("\n")
        all = self.lines + [json.loads(l) for l in out.splitlines()]
        missing = [f"{l['column']}: {l['why']}" for l in all if "why" in l]
        if self.process.returncode != 0:
            self.said.seek(0)
            said = self.said.read().strip().splitlines()
            missing.append(f"{self.package}: {said[-1] if said else f'status {self.process.returncode}'}")
        return [l for l in all if "net" in l], missing, [l["about"] for l in all if "about" in l]


def number(x):
    return "–" if x is None else f"{x:,.1f}" if x < 100 else f"{x:,.0f}"


def table(nets, batch, rows):
    """A Markdown table: a row for each way, forward · step of each network."""
    columns = list(dict.fromkeys(r["column"] for r in rows))
    cells = {(r["column"], r["net"]): f"{number(r['forward_us'])} · {number(r['step_us'])}" for r in rows}
    yield f"| µs, batch {batch:,}: forward · step | " + " | ".join(nets) + " |"
    yield "|---|" + "---|" * len(nets)
    for c in columns:
        yield f"| {c} | " + " | ".join(cells.get((c, n), "–") for n in nets) + " |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--utvi", default="utvi", help="the program")
    p.add_argument("--device", default="cuda", help="the card that utvi uses")
    p.add_argument("--peers", default="cuda", help="what PyTorch and JAX run on: cuda, or cpu to try this program")
    p.add_argument("--nets", default="1-128-128-1,64-512-512-512-8,784-2048-2048-10")
    p.add_argument("--batch", type=int, default=1024)
    p.add_argument("--windows", type=int, default=21)
    p.add_argument("--runs", type=int, default=50, help="runs in a window")
    p.add_argument("--without", default="", help="what is left out: utvi, torch, jax")
    a = p.parse_args()
    without = a.without.split(",")
    nets = a.nets.split(",")
    peers = [Peer(a, package, net) for package in ("torch", "jax") if package not in without for net in nets]
    for p in peers:
        p.prepare()
    rows, missing, about = [], [], []
    for measure in ([lambda: ours(a)] if OURS not in without else []) + [p.measure for p in peers]:
        r, m, s = measure()
        rows, missing, about = rows + r, missing + m, about + s
    about = list(dict.fromkeys(about))
    print(*(["; ".join(about), ""] if about else []), *table(nets, a.batch, rows), sep="\n")
    for m in dict.fromkeys(missing):
        print(f"\nnot measured: {m}")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
