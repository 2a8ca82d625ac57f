"""Train six small PyTorch networks on 300 rows each, as one would, and write them with their
rows to a folder: NAME.onnx, NAME-x.npy, NAME-y.npy and, for rows never seen, NAME-new-x.npy and
NAME-new-y.npy. Peers that need no Go are scored here, too: the network with the noise of its own
training rows, with the noise or temperature that fits the new rows best, MC dropout, and the
Laplace approximation of the last layer. Their scores go to NAME.json.

    python3 networks.py FOLDER
"""
import json
import sys

import numpy as np
import torch
from torch import nn

ROWS, NEW = 300, 2000


def regression(rng, n):
    x = rng.uniform(-1, 1, (n, 4)).astype("f4")
    y = np.sin(3 * x[:, :1]) + x[:, 1:2] * x[:, 2:3] + 0.2 * rng.normal(size=(n, 1))
    return x, y.astype("f4")


def classes(rng, n):
    """Three classes that overlap, in five inputs."""
    x = rng.normal(size=(n, 5)).astype("f4")
    logits = np.stack([2 * x[:, 0] + x[:, 1] ** 2 - 1, 2 * np.sin(2 * x[:, 1]) + x[:, 2], -x[:, 0] * x[:, 3] * 2], 1)
    return x, np.argmax(logits + rng.gumbel(size=logits.shape), 1)[:, None].astype("f4")


def images(rng, n):
    """Ten kinds of gratings, at any place and under noise: 1 x 12 x 12."""
    kind = rng.integers(0, 10, n)
    a = np.pi * (kind % 5) / 5 + rng.normal(size=n) * 0.12
    f = np.where(kind < 5, 0.9, 1.6) * np.exp(rng.normal(size=n) * 0.12)
    i, j = np.mgrid[0:12, 0:12]
    phase = rng.uniform(0, 2 * np.pi, n)
    wave = f[:, None, None] * (np.cos(a)[:, None, None] * i + np.sin(a)[:, None, None] * j)
    x = np.sin(wave + phase[:, None, None]) + rng.normal(size=(n, 12, 12))
    return x[:, None].astype("f4"), kind[:, None].astype("f4")


def normalised(inputs, outputs):
    def block(n):
        return [nn.Linear(n, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.1)]

    return nn.Sequential(*block(inputs), *block(64), nn.Linear(64, outputs))


def plain(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs))


def convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(144, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 10))


NETWORKS = {  # name: seed, rows, network, epochs
    "norm1": (1, regression, lambda: normalised(4, 1), 300),
    "norm2": (2, regression, lambda: normalised(4, 1), 300),
    "norm3": (3, regression, lambda: normalised(4, 1), 300),
    "plain": (4, regression, lambda: plain(4, 1), 300),
    "classes": (5, classes, lambda: normalised(5, 3), 100),
    "images": (6, images, convolutional, 60),
}


def train(net, x, y, epochs, loss):
    opt = torch.optim.Adam(net.parameters(), 3e-3, weight_decay=1e-3)
    net.train()
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(32):
            opt.zero_grad()
            loss(net(x[part]), y[part]).backward()
            opt.step()
    net.eval()


def normal_ll(y, mean, var):
    return (-0.5 * torch.log(2 * torch.pi * var) - (y - mean) ** 2 / (2 * var)).mean().item()


def cover(y, mean, var):
    return ((y - mean).abs() < 1.6448536 * var.sqrt()).double().mean().item()


def numbers(y, mean, var):
    var = var + torch.zeros_like(mean)
    return {"rmse": ((y - mean) ** 2).mean().sqrt().item(), "ll": normal_ll(y, mean, var), "cover": cover(y, mean, var)}


def labels(y, p):
    p = p.clamp_min(1e-12)
    ll = p[torch.arange(len(y)), y].log()
    return {"accuracy": (p.argmax(1) == y).double().mean().item(), "ll": ll.mean().item()}


def features(net, x):
    h = net[:-1](x).double()
    return torch.cat([h, torch.ones(len(h), 1, dtype=h.dtype)], 1)


def last_layer(net):
    return torch.cat([net[-1].weight.detach().double(), net[-1].bias.detach().double()[:, None]], 1)


PRIORS = torch.logspace(-3, 4, 60, dtype=torch.float64)  # precisions of the weights' prior


