"""A small data set that several files of tests read."""

from pathlib import Path

import pytest

from pose.synth import synthesize


@pytest.fixture(scope="session")
def walking_tree(tmp_path_factory) -> Path:
    """A second of walking by each subject. Read only: a test that changes files takes a copy."""
    return synthesize(tmp_path_factory.mktemp("walking") / "tree", actions=("Walking",), n_frames=60, seed=2)
