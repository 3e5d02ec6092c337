"""The page of the command line, made from the typer app, so that it has every command and every option.

Sphinx calls `setup`. Before the pages are read, `generated/command-line.md` is written beside them.
"""

from __future__ import annotations

import enum
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pipelines.cli import app as pose_app

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PAGE = Path("generated/command-line.md")
OPENING = """# The command line

Every command and option of `pose`. `pose COMMAND --help` says the same in a terminal. `pose --debug COMMAND ...` shows
tracebacks, `pose --version` the version. The exit code is 0 where all went well, 1 where data were wrong or a part of
the work failed, and 2 where the request was wrong.
"""


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the step that writes the page."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True}


def page() -> str:
    """Return the page as Markdown: a section a command."""
    root: Any = typer.main.get_command(pose_app)
    return "\n".join([OPENING, *(_section(name, command) for name, command in _walk("pose", root))])


def _write(app: Sphinx) -> None:
    path = Path(app.srcdir) / PAGE
    path.parent.mkdir(exist_ok=True)
    path.write_text(page(), encoding="utf-8")


def _walk(name: str, command: Any) -> list[tuple[str, Any]]:
    """Return all commands below one, with their full names."""
    children = getattr(command, "commands", {})
    if not children:
        return [(name, command)]
    return [found for child, below in children.items() for found in _walk(f"{name} {child}", below)]


def _section(name: str, command: Any) -> str:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    options = [parameter for parameter in shown if parameter.param_type_name == "option"]
    usage = " ".join([name, *(["[OPTIONS]"] if options else []), *map(_argument_name, arguments)])
    terms = [_entry(f"`{_argument_name(argument)}`", argument) for argument in arguments]
    terms += [_entry(_option_names(option), option) for option in options]
    return "\n".join([f"## {name}\n", inspect.cleandoc(command.help or ""), f"\n```text\n{usage}\n```\n", *terms])


def _argument_name(argument: Any) -> str:
    if argument.metavar:
        return str(argument.metavar)
    name = argument.name.upper() + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _option_names(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    if option.secondary_opts:
        names += " / " + ", ".join(f"`{name}`" for name in option.secondary_opts)
    return names if option.is_flag else f"{names} {option.name.upper()}"


def _entry(term: str, parameter: Any) -> str:
    """Return one entry of a definition list."""
    notes = []
    if parameter.param_type_name == "option" and parameter.required:
        notes.append("Required.")
    if parameter.multiple:
        notes.append("May be given several times.")
    default = parameter.default
    if default is not None and default != "" and not callable(default) and not getattr(parameter, "is_flag", False):
        value = default.value if isinstance(default, enum.Enum) else default
        notes.append(f"Default: `{value}`.")
    text = " ".join([(parameter.help or "").replace("*", r"\*"), *notes]).strip()
    return f"{term}\n: {text}\n"
