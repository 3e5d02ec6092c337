"""What the pictures show: exact objectives, no more of them than is known, and legends that hide nothing."""

import numpy as np
import pytest

from pipelines.bench import traces
from pipelines.bench.data.problems import Catalogue, draw
from pipelines.bench.runner.cell import Cell, Row, Run
from pipelines.bench.runner.pictures import few_markers, legend_below, panels
from pipelines.bench.runner.results_file import Results
from pipelines.bench.tables import figure2
from pipelines.progress import Silent

HEADING = {"benchmark": "b", "size": "full", "version": "1", "machine": {}, "figure": ""}


@pytest.fixture
def parameters(tmp_path):
    specified = Catalogue(None, tmp_path / "fitted.json", Silent()).specify("friedman1", 300)
    return {"problem": specified, "tol": 1e-4, "budget": 1_000_000, "n_test": 20, "seconds": 100.0}


@pytest.mark.parametrize("solver", ["gbcd", "cg", "bcdc"])
def test_the_objective_on_the_way_is_exact(parameters, solver):
    job = traces.follow_solve(parameters | {"solver": solver}, None, 0)
    course, result = job.work()
    finding = job.check((course, result))
    problem = draw(parameters["problem"], None, 20, 0)
    squares = (((problem.X[:, None] - problem.X[None]) ** 2) * problem.kernel.gamma).sum(axis=2)
    Kbar = np.exp(-squares) + problem.noise * np.eye(300)
    kept = course.kept | {len(course.entries) - 1: result.coef}
    assert 0 in kept
    found = finding.arrays["objective"]
    assert len(found) == len(finding.arrays["time"]) == finding.measures["iterations"]
    assert set(np.flatnonzero(np.isfinite(found))) == set(kept)
    assert finding.arrays["norm"][-1] == pytest.approx(finding.measures["norm"], rel=1e-6)
    for iteration, alpha in kept.items():
        gradient = np.abs(Kbar @ alpha - problem.Y).max()
        assert finding.arrays["norm"][iteration] == pytest.approx(gradient, rel=1e-6, abs=1e-12)
        expected = float((0.5 * alpha.T @ Kbar @ alpha - problem.Y.T @ alpha).item())
        assert found[iteration] == pytest.approx(expected, rel=1e-10)
    if solver == "bcdc":
        assert (np.diff(found[np.isfinite(found)]) <= 1e-6).all()
    assert found[-1] == pytest.approx(finding.measures["objective"], rel=1e-10)


def test_of_several_outputs_objectives_are_summed_and_the_largest_gradient_counts(tmp_path):
    specified = Catalogue(None, tmp_path / "fitted.json", Silent()).specify("friedman1_45", 60)
    problem = draw(specified, None, 1)
    alphas = [np.random.default_rng(k).standard_normal(problem.Y.shape) for k in range(2)]
    squares = (((problem.X[:, None] - problem.X[None]) ** 2) * problem.kernel.gamma).sum(axis=2)
    Kbar = np.exp(-squares) + problem.noise * np.eye(60)
    expected = [0.5 * np.trace(alpha.T @ Kbar @ alpha) - np.trace(problem.Y.T @ alpha) for alpha in alphas]
    norms, objectives = traces.exact_values(problem, alphas)
    np.testing.assert_allclose(objectives, expected, rtol=1e-10)
    np.testing.assert_allclose(norms, [np.abs(Kbar @ alpha - problem.Y).max() for alpha in alphas], rtol=1e-10)


def test_a_few_of_many_coefficients_are_kept():
    course = traces._Course(np.zeros((1, 2), dtype=np.float32), np.zeros((1, 1)), 1e9)
    for iteration in range(1, 2001):
        coef = np.full((2, 1), float(iteration))
        course(traces.TraceEntry(iteration, 0.0, 0, 1.0, 0.0, coef=coef))
        course._due = course._due[0], np.inf  # so that the clock says nothing
        coef[:] = 0  # as a solver that goes on with its own array
    assert list(course.kept)[:12] == [*range(11), 12]
    assert len(course.kept) < 70  # log(2000) / log(1.1) = 80, and the first ten are each more than a tenth apart
    assert all((coef == index + 1).all() for index, coef in course.kept.items())


