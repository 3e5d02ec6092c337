"""Checks of arguments that several modules make."""

from __future__ import annotations

from operator import index


def check_count(name: str, value: object) -> int:
    """`value` as an int of at least 1; ValueError otherwise."""
    try:
        count = index(value)  # type: ignore[arg-type]  # whether it is an integer is checked here
    except TypeError:
        raise ValueError(f"{name} must be a whole number, got {value!r}") from None
    if count < 1 or isinstance(value, bool):
        raise ValueError(f"{name} must be at least 1, got {value!r}")
    return count