def laplace_numbers(net, x, y, new):
    """The last layer's posterior with its generalised Gauss-Newton matrix. Noise and prior maximise
    Laplace's marginal likelihood of the training rows, as laplace-torch does."""
    f, g, w = features(net, x), features(net, new), last_layer(net)
    residual = ((y.double() - f @ w.T) ** 2).sum()
    n, d = f.shape
    best = None
    for noise in torch.logspace(-3, 1, 80, dtype=torch.float64) ** 2:
        eig, basis = torch.linalg.eigh(f.T @ f / noise)
        for prior in PRIORS:
            evidence = -residual / (2 * noise) - n / 2 * noise.log() - prior / 2 * (w ** 2).sum() \
                + d / 2 * prior.log() - 0.5 * (eig + prior).log().sum()
            if best is None or evidence > best[0]:
                best = (evidence, noise, basis @ torch.diag(1 / (eig + prior)) @ basis.T)
    _, noise, cov = best
    return g @ w.T, ((g @ cov) * g).sum(1, keepdim=True) + noise


def laplace_classes(net, x, y, new):
    """The same for classes; predictions by 1,000 drawn logits."""
    f, g, w = features(net, x), features(net, new), last_layer(net)
    p = (f @ w.T).softmax(1)
    n, d = f.shape
    k = p.shape[1]
    h = torch.einsum("nij,na,nb->iajb", torch.diag_embed(p) - p[:, :, None] * p[:, None], f, f).reshape(k * d, k * d)
    eig, basis = torch.linalg.eigh(h)
    eig = eig.clamp_min(0)
    fit = p[torch.arange(n), y].log().sum()
    best = max(PRIORS, key=lambda a: fit - a / 2 * (w ** 2).sum() + k * d / 2 * a.log() - 0.5 * (eig + a).log().sum())
    draws = (basis * (1 / (eig + best)).sqrt()) @ torch.randn(k * d, 1000, dtype=torch.float64) + w.reshape(-1, 1)
    total = 0
    for s in draws.T.split(50):
        total = total + torch.einsum("na,ska->snk", g, s.reshape(-1, k, d)).softmax(2).sum(0)
    return total / 1000


def dropped(net, new):
    for m in net.modules():
        if isinstance(m, nn.Dropout):
            m.train()
    out = torch.stack([net(new).double() for _ in range(100)])
    net.eval()
    return out


@torch.no_grad()
def peers_numbers(net, x, y, new, wanted):
    mean, seen, wanted = net(new).double(), net(x).double(), wanted.double()
    noise = ((seen - y) ** 2).mean()
    s = {"trained": numbers(wanted, mean, noise), "trained, best noise": numbers(wanted, mean, ((wanted - mean) ** 2).mean())}
    s["last-layer Laplace"] = numbers(wanted, *laplace_numbers(net, x, y, new))
    if any(isinstance(m, nn.Dropout) for m in net.modules()):
        draws = dropped(net, new)
        s["MC dropout"] = numbers(wanted, draws.mean(0), draws.var(0) + noise)
    return s


@torch.no_grad()
def peers_classes(net, x, y, new, wanted):
    logits = net(new).double()
    s = {"trained": labels(wanted, logits.softmax(1))}
    tempered = (labels(wanted, (logits / t).softmax(1)) for t in torch.logspace(-1, 1, 100))
    s["trained, best noise"] = max(tempered, key=lambda a: a["ll"])
    s["last-layer Laplace"] = labels(wanted, laplace_classes(net, x, y, new))
    s["MC dropout"] = labels(wanted, dropped(net, new).softmax(2).mean(0))
    return s


def main(folder):
    torch.set_num_threads(1)
    for name, (seed, rows, make, epochs) in NETWORKS.items():
        rng = np.random.default_rng(seed)
        x, y = rows(rng, ROWS + NEW)
        torch.manual_seed(seed)
        net = make()
        isclass = rows is not regression
        tx, ty = torch.tensor(x), torch.tensor(y)
        if isclass:
            ty = ty[:, 0].long()
        train(net, tx[:ROWS], ty[:ROWS], epochs, nn.functional.cross_entropy if isclass else nn.functional.mse_loss)
        torch.onnx.export(net, tx[:1], f"{folder}/{name}.onnx", input_names=["x"], output_names=["y"],
                          do_constant_folding=False, training=torch.onnx.TrainingMode.EVAL,
                          dynamic_axes={"x": {0: "N"}, "y": {0: "N"}})
        peers = peers_classes if isclass else peers_numbers
        scores = peers(net, tx[:ROWS], ty[:ROWS], tx[ROWS:], ty[ROWS:])
        flat = np.moveaxis(x, 1, -1).reshape(len(x), -1) if x.ndim > 2 else x
        for part, at in {"": slice(0, ROWS), "-new": slice(ROWS, None)}.items():
            np.save(f"{folder}/{name}{part}-x.npy", np.ascontiguousarray(flat[at]))
            np.save(f"{folder}/{name}{part}-y.npy", y[at])
        with open(f"{folder}/{name}.json", "w") as f:
            json.dump(scores, f, indent=1)
        print(name, json.dumps(scores), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
