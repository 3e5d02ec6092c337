"""Tables of errors and of interval coverage for the screen."""

from __future__ import annotations

from rich.table import Table

from pipelines.evaluation.evaluate import LEVELS, METHODS, Evaluation

LABELS = {"gbcd": "GBCD (exact)", "mpgp": "MPGP (sparse)", "mean_pose": "mean pose"}
"""Names of the methods in tables and pictures."""


def error_table(evaluation: Evaluation) -> Table:
    """Mean joint errors, mm, overall and by subject, action, camera and joint."""
    table = Table(title=f"mean joint error, mm, {len(evaluation.samples)} samples of {evaluation.title}")
    table.add_column("", no_wrap=True)
    for method in METHODS:
        table.add_column(LABELS[method], justify="right", no_wrap=True)
    n_joints = len(evaluation.skeleton)
    sections = {
        "": {
            f"{n_joints} joints": evaluation.means(),
            f"{n_joints - 1}, without the root": evaluation.means("absolute_no_root"),
            f"{n_joints}, aligned (P-MPJPE)": evaluation.means("aligned"),
        },
        "subject": evaluation.by("subject"),
        "action": evaluation.by("action"),
        "camera": evaluation.by("camera"),
        "joint": evaluation.by_joint(),
    }
    for section, rows in sections.items():
        for name, errors in rows.items():
            label = f"{section} {name}".strip().replace("_", " ")
            table.add_row(label, *(f"{errors[method]:.1f}" for method in METHODS), style=None if section else "bold")
        table.add_section()
    return table


def interval_table(evaluation: Evaluation) -> Table:
    """Coverage of GBCD's intervals, per cent, by subject, action, camera and joint."""
    table = Table(title=f"GBCD: coordinates within their intervals, %, {len(evaluation.samples)} samples")
    table.add_column("", no_wrap=True)
    for level in LEVELS:
        table.add_column(f"of {level:.0%}".replace("%", " %"), justify="right", no_wrap=True)
    table.add_column("mean std, mm", justify="right", no_wrap=True)
    for section, rows in evaluation.intervals().items():
        for name, row in rows.items():
            *shares, std = row.values()
            label = f"{section} {name}".strip().replace("_", " ")
            cells = [*(f"{100 * share:.1f}" for share in shares), f"{std:.1f}"]
            table.add_row(label, *cells, style=None if section else "bold")
        table.add_section()
    return table
