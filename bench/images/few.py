"""Few images: utvi beside a plain convolutional network in PyTorch and an ensemble of five, in the same
processor time.

    python few.py UTVI FOLDER OUT [IMAGES]

FOLDER has a subfolder of images for each class. IMAGES of them (1000) are learned from, 2000 others
are the test. Needs torch, numpy and Pillow; one thread each.
"""
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional as F

utvi, source, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), Path(sys.argv[3])
count = int(sys.argv[4]) if len(sys.argv) > 4 else 1000
classes = sorted(p.name for p in source.iterdir() if p.is_dir())
files = [(p, c) for c in classes for p in sorted((source / c).iterdir())]
random.Random(3).shuffle(files)
parts = {"train": files[:count], "test": files[count : count + 2000]}


def arrays(part):
    x = np.stack([np.asarray(Image.open(p)) for p, _ in parts[part]]).astype(np.float32) / 255
    x = x[:, None] if x.ndim == 3 else x.transpose(0, 3, 1, 2)
    return torch.tensor(x), torch.tensor([classes.index(c) for _, c in parts[part]])


def by_utvi():
    shutil.rmtree(out, ignore_errors=True)
    for part, some in parts.items():
        for i, (p, c) in enumerate(some):
            to = out / part / c
            to.mkdir(parents=True, exist_ok=True)
            shutil.copy(p, to / f"{i}{p.suffix}")
    env = dict(os.environ, GOMAXPROCS="1")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([utvi, "fit", out / "train", "--fresh", "--out", out / "m.utvi", "--report", "none"], check=True, env=env, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run([utvi, "eval", out / "m.utvi", out / "test", "--json"], check=True, env=env, stdout=subprocess.PIPE).stdout
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, json.loads(text)["targets"][0]


def network(channels, side):
    def block(i, o):
        return [nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2)]

    return nn.Sequential(*block(channels, 32), *block(32, 64), *block(64, 64), nn.Flatten(), nn.Linear(64 * (side // 8) ** 2, 128), nn.ReLU(), nn.Dropout(0.3), nn.Linear(128, len(classes)))


def moved(x, flip):
    """Images moved by up to two pixels, and mirrored if flip."""
    padded = F.pad(x, (2, 2, 2, 2), mode="replicate")
    side = x.shape[-1]
    rows = []
    for im in padded:
        i, j = np.random.randint(0, 5, 2)
        im = im[:, i : i + side, j : j + side]
        rows.append(im.flip(-1) if flip and np.random.rand() < 0.5 else im)
    return torch.stack(rows)


def train(x, y, seconds, seed):
    """One network, trained for so much processor time under a cosine schedule."""
    torch.manual_seed(seed)
    np.random.seed(seed)
    net = network(x.shape[1], x.shape[2])
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
    flip = x.shape[1] == 3
    began = time.process_time()
    while True:
        for rows in torch.randperm(len(x)).split(64):
            done = (time.process_time() - began) / seconds
            if done >= 1:
                return net.eval()
            opt.param_groups[0]["lr"] = 2e-3 * 0.5 * (1 + np.cos(np.pi * done))
            opt.zero_grad()
            F.cross_entropy(net(moved(x[rows], flip)), y[rows]).backward()
            opt.step()


def scores(p, y):
    p = p.double().numpy()
    y = y.numpy()
    nll = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-30))
    right = p.argmax(1) == y
    sure = p.max(1)
    order = np.argsort(sure)
    ece = sum(abs(right[b].mean() - sure[b].mean()) * len(b) for b in np.array_split(order, 15)) / len(y)
    return f"accuracy {100*right.mean():.2f} %  NLL {nll.mean():.4f} ± {nll.std()/len(y)**.5:.4f}  ECE {ece:.4f}"


torch.set_num_threads(1)
spent, found = by_utvi()
c = found["classes"] if "classes" in found else found
value = lambda v: (v["value"], v["se"]) if isinstance(v, dict) else tuple(v) if isinstance(v, list) else (v, 0)
accuracy, ll = value(c["accuracy"]), value(c["ll"])
print(f"utvi, {spent:.0f} s of processor time: accuracy {100*accuracy[0]:.2f} %  NLL {-ll[0]:.4f} ± {ll[1]:.4f}  ECE {c['ece']:.4f}", flush=True)
x, y = arrays("train")
test, truth = arrays("test")
nets = [train(x, y, spent, 0)] + [train(x, y, spent / 5, 1 + i) for i in range(5)]
with torch.no_grad():
    p = [F.softmax(n(test), 1) for n in nets]
print("PyTorch, one network, the same time:", scores(p[0], truth), flush=True)
print("PyTorch, one network, a fifth:      ", scores(p[1], truth))
print("PyTorch, five networks, a fifth each:", scores(sum(p[1:]) / 5, truth))
