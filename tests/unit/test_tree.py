"""The tree itself: no module too long to be one thing, no circle of modules or of rooms."""

import ast
from collections.abc import Iterable
from pathlib import Path

import pytest
from places import REPOSITORY

PACKAGES = ("gbcd", "pose", "pipelines")
MAX_LINES = 400

Graph = dict[str, set[str]]


def module_name(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for package in PACKAGES for path in (REPOSITORY / package).rglob("*.py")}


def is_for_types_alone(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def statements(tree: ast.AST) -> Iterable[ast.AST]:
    """All statements, those inside functions too: an import that is put off is an import."""
    for child in ast.iter_child_nodes(tree):
        if not is_for_types_alone(child):
            yield child
            yield from statements(child)


def imported(path: Path) -> set[str]:
    """The modules of ours that a file imports."""
    found = set()
    for node in statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else node.module for name in inner}
    return found & MODULES.keys()


def circle(graph: Graph) -> list[str]:
    """The names along a circle of the graph, empty where there is none."""
    done: set[str] = set()

    def follow(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := follow(other, [*path, name]):
                return found
        done.add(name)
        return []

    return next((found for name in sorted(graph) if (found := follow(name, []))), [])


def imports() -> Graph:
    return {name: imported(path) - {name} for name, path in MODULES.items()}


def room(module: str) -> str:
    """The package directly under gbcd, pose or pipelines that a module lies in, or the module itself there."""
    return ".".join(module.split(".")[:2])


def test_a_circle_is_found():
    assert circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c", "b"]
    assert circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


@pytest.mark.parametrize("name", sorted(MODULES))
def test_no_module_is_too_long(name):
    count = len(MODULES[name].read_text(encoding="utf-8").splitlines())
    assert count <= MAX_LINES, f"{name} has {count} lines: which two things is it?"


def test_no_circle_of_modules():
    assert not (found := circle(imports())), " -> ".join(found)


def test_no_circle_of_rooms():
    # What a package publishes in its __init__ stands above all of its rooms, for those who use it.
    rooms: Graph = {}
    for name, others in imports().items():
        if name not in PACKAGES:
            own = rooms.setdefault(room(name), set())
            own |= {room(other) for other in others if other not in PACKAGES} - {room(name)}
    assert not (found := circle(rooms)), " -> ".join(found)
