import numpy as np
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
    with pytest.raises(UtviError, match="gone.png"):
        ImageClassifier().fit(["gone.png"] * 30, down)
