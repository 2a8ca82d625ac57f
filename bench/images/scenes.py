"""Draws scenes: discs and boxes on a shaded ground, with noise of a level that differs between scenes.

    python scenes.py FOLDER [COUNT] [SIDE]

writes FOLDER/train and FOLDER/test with noisy.npy, clean.npy (bytes, N×H×W) and classes.npy (0 ground,
1 disc, 2 box); test has a fourth as many scenes, from other random numbers.
"""
import pathlib
import sys

import numpy as np


def scene(rng, side):
    y, x = np.mgrid[0:side, 0:side] / side
    clean = 0.3 + 0.2 * rng.uniform(-1, 1) * x + 0.2 * rng.uniform(-1, 1) * y
    classes = np.zeros((side, side), np.uint8)
    for _ in range(rng.integers(2, 6)):
        cy, cx = rng.uniform(0.1, 0.9, 2)
        size = rng.uniform(0.06, 0.2)
        if rng.random() < 0.5:
            inside = (y - cy) ** 2 + (x - cx) ** 2 < size**2
            classes[inside] = 1
        else:
            inside = (abs(y - cy) < size) & (abs(x - cx) < size * rng.uniform(0.5, 1.5))
            classes[inside] = 2
        clean = np.where(inside, rng.uniform(0.05, 0.95), clean)
    noise = rng.uniform(0.03, 0.2) * (0.5 + clean)  # brighter pixels are noisier
    noisy = clean + noise * rng.standard_normal(clean.shape)
    return clean, noisy, classes


def main():
    folder = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    side = int(sys.argv[3]) if len(sys.argv) > 3 else 32
    for part, n, seed in (("train", count, 1), ("test", count // 4, 2)):
        rng = np.random.default_rng(seed)
        clean, noisy, classes = map(np.array, zip(*(scene(rng, side) for _ in range(n))))
        to = folder / part
        to.mkdir(parents=True, exist_ok=True)
        byte = lambda v: np.clip(v * 255 + 0.5, 0, 255).astype(np.uint8)
        np.save(to / "clean.npy", byte(clean))
        np.save(to / "noisy.npy", byte(noisy))
        np.save(to / "classes.npy", classes)


main()
