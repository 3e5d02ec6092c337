"""What every test may use: the reference data beside the repository, where it is."""

import os
from pathlib import Path

import pytest
from hypothesis import settings
from places import SHARED

# Test processes side by side share the cores. BLAS's threads wait by spinning, and would keep them from each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test is timed. A check of a change must not depend on chance; at a desk new examples are tried every time.
settings.register_profile("desk", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "desk")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference data; tests that ask for it are skipped where it is missing."""
    if not SHARED.is_dir():
        pytest.skip("the reference data is not beside the repository")
    return SHARED


@pytest.fixture(scope="session")
def small_model(tmp_path_factory) -> Path:
    """The file of a model that knows the figure of `films`."""
    from small_model import make_model

    from pipelines.model.model_file import save_model

    path = tmp_path_factory.mktemp("small model") / "small.h5"
    save_model(path, make_model())
    return path
