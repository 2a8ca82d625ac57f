import struct
import zlib

import numpy as np
import pandas as pd
import pytest

from utvi import ImageClassifier, ImagePixels, ImageRegressor, UtviError

QUICK = dict(ensemble=1, steps=60, width=4)


def bars(n=90, seed=1):
    """Images of a bright bar, across or down, and its place."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 60, (n, 12, 12)).astype(np.uint8)
    down = rng.integers(0, 2, n)
    place = rng.integers(1, 10, n)
    for im, d, p in zip(x, down, place):
        if d:
            im[:, p : p + 2] += 150
        else:
            im[p : p + 2] += 150
    return x, down, place


def test_classes():
    x, down, _ = bars()
    names = np.array(["across", "down"])[down]
    m = ImageClassifier(augment="none", **QUICK).fit(x, names)
    p = m.predict_proba(x)
    assert p.shape == (90, 2) and np.allclose(p.sum(1), 1, atol=1e-3)
    assert (m.predict(x) == names).mean() > 0.9
    assert {"class_doubt", "ood"} <= {c.replace("y_", "class_") for c in m.predict_frame(x[:3])}


def test_numbers(tmp_path):
    x, down, place = bars()
    m = ImageRegressor(augment="wear", **QUICK).fit(x, np.stack([place, down], 1))
    mean, std = m.predict(x[:5], return_std=True)
    low, high = m.predict_interval(x[:5], 0.8)
    assert mean.shape == std.shape == (5, 2) and (low < high).all() and (std > 0).all()
    m.save(tmp_path / "m.utvi")
    assert (tmp_path / "m.utvi").stat().st_size > 1000


def test_pixels():
    x, _, _ = bars()
    m = ImagePixels(augment="none", ensemble=1, steps=200, width=6).fit(x, (x.astype(np.float32) / 255).round(3))
    mean, std = m.predict(x[:4], return_std=True)
    assert mean.shape == std.shape == (4, 12, 12) and np.abs(mean - x[:4] / 255).mean() < 0.1
    m = ImagePixels(augment="none", **QUICK).fit(x, (x > 100).astype(np.uint8))
    best, p = m.predict_classes(x[:4])
    assert best.shape == (4, 12, 12) and p.shape == (4, 12, 12, 2)
    with pytest.raises(AttributeError, match="has no mean"):
        m.predict(x[:4])


def png(path, im):
    """Write a grey image as PNG."""
    h, w = im.shape
    raw = b"".join(b"\0" + row.tobytes() for row in im.astype(np.uint8))

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", w, h, 8, 0, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
    return path


def test_files(tmp_path):
    x, down, _ = bars()
    files = [png(tmp_path / "photos" / ("down" if d else "across") / f"{i:03}.png", im) for i, (im, d) in enumerate(zip(x, down))]
    m = ImageClassifier(augment="none", **QUICK).fit(tmp_path / "photos")
    assert list(m.classes_) == ["across", "down"]
    frame = m.predict_frame(tmp_path / "photos")
    assert len(frame) == 90 and frame.index[0].startswith("across/")
    assert np.allclose(m.predict_proba(files[:3]), m.predict_proba(x[:3]))
    m = ImagePixels(augment="none", **QUICK).fit(files, [png(tmp_path / "bright" / f.name, (im > 100) * 255) for f, im in zip(files, x)])
    best, _ = m.predict_classes(files[:2])
    assert best.shape == (2, 12, 12)


def test_also():
    x, down, _ = bars(200)
    turned = np.random.default_rng(5).integers(0, 2, 200)
    also = pd.DataFrame({"sense": np.array(["front", "back"])[turned]})
    m = ImageClassifier(augment="none", ensemble=1, steps=250, width=4).fit(x, down ^ turned, also=also)
    assert (m.predict(x, also=also) == down ^ turned).mean() > 0.9
    with pytest.raises(UtviError, match="sense"):
        m.predict(x)


def test_refused():
    x, down, _ = bars(30)
    with pytest.raises(ValueError, match="30 images and y has 29"):
        ImageClassifier().fit(x, down[1:])
    with pytest.raises(ValueError, match="one class"):
        ImageClassifier().fit(x, np.zeros(30))
    with pytest.raises(ValueError, match="N×H×W"):
        ImageClassifier().fit(x[:, 0], down)
    with pytest.raises(TypeError, match="a path"):
        ImageClassifier().fit("photos", down)
    with pytest.raises(TypeError, match="y is missing"):
        ImageClassifier().fit(x)
    with pytest.raises(ValueError, match="30 images and also has 29 rows"):
        ImageClassifier().fit(x, down, also=np.zeros((29, 1)))
    with pytest.raises(ValueError, match="a column 'y'"):
        ImageClassifier().fit(x, down, also=pd.DataFrame({"y": down}))
    with pytest.raises(TypeError, match="two arrays, or two lists"):
        ImagePixels().fit(["a.png"], x)
    with pytest.raises(UtviError, match="gone.png"):
        ImageClassifier().fit(["gone.png"] * 30, down)
