"""What all tests share: the small real model, and a place of their own for data."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from whybox import config
from whybox.providers import weights

# A shell starts its background jobs with interrupts ignored, and processes inherit that; tests here interrupt some.
signal.signal(signal.SIGINT, signal.default_int_handler)


def _required() -> bool:
    return os.environ.get("WHYBOX_REQUIRE") == "all"


@pytest.fixture(scope="session")
def smollm2_path() -> Path:
    """The weights of SmolLM2-135M: named by WHYBOX_TEST_SMOLLM2, in the cache, or fetched once."""
    if named := os.environ.get("WHYBOX_TEST_SMOLLM2"):
        return Path(named)
    pytest.importorskip("xllamacpp")
    try:
        return weights.pull("smollm2-135m", config.cache_dir())
    except weights.WeightsError as error:
        if _required():
            raise
        pytest.skip(f"no weights: {error}")


@pytest.fixture
def own_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder of the test's own; the cache stays the user's, since weights are large."""
    monkeypatch.setenv("WHYBOX_DATA_DIR", str(tmp_path / "data"))
    return tmp_path / "data"
