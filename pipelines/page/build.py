"""What the page shows, and its writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from numpy.typing import NDArray

from pipelines.evaluate import METHODS, Evaluation
from pipelines.files import atomic_path
from pipelines.page.charts import Calibration, calibration, calibration_chart, distribution_chart
from pipelines.page.frames import Picture, pictures
from pipelines.page.tracks import viewer_data
from pipelines.report import LABELS

FloatArray = NDArray[np.float64]

_GROUPS = {"action": "by action", "camera": "by camera", "subject": "by subject"}


@dataclass(frozen=True)
class BarTable:
    """Mean errors of the methods by row, as numbers and bars.

    Parameters
    ----------
    title : str
    rows : list of (name, count or None, errors)
        Errors in the order of `METHODS`, mm.
    longest : float
        The error whose bar is as long as its cell.
    """

    title: str
    rows: list[tuple[str, int | None, list[float]]]
    longest: float


def save_page(
    path: Path, evaluation: Evaluation, model_name: str, training: Mapping[str, str], std: FloatArray | None = None
) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
        The .html file to make.
    evaluation : Evaluation
    model_name : str
    training : mapping of str to str
        Facts about the model, `pipelines.summary.model_rows`.
    std : ndarray of shape (n, J, 3), optional
        Standard deviations of the predictions, mm; with them the page tells how often intervals hold.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    text = render(evaluation, model_name, training, std)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(evaluation: Evaluation, model_name: str, training: Mapping[str, str], std: FloatArray | None = None) -> str:
    """The page's text; see `save_page`."""
    environment = Environment(
        loader=PackageLoader("pipelines.page", "."),
        autoescape=True,  # names come from files: none of them may become markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    worst, best = pictures(evaluation)
    measured: Calibration | None = None if std is None else calibration(evaluation, std)
    return environment.get_template("report.html.jinja").render(
        title=f"{model_name} on {evaluation.title}",
        evaluation=evaluation,
        n_samples=len(evaluation.samples),
        labels=LABELS,
        methods=METHODS,
        means=evaluation.means(),
        aligned=evaluation.means("aligned"),
        tables=_tables(evaluation),
        training=training,
        distribution=distribution_chart(evaluation),
        calibration=measured,
        calibration_chart=None if measured is None else calibration_chart(measured),
        picture_groups=_groups(worst, best),
        viewer=viewer_data(evaluation),
        style=Markup(_read("report.css")),
        script=Markup(_read("viewer.js")),
    )


def _read(name: str) -> str:
    """A file of ours, which is markup already."""
    return resources.files("pipelines.page").joinpath(name).read_text(encoding="utf-8")


def _groups(worst: list[Picture], best: list[Picture]) -> list[tuple[str, str, list[Picture]]]:
    return [
        ("worst", "Largest errors", worst),
        ("best", "Smallest errors", best),
    ]


def _tables(evaluation: Evaluation) -> list[BarTable]:
    counts = evaluation.errors["gbcd"].counts
    sections = {
        title: [(name, counts(column)[name], errors) for name, errors in evaluation.by(column).items()]
        for column, title in _GROUPS.items()
    }
    by_joint = [(name.replace("_", " "), None, errors) for name, errors in evaluation.by_joint().items()]
    everything: dict[str, list[tuple[str, int | None, dict[str, float]]]] = {**sections, "by joint": by_joint}  # type: ignore[dict-item]
    longest = max(max(errors.values()) for rows in everything.values() for _, _, errors in rows)
    return [
        BarTable(title, [(name, n, [errors[method] for method in METHODS]) for name, n, errors in rows], longest or 1.0)
        for title, rows in everything.items()
    ]
