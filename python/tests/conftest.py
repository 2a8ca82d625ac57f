import pytest

# Settings under which a fit takes a tenth of a second: one candidate, one network.
QUICK = dict(ensemble=1, steps=300, width=20, depth=1, activation="gelu", kl=0.1, rate=0.02)


@pytest.fixture
def quick():
    return dict(QUICK)
