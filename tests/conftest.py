"""What every test may use: the reference data beside the repository, where it is."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"

# A check of a change must not depend on chance; at a desk new examples are tried every time.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data; tests that ask for it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("the reference data is not beside the repository")
    return SHARED
