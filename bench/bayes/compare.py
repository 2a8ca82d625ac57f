"""Give the networks that networks.py wrote error bars by `utvi bayes`, and print a table of all
scores on rows that nobody has seen.

    python3 networks.py FOLDER && python3 compare.py FOLDER [UTVI]
"""
import json
import re
import subprocess
import sys

from networks import NETWORKS


def bayes(utvi, path):
    run = subprocess.run(
        [utvi, "bayes", f"{path}.onnx", "--data", f"{path}-x.npy", "--target", f"{path}-y.npy", "--test", f"{path}-new-x.npy",
         "--test-target", f"{path}-new-y.npy", "-o", f"{path}-bayes.safetensors"], capture_output=True, text=True)
    scores = {}
    for key, name in {"ll": "log-likelihood", "rmse": "RMSE", "accuracy": "accuracy", "cover": "90 % intervals cover"}.items():
        line = re.search(rf"^ *{name}(.*)$", run.stdout, re.M)
        if line:
            scores[key] = float(re.findall(r"-?[\d.]+(?:e-?\d+)?", line[1].replace("± ", "±").replace(" %", ""))[-2 if "±" in line[1] else -1])
    scores["stored"] = run.returncode == 0
    return scores


def main(folder, utvi="utvi"):
    for name in NETWORKS:
        path = f"{folder}/{name}"
        with open(f"{path}.json") as f:
            all = json.load(f)
        all["utvi bayes"] = bayes(utvi, path)
        for method, s in all.items():
            print(f"{name:8} {method:20} " + "  ".join(f"{k} {v:.3f}" if isinstance(v, float) else f"{k} {v}" for k, v in s.items()))


if __name__ == "__main__":
    main(*sys.argv[1:])
