"""AUROC of telling strange images from those of the kind that a model learned.

    python ood.py UTVI MODEL USUAL STRANGE…

USUAL is a folder of images like those learned from, each STRANGE one of others, as make.py draws them.
Prints, for each column of utvi predict that may tell them apart, the AUROC of each folder.
"""
import csv
import io
import subprocess
import sys
from pathlib import Path

import numpy as np


def columns(utvi, model, folder):
    out = subprocess.run([utvi, "predict", model, folder], check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(out)))
    get = lambda name: np.array([float(r[name]) for r in rows if r[name]])
    sure = np.array([max(float(v) for k, v in r.items() if k.startswith("p_")) for r in rows])
    kinds = {name.split("_", 1)[1] if "_" in name else name: name for name in rows[0] if name.endswith(("_var_weights", "_doubt")) or name in ("entropy", "ood")}
    return {"1 − largest p": 1 - sure, **{short: get(name) for short, name in kinds.items()}}


def auroc(usual, strange):
    both = np.concatenate([usual, strange])
    order = both.argsort(kind="stable")
    ranks = np.empty(len(both))
    ranks[order] = np.arange(1, len(both) + 1)
    for v in np.unique(both):  # ties count half
        same = both == v
        ranks[same] = ranks[same].mean()
    return (ranks[len(usual) :].sum() - len(strange) * (len(strange) + 1) / 2) / (len(usual) * len(strange))


usual = columns(*sys.argv[1:4])
strange = {Path(f).name: columns(sys.argv[1], sys.argv[2], f) for f in sys.argv[4:]}
print(f"{'':16}" + "".join(f"{name:>10}" for name in strange))
for kind in usual:
    print(f"{kind:16}" + "".join(f"{auroc(usual[kind], x[kind]):10.4f}" for x in strange.values()))
