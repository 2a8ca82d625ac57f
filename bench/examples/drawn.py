"""The networks of the examples in PyTorch: 100 are drawn from the weights that an example stored, and
what they predict together is scored beside what utvi predicted with one pass.

    go run ./examples/denoise -save -o FOLDER       (and forecast, sequence)
    python3 bench/examples/drawn.py FOLDER [denoise] [forecast] [sequence]

Times are processor seconds of one thread for the rows of the test, the best of three.
"""
import json
import math
import struct
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F

NETWORKS = 100


def tensors(path):
    """The tensors of a safetensors file."""
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    return {k: torch.tensor(np.frombuffer(data, "<f4", (b - a) // 4, a).reshape(v["shape"]).copy())
            for k, v in head.items() if k != "__metadata__" for a, b in [v["data_offsets"]]}


def drawn(stored, g):
    """Weights, each drawn from its Normal; numbers stay."""
    w = {}
    for name, mean in stored.items():
        if name.endswith(".mean"):
            name = name.removesuffix(".mean")
            rho = stored.get(name + ".rho")
            w[name] = mean if rho is None else mean + F.softplus(rho) * torch.randn(mean.shape, generator=g)
    return w


def conv(w, name, x):
    return F.conv2d(x, w[name + ".weight"].permute(3, 2, 0, 1), w[name + ".bias"], padding="same")


def up(w, name, x):
    return F.conv_transpose2d(x, w[name + ".weight"].permute(3, 2, 0, 1), w[name + ".bias"], stride=2)


def dense(w, name, x):
    k = w[name + ".weight"]
    return x @ k.reshape(k.shape[-2:]) + w[name + ".bias"]


def unet(w, x):
    p = "0.graph."
    fine = F.gelu(conv(w, p + "fine.0.conv2d", x))
    half = F.gelu(conv(w, p + "half.1.conv2d", F.avg_pool2d(fine, 2)))
    y = up(w, p + "up", F.gelu(conv(w, p + "quarter.1.conv2d", F.avg_pool2d(half, 2))))
    y = F.gelu(conv(w, p + "half-again.1.conv2d", torch.cat([y, half], 1)))
    y = F.gelu(conv(w, p + "fine-again.1.conv2d", torch.cat([up(w, p + "up-again", y), fine], 1)))
    return conv(w, p + "out", y)


def read(w, day):
    """The state of the GRU behind a day."""
    p = "0.correlated.0.graph.state"
    h = day.new_zeros(len(day), w[p + ".recurrent.weight"].shape[0])
    into = dense(w, p, day)
    for t in range(day.shape[1]):
        i, s = into[:, t].chunk(3, 1), dense(w, p + ".recurrent", h).chunk(3, 1)
        r, z = torch.sigmoid(i[0] + s[0]), torch.sigmoid(i[1] + s[1])
        h = (1 - z) * torch.tanh(i[2] + r * s[2]) + z * h
    return h


def next_hour(w, state, before):
    p = "0.correlated.0.graph."
    hidden = F.gelu(dense(w, p + "hidden.1.dense", torch.cat([state, before], 1)))
    return dense(w, p + "next.1.dense", torch.cat([hidden, before], 1))


def transformer(w, x, heads=2):
    p = "0.correlated."
    y = F.conv1d(F.pad(x.transpose(1, 2), (2, 2)), w[p + "0.conv1d.weight"].reshape(5, x.shape[2], -1).permute(2, 1, 0), w[p + "0.conv1d.bias"])
    y = F.gelu(y).transpose(1, 2) + w[p + "2.positions.at"]

    def norm(y, name):
        return F.layer_norm(y, y.shape[-1:], w.get(name + ".gain"), w.get(name + ".offset"))

    n, t, c = y.shape
    a = norm(y, p + "3.residual.0.perplace.layernorm")
    q, k, v = (dense(w, f"{p}3.residual.1.attention.{s}.0.perplace", a).view(n, t, heads, c // heads).transpose(1, 2) for s in ("query", "key", "value"))
    a = F.softmax(q @ k.transpose(2, 3) / math.sqrt(c // heads), -1) @ v
    y = y + dense(w, p + "3.residual.1.attention.out.2.perplace", a.transpose(1, 2).reshape(n, t, c))
    a = F.gelu(dense(w, p + "4.residual.1.perplace.each.0.perplace", norm(y, p + "4.residual.0.perplace.layernorm")))
    y = y + dense(w, p + "4.residual.1.perplace.each.2.perplace", a)
    return dense(w, p + "6.dense", y.mean(1)).softmax(1)


def clocked(f):
    """The result, and the processor seconds of the best of three runs."""
    best = math.inf
    for _ in range(3):
        begun = time.process_time()
        out = f()
        best = min(best, time.process_time() - begun)
    return out, best


def normal(y, mean, var):
    d = y - mean
    cover = (d.abs() < 1.6448536 * var.sqrt()).double().mean().item()
    ll = (-0.5 * torch.log(2 * math.pi * var) - d ** 2 / (2 * var)).mean().item()
    return f"RMSE {(d ** 2).mean().sqrt().item():.4f}  LL {ll:.3f}  cover {100 * cover:.1f} %"


def ratio(ours, theirs):
    r = (ours / theirs).flatten().double().sqrt()
    q = torch.quantile(r[torch.randperm(len(r), generator=torch.Generator().manual_seed(1))[:100000]], torch.tensor([0.5, 0.05, 0.95]).double())
    return f"median {q[0]:.3f}, 5-95 % {q[1]:.3f} to {q[2]:.3f}"


def denoise(stored, test):
    side = math.isqrt(test["x"].shape[1])
    x = test["x"].view(-1, 1, side, side)
    shape = test["x"].shape

    def run():
        g = torch.Generator().manual_seed(1)
        out = torch.stack([unet(drawn(stored, g), x) for _ in range(NETWORKS)])
        value = out[:, :, 0].reshape(NETWORKS, *shape)
        noise = out[:, :, 1].reshape(NETWORKS, *shape).exp()
        return value.mean(0), value.var(0), noise.mean(0)

    (mean, doubt, noise), seconds = clocked(run)
    print("utvi     ", normal(test["y"], test["mean"], test["var"]))
    print("100 drawn", normal(test["y"], mean, doubt + noise), f" {seconds:.2f} s")
    print("error bar, utvi / drawn:       ", ratio(test["var"], doubt + noise))
    print("part of the weights in it:     ", ratio(test["doubt"], doubt))
    print(f"share of the weights in the drawn variance: {100 * (doubt.sum() / (doubt + noise).sum()).item():.1f} %")


def forecast(stored, test):
    starts, ahead = test["y"].shape
    hours = 2 * math.pi * torch.arange(24 + ahead) / 24
    clock = torch.stack([hours.sin(), hours.cos()], 1)

    def paths(each):
        """Series that drawn networks continue, with noise drawn for each hour: networks * each, starts, ahead."""
        g = torch.Generator().manual_seed(1)
        all = []
        for _ in range(NETWORKS):
            w = drawn(stored, g)
            state = read(w, torch.cat([test["before"][:, :, None], clock[:24].expand(starts, -1, -1)], 2)).repeat(each, 1)
            x = test["before"][:, -1:].repeat(each, 1)
            series = []
            for h in range(ahead):
                out = next_hour(w, state, torch.cat([x, clock[23 + h].expand(len(x), -1)], 1))
                x = out[:, :1] + (out[:, 1:] / 2).exp() * torch.randn(len(x), 1, generator=g)
                series.append(x)
            all.append(torch.cat(series, 1).view(each, starts, ahead))
        return torch.cat(all)

    few, seconds = clocked(lambda: paths(1))
    many = paths(20)
    for h in (1, 6, 12, 24, 48):
        k = h - 1
        print(f"{h:2} hours ahead: utvi      {normal(test['y'][:, k], test['mean'][:, k], test['var'][:, k])}")
        print(f"                100 drawn {normal(test['y'][:, k], few[:, :, k].mean(0), few[:, :, k].var(0))}")
        print(f"                error bar, utvi / 2,000 paths: {ratio(test['var'][:, k], many[:, :, k].var(0))}")
    print(f"100 drawn: {seconds:.2f} s")


def sequence(stored, test):
    x = test["x"].view(len(test["x"]), -1, 4)
    y = test["y"].long()[:, 0]

    def run():
        g = torch.Generator().manual_seed(1)
        return torch.stack([transformer(drawn(stored, g), x) for _ in range(NETWORKS)])

    p, seconds = clocked(run)
    for name, q in (("the truth", test["truth"]), ("utvi", test["mean"]), ("100 drawn", p.mean(0))):
        ll = q[torch.arange(len(y)), y].clamp_min(1e-9).log().mean().item()
        print(f"{name:9} LL {ll:.3f}  accuracy {100 * (q.argmax(1) == y).double().mean().item():.1f} %")
    sure = (p.mean(0) - 0.5).abs() < 0.45
    print("error bar of probabilities between 5 and 95 %, utvi / drawn:", ratio(test["var"][sure], p.var(0)[sure]))
    print(f"100 drawn: {seconds:.2f} s")


if __name__ == "__main__":
    torch.set_num_threads(1)
    with torch.no_grad():
        for name in sys.argv[2:] or ["denoise", "forecast", "sequence"]:
            print(f"== {name}")
            globals()[name](tensors(f"{sys.argv[1]}/{name}.safetensors"), tensors(f"{sys.argv[1]}/{name}-test.safetensors"))
