"""The problems of the benchmarks: simulated ones and those of a folder."""

import json

import numpy as np
import pytest

from gbcd import fit_hyperparameters
from pipelines.bench.data.problems import Catalogue, draw
from pipelines.bench.data.simulated import SIMULATED, arm_tip, friedman1
from pipelines.bench.tables import table4
from pipelines.bench.tables.rows import Rows
from pipelines.progress import Silent
from pose.errors import DataError

GIVEN = {"gamma": [0.5, 0.25], "noise": 0.1}


@pytest.fixture
def catalogue(tmp_path):
    def make(folder=None):
        return Catalogue(folder, tmp_path / "fitted.json", Silent())

    return make


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(3, 5, (60, 2))
    y = 7 + np.sin(3 * X[:, 0]) + 0.1 * rng.standard_normal(60)
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "small.npz", X=X, y=y)
    return tmp_path / "data"


def test_an_arm_at_zero_lies_along_x_and_the_first_joint_turns_all_of_it():
    angles = np.zeros((3, 8))
    angles[1, 0] = np.pi / 2
    angles[2, 7] = np.pi / 2
    # Of seven quarter turns about x, to and fro, one is left: the last joint's y is the arm's z.
    np.testing.assert_allclose(arm_tip(angles), [[1, 0, 0], [0, 1, 0], [7 / 8, 0, 1 / 8]], atol=1e-15)
    # Whatever the angles, the tip is within the arm's reach.
    tips = arm_tip(np.random.default_rng(0).uniform(-2, 2, (100, 8)))
    assert (np.linalg.norm(tips, axis=1) <= 1).all()


def test_friedmans_function():
    X = np.full((1, 10), 0.5)
    weights = np.array([[10.0], [20.0], [10.0], [5.0]])
    np.testing.assert_allclose(friedman1(X, weights), [[10 * np.sin(np.pi / 4) + 5 + 2.5]])


