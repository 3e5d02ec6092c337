"""How a command ends: each error becomes one line and an exit code, and a signal ends it tidily."""

from __future__ import annotations

import io
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from typing import Any

from pipelines.errors import UsageError
from pipelines.terminal.console import notes
from pipelines.terminal.console_reporter import ConsoleReporter
from pose.errors import DataError

EXIT_FAILURE, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130


def _print_warning(message: Warning | str, category: type[Warning], *_: Any) -> None:
    del category
    ConsoleReporter(notes).warn(str(message))


def run(command_line: Callable[[], object]) -> None:
    """Run a command line; its traceback is shown with ``--debug`` alone."""
    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    warnings.showwarning = _print_warning  # type: ignore[assignment]
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A file's name may be no valid text, or hold characters that the terminal's encoding lacks.
            stream.reconfigure(errors="backslashreplace")
    try:
        _check_arguments(sys.argv[1:])
        command_line()
    except _StoppedError as error:
        _fail(error, "stopped; the same command starts again where it can", EXIT_INTERRUPTED, debug)
    except UsageError as error:
        _fail(error, str(error), EXIT_USAGE, debug)
    except DataError as error:
        _fail(error, str(error), EXIT_FAILURE, debug)
    except OSError as error:
        _fail(error, f"{error.filename}: {error.strerror}" if error.filename else str(error), EXIT_FAILURE, debug)
    except MemoryError as error:
        _fail(
            error, "not enough memory; try a larger data.stride or a smaller gp.memory_budget_mb", EXIT_FAILURE, debug
        )
    except Exception as error:
        text = f"{type(error).__name__}: {error} (a fault of this program; --debug shows where)"
        _fail(error, text, EXIT_FAILURE, debug)


def _check_arguments(arguments: list[str]) -> None:
    """Refuse empty arguments: an empty path would mean the current folder."""
    for place, argument in enumerate(arguments):
        if not argument or re.fullmatch("--[a-z-]+=", argument):
            before = f" after {arguments[place - 1]}" if place and not argument else f" {argument}"
            raise UsageError(f"the argument{before.rstrip()} is empty; is a variable of the shell not set?")


class _StoppedError(BaseException):
    """Ctrl-C or SIGTERM. A class of our own, since typer would end a KeyboardInterrupt without a message."""


def _stop(*_: object) -> None:
    """End by an exception, so that temporary files are removed on the way."""
    raise _StoppedError


def _fail(error: BaseException, text: str, code: int, debug: bool) -> None:
    if debug:
        traceback.print_exception(error)
    ConsoleReporter(notes).fault(text)
    sys.exit(code)
