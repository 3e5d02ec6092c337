"""What every test may use: the reference data beside the repository, where it is."""

from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data; tests that ask for it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("the reference data is not beside the repository")
    return SHARED
