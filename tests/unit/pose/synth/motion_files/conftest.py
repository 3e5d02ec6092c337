"""Small motion files on the disk."""

from pathlib import Path

import pytest
from motion_texts import amc_text, asf_text


@pytest.fixture
def write(tmp_path):
    def _write(name, content):
        path: Path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return _write


@pytest.fixture
def acclaim(write):
    """Writes an AMC file with its skeleton beside it."""

    def _acclaim(amc=None, asf=None, name="person_01.amc"):
        write("person.asf", asf if asf is not None else asf_text())
        return write(name, amc if amc is not None else amc_text())

    return _acclaim
