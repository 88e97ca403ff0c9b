"""Fixtures every room uses."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real corpora and figures; absent on a user's machine, required in CI."""
    folder = os.environ.get("BAYESNB_SHARED")
    if folder and Path(folder).is_dir():
        return Path(folder)
    reason = "BAYESNB_SHARED does not name the folder of real corpora"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