def test_only_what_is_known_of_an_objective_is_shown():
    course = {"time": np.arange(6.0), "doubt": np.zeros(1)}
    exact = course | {"objective": np.array([-10.0, np.nan, -90.0, np.nan, -99.9, -100.0])}
    along, height = figure2.above_minimum(exact, "time", (-100.0, 0.0))
    np.testing.assert_array_equal(along, [0, 2, 4, 5])
    np.testing.assert_allclose(height, [90, 10, 0.1, 1e-5])
    # 0.5 below the minimum: what is less above it is as wrong.
    running = course | {"objective": np.array([-10.0, -95.0, -99.7, -100.5, -99.9, -100.0])}
    along, height = figure2.above_minimum(running, "time", (-100.0, 0.0))
    np.testing.assert_array_equal(along, [0, 1, 5])
    np.testing.assert_allclose(height, [90, 5, 1e-5])
    # The minimum itself may be lower by 1.
    along, height = figure2.above_minimum(exact, "time", (-100.0, 1.0))
    np.testing.assert_array_equal(along, [0, 2, 5])
    np.testing.assert_allclose(height, [90, 10, 1])
    doubted = exact | {"doubt": np.array([20.0])}
    np.testing.assert_array_equal(figure2.above_minimum(doubted, "time", (-100.0, 0.0))[0], [0, 5])


def test_the_minimum_is_known_by_the_gradients_at_the_ends(tmp_path):
    results = Results(tmp_path / "b-full.json", HEADING, overwrite=False)
    rows = [Row((name,), Cell("m:f", {"name": name, "problem": {"n": 100, "noise": 0.5}})) for name in "abc"]
    assert figure2.lowest_objective(rows, results) == (0, 0)
    # |g|^2 / (2 sigma^2) <= 100 norm^2: a is at most 4 above the minimum, b 1.
    for row, end, norm in zip(rows, (-7.0, -6.0), (0.2, 0.1), strict=False):
        results.put(row.cell, [Run("done", 1.0, {"seconds": 1.0, "objective": end, "norm": norm})])
    results.put(rows[2].cell, [Run("limit", 1.0)])
    assert figure2.lowest_objective(rows, results) == pytest.approx((-7, 0))
    results.put(rows[1].cell, [Run("done", 1.0, {"seconds": 1.0, "objective": -6.0, "norm": 1.0})])
    assert figure2.lowest_objective(rows, results) == pytest.approx((-7, 4))


def test_the_end_of_a_course_is_the_exact_one(tmp_path):
    results = Results(tmp_path / "b-full.json", HEADING, overwrite=False)
    row = Row(("a",), Cell("m:f", {}))
    assert figure2.course_of(row, results) == {}
    results.put(row.cell, [Run("done", 1.0, {"seconds": 1.0, "objective": -7.0})])
    assert figure2.course_of(row, results) == {}
    results.arrays_path(row.cell).parent.mkdir()
    np.savez(results.arrays_path(row.cell), time=np.arange(2.0), objective=np.array([-1.0, -7.5]))
    course = figure2.course_of(row, results)
    np.testing.assert_array_equal(course["objective"], [-1, -7])
    np.testing.assert_array_equal(course["doubt"], [0.5])


def test_one_legend_stands_below_the_panels():
    figure, axes = panels(1, 2, "A title")
    for axis in axes:
        few_markers(axis, np.arange(3), np.arange(3), "a method", "#000000")
    few_markers(axes[1], np.arange(3), np.arange(3), "another", "#ff0000")
    legend_below(figure)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["a method", "another"]
    axes[0].plot([0, 1], [0, 0])  # without a name
    figure.draw_without_rendering()
    top = legend.get_window_extent().y1
    assert all(axis.get_tightbbox().y0 >= top for axis in axes)
    empty, _ = panels(1, 1, "A title")
    legend_below(empty)
    assert empty.legends == []
