"""Where the repository and the reference data beside it are, for tests that read files of theirs."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SHARED = REPOSITORY.parent / "shared"
