"""The moments of one Bayesian network by utvi and by fastbnns (PyPI), beside 2,000 networks drawn from its
weights: a network of 4-64-64-1 units, trained on 300 rows in PyTorch and made Bayesian by utvi bayes.

    python3 bench/rivals/moments.py FOLDER [UTVI]     (needs torch, onnx, fastbnns)
"""
import csv
import json
import math
import struct
import subprocess
import sys
import time

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus


def rows(rng, n):
    x = rng.uniform(-1, 1, (n, 4))
    y = np.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.2 * rng.normal(size=(n, 1))
    return np.hstack([x, y]).astype("f4")


def trained(table):
    net = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    x, y = torch.tensor(table[:, :4]), torch.tensor(table[:, 4:])
    opt = torch.optim.Adam(net.parameters(), 1e-3)
    for _ in range(600):
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    return net


def weights(path):
    """For each layer the means and standard deviations of weights (inputs by outputs) and biases."""
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()

    def get(name):
        v = head[name]
        a, b = v["data_offsets"]
        return torch.tensor(np.frombuffer(data, "<f4", (b - a) // 4, a).reshape(v["shape"]).copy())

    bases = [k.removesuffix("weight.mean") for k in head if k.endswith("weight.mean")]
    return [{p + e: get(f"{b}{p}.{e}") for p in ("weight", "bias") for e in ("mean", "rho")} for b in bases]


def drawn(layers, x):
    for i, w in enumerate(layers):
        k, b = (w[p + "mean"] + softplus(w[p + "rho"]) * torch.randn(w[p + "mean"].shape) for p in ("weight", "bias"))
        x = x @ k + b
        x = x.relu() if i < len(layers) - 1 else x
    return x[:, 0]


def rival(net, layers, x):
    from fastbnns.bnn.base import BNN
    from fastbnns.bnn.types import MuVar

    bnn = BNN(nn=net)
    for i, w in zip((0, 2, 4), layers):
        p = dict(bnn.bnn[i].named_parameters())
        for part in ("weight", "bias"):
            p[f"_module.{part}"].data = w[part + "mean"].t().clone()
            p[f"_module_params.{part}_rho"].data = w[part + "rho"].t().clone()
    best = math.inf
    for _ in range(20):
        begun = time.process_time()
        out = bnn(MuVar(x, torch.zeros_like(x)))
        best = min(best, time.process_time() - begun)
    return out.mu.flatten(), out.var.flatten(), best


def main(folder, utvi="utvi"):
    torch.manual_seed(1)
    torch.set_num_threads(1)
    rng = np.random.default_rng(1)
    seen, new = rows(rng, 300), rows(rng, 600)
    net = trained(seen)
    for name, table in (("seen", seen), ("new", new)):
        np.savetxt(f"{folder}/{name}.csv", table, delimiter=",", header="a,b,c,d,y", comments="", fmt="%.6g")
    torch.onnx.export(net, torch.tensor(seen[:1, :4]), f"{folder}/net.onnx", input_names=["x"], output_names=["y"], dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
    model = f"{folder}/bayes.safetensors"
    subprocess.run([utvi, "bayes", f"{folder}/net.onnx", "--data", f"{folder}/seen.csv", "--target", "y", "--test", f"{folder}/new.csv", "-o", model, "--even-if-worse"], check=True)
    subprocess.run([utvi, "predict", model, f"{folder}/new.csv", "-o", f"{folder}/p.csv"], check=True)
    with open(f"{folder}/p.csv") as f:
        p = list(csv.DictReader(f))
    column = lambda name: torch.tensor([float(r[name]) for r in p])
    layers, x, y, noise = weights(model), torch.tensor(new[:, :4]), torch.tensor(new[:, 4]), column("y_var_noise")
    with torch.no_grad():
        begun = time.process_time()
        all = torch.stack([drawn(layers, x) for _ in range(2000)])
        seconds = (time.process_time() - begun) / 20
        mean, var, best = rival(net, layers, x)

    def show(name, mean, var):
        r = (var / all.var(0)).sqrt()
        q = torch.quantile(r, torch.tensor([0.5, 0.05, 0.95]))
        ll = (-0.5 * torch.log(2 * math.pi * (var + noise)) - (y - mean) ** 2 / (2 * (var + noise))).mean()
        print(f"{name:12} sigma / drawn: median {q[0]:.3f}, 5-95 % {q[1]:.3f} to {q[2]:.3f}   log-likelihood {ll:.3f}")

    show("utvi", column("y_mean"), column("y_var_weights"))
    show("fastbnns", mean, var)
    show("2,000 drawn", all.mean(0), all.var(0))
    print(f"processor time of 600 rows: fastbnns {1e3 * best:.2f} ms, 100 drawn {1e3 * seconds:.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
