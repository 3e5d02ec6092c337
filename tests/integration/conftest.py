"""The command line, called as a shell would call it."""

import sys

import pytest

from pipelines import cli


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line as a shell would; returns exit code, output and error lines."""

    def call(*arguments):
        # As wide as a terminal that does not fold lines, so that a message is one line.
        monkeypatch.setattr(sys, "argv", ["pose", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as exit_:
            code = exit_.code or 0
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call