@pytest.mark.parametrize(
    ("name", "d", "q"), [("friedman1", 10, 1), ("friedman1_isotropic", 10, 1), ("arm8", 8, 1), ("friedman1_45", 10, 45)]
)
def test_simulated_problems_are_standardised_and_tested_without_noise(catalogue, name, d, q):
    specified = catalogue().specify(name, 3000)
    problem = draw(specified, None, n_test=500)
    assert (problem.X.shape, problem.Y.shape) == ((3000, d), (3000, q))
    assert (problem.X_test.shape, problem.Y_test.shape) == ((500, d), (500, q))
    np.testing.assert_allclose(problem.Y.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(problem.X.std(axis=0), 1)
    assert problem.noise == SIMULATED[name].noise
    again = draw(specified, None, n_test=500)
    np.testing.assert_array_equal(problem.Y, again.Y)
    assert not np.array_equal(problem.X[:500], problem.X_test)
    assert json.loads(json.dumps(specified)) == specified
    # Friedman's noise has variance 1 beside about 24 of the function.
    if name == "friedman1":
        assert problem.Y_test.var() == pytest.approx(24 / 25, abs=0.1)


def test_one_width_for_friedmans_function_is_that_of_the_greatest_marginal_likelihood(catalogue):
    specified = catalogue().specify("friedman1_isotropic", 2000)
    problem = draw(specified, None)
    np.testing.assert_array_equal(problem.Y, draw(catalogue().specify("friedman1", 2000), None).Y)
    fit = fit_hyperparameters(problem.X, problem.Y, kernel="isotropic", random_state=0, fit_amplitude=False)
    assert specified["gamma"] == pytest.approx(np.exp(fit.kernel.log_parameters[0]), rel=1e-2)
    assert specified["noise"] == pytest.approx(fit.noise, rel=1e-2)


def test_a_file_is_split_scaled_and_given_its_parameters(catalogue, folder):
    (folder / "hyperparameters.json").write_text(json.dumps({"small": GIVEN}))
    specified = catalogue(folder).specify("small", 50)
    assert specified["gamma"] == GIVEN["gamma"]
    problem = draw(specified, folder)
    assert (len(problem.X), len(problem.X_test)) == (50, 10)
    np.testing.assert_allclose(problem.Y.std(), 1)
    with np.load(folder / "small.npz") as held:
        drawn = np.concatenate([problem.Y, problem.Y_test]).ravel()
        assert np.corrcoef(np.sort(drawn), np.sort(held["y"]))[0, 1] == pytest.approx(1)
    assert len(draw(catalogue(folder).specify("small", 60), folder).X_test) == 0


def test_parameters_that_are_not_given_are_fitted_once(catalogue, folder, monkeypatch):
    first = catalogue(folder).specify("small", 50)
    assert len(first["gamma"]) == 2
    assert 0 < first["noise"] < 0.5
    monkeypatch.setattr("pipelines.bench.data.problems.fit_hyperparameters", None)
    assert catalogue(folder).specify("small", 50) == first


def test_a_changed_file_is_another_problem(catalogue, folder):
    (folder / "hyperparameters.json").write_text(json.dumps({"small": GIVEN}))
    before = catalogue(folder).specify("small", 50)
    np.savez(folder / "small.npz", X=np.eye(60, 2), y=np.arange(60.0))
    assert catalogue(folder).specify("small", 50) != before


def test_histograms_keep_their_proportions(catalogue, tmp_path):
    rng = np.random.default_rng(0)
    H = rng.multinomial(400, [0.7, 0.2, 0.1], 40) / 400
    np.savez(tmp_path / "histosc.npz", X=H, Y=rng.normal(100, [1, 20], (40, 2)))
    problem = draw(catalogue(tmp_path).specify("histosc", 40), tmp_path)
    np.testing.assert_allclose(problem.X.std(), 1)
    np.testing.assert_allclose(problem.X.sum(axis=1), problem.X[0].sum())
    np.testing.assert_allclose([problem.Y.std(), *problem.Y.mean(axis=0)], [1, 0, 0], atol=1e-12)
    like = draw(catalogue(tmp_path).specify("histosc_like", 200), tmp_path, n_test=5)
    assert (like.X.shape, like.Y.shape, like.X_test.shape) == ((200, 3), (200, 2), (5, 3))
    words = 400 * like.X / like.X.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(words, np.round(words), atol=1e-9)


def test_what_is_missing_or_wrong_is_named(catalogue, folder):
    assert catalogue().missing("kin40k") == "needs --data with kin40k.npz, .csv or .mat"
    assert catalogue(folder).missing("histosc_like") == "needs --data with histosc.npz, .csv or .mat"
    assert catalogue(folder).missing("small") == catalogue().missing("arm8") == ""
    assert catalogue(folder).names == ["small"]
    assert catalogue(folder).most("small", 0.5) == 30
    with pytest.raises(DataError, match="kin40k: needs --data"):
        catalogue().specify("kin40k", 10)
    with pytest.raises(DataError, match=r"small\.npz: has 60 rows, 61 are asked for"):
        draw({"name": "small", "n": 61, **GIVEN}, folder)
    (folder / "hyperparameters.json").write_text('{"small": {"gamma": -1, "noise": 1}}')
    with pytest.raises(DataError, match=r"hyperparameters\.json: .*gamma must be finite"):
        catalogue(folder).specify("small", 50)


class Listening(Silent):
    """Keeps the faults."""

    def __init__(self):
        self.faults = []

    def fault(self, text):
        self.faults.append(text)


def test_a_file_with_the_name_of_a_simulated_problem_is_left_out(tmp_path):
    for name in ("friedman1", "histosc_like"):
        np.savez(tmp_path / f"{name}.npz", X=np.eye(3), y=np.arange(3.0))
    listening = Listening()
    catalogue = Catalogue(tmp_path, tmp_path / "fitted.json", listening)
    assert catalogue.names == []
    assert catalogue.specify("friedman1", 70) == Catalogue(None, tmp_path / "x", Silent()).specify("friedman1", 70)
    assert Rows(catalogue, quick=False).training_samples("friedman1", 70) == 70
    assert listening.faults == [
        f"{tmp_path}: the file {name} has the name of a problem that is made here; rename it"
        for name in ("friedman1", "histosc_like")
    ]


def test_a_file_that_cannot_be_used_is_named_and_the_others_have_their_rows(folder, tmp_path):
    (folder / "hyperparameters.json").write_text(json.dumps({"small": GIVEN}))
    (folder / "broken.csv").write_text("1,2\nred,3\n")
    (folder / "twice.csv").write_text("1,2\n3,5\n")
    np.savez(folder / "twice.npz", X=np.eye(3), y=np.arange(3.0))
    listening = Listening()
    (made,) = table4.tables("full", Catalogue(folder, tmp_path / "fitted.json", listening))
    rows = {row.labels: row for row in made.rows if row.labels[0] not in SIMULATED}
    assert {labels[0] for labels in rows} == {"broken", "small", "twice"}
    assert rows["small", "54", "gbcd"].cell is not None
    fault = "column 1 holds text ('red') in line 2; numbers are needed"
    assert rows["broken", "–", "MPGP"].missing == f"broken.csv: {fault}"
    assert rows["twice", "–", "SD"].missing == "twice.npz and twice.csv are one data set; keep one of them"
    assert listening.faults == [
        f"{folder / 'broken.csv'}: {fault}",
        f"{folder}: twice.npz and twice.csv are one data set; keep one of them",
    ]


@pytest.mark.shared
def test_the_reference_problems(shared, catalogue):
    folder = shared / "gp"
    given = json.loads((folder / "hyperparameters.json").read_text())
    for name in ("friedman1", "arm8"):
        assert (list(SIMULATED[name].gamma), SIMULATED[name].noise) == (given[name]["gamma"], given[name]["noise"])
    for name, q in {"kin40k": 1, "calhouse": 1, "histosc": 45, "histosc_like": 45}.items():
        problem = draw(catalogue(folder).specify(name, 1000), folder)
        assert problem.Y.shape == (1000, q)
        assert len(problem.X_test) == 1000
