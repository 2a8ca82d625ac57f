#!/usr/bin/python3
"""Score scikit-learn's trees on the splits of `utvi bench uci`, and print them beside it.

    bench/trees/trees.py --data uci
    utvi bench uci --data uci --json > utvi.json
    bench/trees/trees.py --data uci --utvi utvi.json

The settings are the same for all sets, as those of utvi are. Each cell is the root mean
squared error of the test rows, the mean over splits ± its standard error.

Needs Debian's python3-sklearn.
"""

import argparse
import json
import math
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small sets only wait for each other's threads

import numpy as np
import sklearn
from sklearn.ensemble import ExtraTreesRegressor, GradientBoostingRegressor, HistGradientBoostingRegressor

METHODS = {
    "HistGradientBoosting": lambda seed: HistGradientBoostingRegressor(max_iter=400, learning_rate=0.08, random_state=seed),
    "GradientBoosting": lambda seed: GradientBoostingRegressor(n_estimators=600, learning_rate=0.05, max_depth=4, subsample=0.7, random_state=seed),
    "ExtraTrees": lambda seed: ExtraTreesRegressor(n_estimators=400, random_state=seed),
}


def numbers(path):
    return np.loadtxt(path, ndmin=1).astype(int)


def splits(folder, most):
    """Yield the rows of each split: features and target, to train with and to test by."""
    at = lambda name: os.path.join(folder, name)
    data = np.loadtxt(at("data.txt"))
    features, target = numbers(at("index_features.txt")), int(numbers(at("index_target.txt"))[0])
    count = int(numbers(at("n_splits.txt"))[0])
    for k in range(min(count, most or count)):
        train, test = numbers(at(f"index_train_{k}.txt")), numbers(at(f"index_test_{k}.txt"))
        yield data[np.ix_(train, features)], data[train, target], data[np.ix_(test, features)], data[test, target]


def mean(values):
    n = len(values)
    m = sum(values) / n
    if n < 2:
        return m, None
    return m, math.sqrt(sum((v - m) ** 2 for v in values) / (n - 1) / n)


def cell(value, se):
    return f"{value:.3f}" if se is None else f"{value:.3f} ± {se:.3f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of the sets")
    parser.add_argument("--sets", help="sets to run, separated by commas (default all)")
    parser.add_argument("--splits", type=int, default=0, help="number of splits of each set (default all)")
    parser.add_argument("--methods", default=",".join(METHODS), help="methods to run, separated by commas")
    parser.add_argument("--seed", type=int, default=1, help="seed of the trees")
    parser.add_argument("--utvi", help="what utvi bench uci --json printed, to stand beside")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args()

    sets = args.sets.split(",") if args.sets else sorted(d for d in os.listdir(args.data) if os.path.exists(os.path.join(args.data, d, "data.txt")))
    methods = args.methods.split(",")
    for m in methods:
        if m not in METHODS:
            sys.exit(f"trees.py: unknown method {m}; choose from {', '.join(METHODS)}")
    for s in sets:
        if not os.path.exists(os.path.join(args.data, s, "data.txt")):
            sys.exit(f"trees.py: {args.data} has no set {s}")
    ours = {}
    if args.utvi:
        with open(args.utvi) as f:
            ours = {s["set"]: s for s in json.load(f)}

    found = []
    for name in sets:
        scores = {m: [] for m in methods}
        for x, y, tx, ty in splits(os.path.join(args.data, name), args.splits):
            for m in methods:
                predicted = METHODS[m](args.seed).fit(x, y).predict(tx)
                scores[m].append(float(np.sqrt(np.mean((predicted - ty) ** 2))))
        row = {"set": name, "splits": len(scores[methods[0]])}
        for m in methods:
            value, se = mean(scores[m])
            row[m] = {"rmse": value, "rmse_se": se}
        found.append(row)
        print(f"{name}: done", file=sys.stderr)
    if args.json:
        json.dump({"sklearn": sklearn.__version__, "scores": found}, sys.stdout, indent=1)
        print()
        return
    head = ["RMSE"] + (["utvi"] if ours else []) + methods
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in found:
        cells = [row["set"]]
        if ours:
            o = ours.get(row["set"])
            cells.append(cell(o["rmse"], o.get("rmse_se")) if o else "–")
        cells += [cell(row[m]["rmse"], row[m]["rmse_se"]) for m in methods]
        print("| " + " | ".join(cells) + " |")
    print(f"\nscikit-learn {sklearn.__version__}, {args.splits or 'all'} splits")


if __name__ == "__main__":
    main()
