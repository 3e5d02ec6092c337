"""Names and colours of the solvers in tables and pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A solver.

    Attributes
    ----------
    name : str
        Name in tables.
    label : str
        Name in the legends of pictures.
    colour : str
    """

    name: str
    label: str
    colour: str


METHODS = {
    "cholesky": Method("Cholesky", "Cholesky", "#444444"),
    "cg": Method("CG", "CG", "#8c6d31"),
    "smo": Method("SMO", "SMO", "#b07aa1"),
    "bcdc": Method("BCDC", "BCDC (cyclic blocks)", "#4e79a7"),
    "bcdg": Method("BCDG", "BCDG (gradient blocks)", "#f28e2b"),
    "gbcd-paper": Method("Algorithm 2", "Algorithm 2", "#d62728"),
    "gbcd": Method("gbcd", "gbcd (this library)", "#2ca02c"),
    "pcg": Method("pcg", "pcg (RPCholesky, this library)", "#17becf"),
}
"""Solvers by their names in the registry, in the order of the paper's tables; gbcd and its strongest rival last."""

PAPER = ("cg", "smo", "bcdc", "bcdg", "gbcd-paper")
"""Names of the iterative methods that the paper compares."""

BLOCKS = ("bcdc", "bcdg", "gbcd-paper")
