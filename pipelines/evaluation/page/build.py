"""Contents of the page, filled into its template and written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from pipelines.evaluation.evaluate import METHODS, Evaluation
from pipelines.evaluation.page.charts import calibration_chart, distribution_chart
from pipelines.evaluation.page.frames import Picture, pictures
from pipelines.evaluation.page.tracks import viewer_data
from pipelines.evaluation.tables import LABELS
from pose.files import atomic_path

_GROUPS = {"action": "by action", "camera": "by camera", "subject": "by subject"}


@dataclass(frozen=True)
class BarTable:
    """One table of mean errors, a row for each group and a column for each method, as numbers and bars.

    Parameters
    ----------
    title : str
    rows : list of (name, count or None, errors)
        Errors in the order of `METHODS`, mm.
    longest : float
        Error, mm, whose bar fills its cell.
    """

    title: str
    rows: list[tuple[str, int | None, list[float]]]
    longest: float


def save_page(path: Path, evaluation: Evaluation, model_name: str, training: Mapping[str, str]) -> None:
    """Write the report.

    Parameters
    ----------
    path : Path
        The .html file to make.
    evaluation : Evaluation
    model_name : str
    training : mapping of str to str
        Facts about the model, `pipelines.model.facts.model_facts`.

    Raises
    ------
    DataError
        If the file cannot be written.
    """
    text = render(evaluation, model_name, training)
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def render(evaluation: Evaluation, model_name: str, training: Mapping[str, str]) -> str:
    """The page's text; see `save_page`."""
    environment = Environment(
        loader=PackageLoader("pipelines.evaluation.page", "."),
        autoescape=True,  # names come from files: none of them may become markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    worst, best = pictures(evaluation)
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
        calibration=None if evaluation.std is None else calibration_chart(evaluation),
        intervals=_intervals(evaluation),
        picture_groups=_groups(worst, best),
        viewer=viewer_data(evaluation),
        style=Markup(_read("report.css")),
        script=Markup(_read("viewer.js")),
    )


def _read(name: str) -> str:
    """The text of a file of this package."""
    return resources.files("pipelines.evaluation.page").joinpath(name).read_text(encoding="utf-8")


def _intervals(evaluation: Evaluation) -> list[tuple[str, list[str]]]:
    """Rows of the table of intervals: a name, coverages in per cent, and the mean standard deviation in mm."""
    sections = evaluation.intervals()
    return [
        (name.replace("_", " "), [f"{row[key]:.1f}" if key == "std_mm" else f"{100 * row[key]:.1f}" for key in row])
        for section in ("", "action", "camera", "joint")
        for name, row in sections.get(section, {}).items()
    ]


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
