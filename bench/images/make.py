"""Makes tables of images with numbers from a folder of digits (28 × 28 PNG in subfolders of their classes).

    python make.py mnist/train out

writes out/turned (digits turned by an angle, and the area of their ink) and out/counted (1 to 5 digits in
an image), each with train.csv and with test.csv, blur.csv, noise.csv, contrast.csv of other digits, changed
as the name says; and out/strange: letters, noise, and digits of a printer, to be told from handwritten ones.
"""
import csv
import random
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

TRAIN, TEST = 6000, 1000
source, out = Path(sys.argv[1]), Path(sys.argv[2])
files = sorted(source.glob("*/*.png"))
random.Random(1).shuffle(files)
assert len(files) >= 6 * (TRAIN + TEST), "too few digits"
rng = np.random.default_rng(2)


def turned(digit):
    """A digit turned by up to 45 degrees, with the angle and the share of the image that is ink."""
    angle = rng.uniform(-45, 45)
    im = digit.rotate(angle, resample=Image.BILINEAR)
    area = (np.asarray(im) > 100).mean() * 100
    return im, [f"{angle:.3f}", f"{area:.3f}"]


def counted(*digits):
    """One to five small digits that may touch, with their number."""
    n = int(rng.integers(1, 6))
    im = np.zeros((40, 40), np.uint8)
    for digit in digits[:n]:
        size = int(rng.integers(12, 17))
        d = np.asarray(digit.crop((3, 3, 25, 25)).resize((size, size), Image.BILINEAR))
        y, x = rng.integers(0, 40 - size, 2)
        im[y : y + size, x : x + size] = np.maximum(im[y : y + size, x : x + size], d)
    return Image.fromarray(im), [n]


def changed(im, how):
    if how == "blur":
        return im.filter(ImageFilter.GaussianBlur(1.2))
    v = np.asarray(im) / 255
    if how == "noise":
        v = v + rng.normal(0, 0.25, v.shape)
    if how == "contrast":
        v = 0.3 + 0.4 * v
    return Image.fromarray((255 * np.clip(v, 0, 1) + 0.5).astype(np.uint8))


def table(folder, name, names, make, digits, each, ways):
    for way in ways:
        (folder / way).mkdir(parents=True, exist_ok=True)
    rows = {way: [] for way in ways}
    for i in range(len(digits) // each):
        im, y = make(*[Image.open(f).convert("L") for f in digits[i * each : (i + 1) * each]])
        for way in ways:
            changed(im, way).save(folder / way / f"{i}.png")
            rows[way].append([f"{way}/{i}.png", *y])
    for way in ways:
        with open(folder / f"{way}.csv", "w", newline="") as f:
            csv.writer(f).writerows([["file", *names], *rows[way]])


def write_strange(folder):
    fonts = [ImageFont.load_default(s) for s in range(18, 27)]

    def printed(text):
        im = Image.new("L", (28, 28))
        draw = ImageDraw.Draw(im)
        draw.text((14 + rng.integers(-2, 3), 14 + rng.integers(-2, 3)), text, 255, fonts[rng.integers(len(fonts))], anchor="mm")
        return im.rotate(rng.uniform(-15, 15), resample=Image.BILINEAR).filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 0.8)))

    for kind, make in {
        "letters": lambda: printed(rng.choice(list("ABCDEFGHKMNPQRTUVWXYabdefghkmnpqrtwxy"))),
        "printed": lambda: printed(rng.choice(list("0123456789"))),
        "noise": lambda: Image.fromarray(rng.integers(0, 256, (28, 28), dtype=np.uint8)),
        "specks": lambda: Image.fromarray((255 * (rng.random((28, 28)) < 0.19)).astype(np.uint8)),
    }.items():
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for i in range(1000):
            make().save(folder / kind / f"{i}.png")


every = ["test", "blur", "noise", "contrast"]
for name, make, names, each in [("turned", turned, ["angle", "area"], 1), ("counted", counted, ["count"], 5)]:
    table(out / name, name, names, make, files[: TRAIN * each], each, ["train"])
    table(out / name, name, names, make, files[TRAIN * each : (TRAIN + TEST) * each], each, every)
write_strange(out / "strange")
