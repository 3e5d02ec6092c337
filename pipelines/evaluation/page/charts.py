"""Charts: the distribution of the errors, and the coverage of the intervals."""

from __future__ import annotations

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from pipelines.evaluation.evaluate import LEVELS, METHODS, Evaluation
from pipelines.evaluation.page.svg import drawing, element, path
from pose.types import BoolArray, FloatArray

_WIDTH, _HEIGHT = 380.0, 250.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 12.0, 10.0, 42.0
"""Size and margins of a chart, in units of the drawing."""
_PER_CENT = np.arange(0, 101, 25)
"""Ticks of a percentage axis, %."""
_POINTS = 60
"""Number of points on a curve."""


def calibration_chart(evaluation: Evaluation) -> Markup:
    """Observed against nominal coverage, over all images and, as thin lines, for each action."""
    place = _Axes(100.0, "intervals that should hold, %", "% that hold")
    parts = place.frame(_PER_CENT)
    parts.append(path(place.points(np.array([0.0, 100]), np.array([0.0, 100])), class_="diagonal"))
    stated = np.linspace(0.02, 0.98, 25)

    def held(rows: BoolArray | slice, levels: FloatArray) -> FloatArray:
        shares = np.array([evaluation.coverage(float(level), rows) for level in levels])
        return place.points(100 * levels, 100 * shares)

    actions = evaluation.samples.action
    parts += [path(held(actions == action, stated), class_="curve part") for action in np.unique(actions)]
    parts.append(path(held(slice(None), stated), class_="curve gbcd"))
    for x, y in held(slice(None), np.array(LEVELS)).tolist():
        parts.append(element("circle", cx=x, cy=y, r=4, class_="dot gbcd"))
    text = ", ".join(f"{level:.0%} intervals hold {evaluation.coverage(level):.1%}" for level in LEVELS)
    return drawing(_WIDTH, _HEIGHT, f"Calibration: {text}", parts)


def distribution_chart(evaluation: Evaluation) -> Markup:
    """Cumulative distribution of the errors, per cent of samples, by method."""
    errors = {method: evaluation.errors[method].poses("absolute") for method in METHODS}
    reach = max(float(np.quantile(values, 0.99)) for values in errors.values())
    step = _nice_step(reach)
    reach = step * max(np.ceil(reach / step), 1)
    place = _Axes(float(reach), "mean joint error of an image below, mm", "% of images")
    parts = place.frame(np.arange(0, reach + step / 2, step))
    for method in METHODS:
        at = np.linspace(0, reach, _POINTS)
        below = 100 * np.searchsorted(np.sort(errors[method]), at, side="right") / len(errors[method])
        parts.append(path(place.points(at, below), class_=f"curve {method}"))
    return drawing(_WIDTH, _HEIGHT, "Distribution of the errors by method", parts)


class _Axes:
    """Axes of a chart: per cent upwards, a quantity from 0 to `reach` to the right."""

    def __init__(self, reach: float, below: str, beside: str) -> None:
        self.reach, self.below, self.beside = reach, below, beside

    def points(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Positions (n, 2) of values in the drawing."""
        across = _LEFT + np.asarray(x) / self.reach * (_WIDTH - _LEFT - _RIGHT)
        down = _TOP + (1 - np.asarray(y) / 100) * (_HEIGHT - _TOP - _BOTTOM)
        return np.stack([across, down], axis=1)

    def frame(self, ticks: NDArray[np.generic]) -> list[Markup]:
        """Grid lines, tick labels and axis titles."""
        parts = []
        floor, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
        for share in _PER_CENT:
            y = float(self.points(np.array([0.0]), np.array([float(share)]))[0, 1])
            parts.append(element("line", x1=_LEFT, x2=right, y1=y, y2=y, class_="grid"))
            parts.append(element("text", share, x=_LEFT - 6, y=y + 4, text_anchor="end"))
        for tick in ticks:
            x = float(self.points(np.array([float(tick)]), np.array([0.0]))[0, 0])
            parts.append(element("text", f"{float(tick):g}", x=x, y=floor + 16, text_anchor="middle"))
        middle = (_LEFT + right) / 2
        parts.append(element("text", self.below, x=middle, y=_HEIGHT - 6, text_anchor="middle", class_="name"))
        centre = (_TOP + floor) / 2
        turned = f"rotate(-90 11 {centre:g})"
        parts.append(
            element("text", self.beside, x=11, y=centre, text_anchor="middle", transform=turned, class_="name")
        )
        return parts


def _nice_step(reach: float) -> float:
    """A step of 1, 2 or 5 times a power of ten that divides `reach` into about five parts."""
    power = 10.0 ** np.floor(np.log10(max(reach, 1e-6) / 5))
    return float(next(power * factor for factor in (1, 2, 5, 10) if power * factor * 5 >= reach))
