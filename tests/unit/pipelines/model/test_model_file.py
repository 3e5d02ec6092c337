"""The model file: what goes in comes out, and whatever else is found there is refused in one line."""

import errno
import json

import h5py
import numpy as np
import pytest

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.model.error_bars import Calibration
from pipelines.model.model_file import SUMMARY, save_model
from pipelines.model.pose_model import PoseModel
from pipelines.settings import Config
from pose import Codebook, HistoSC
from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError

SUMMARY_EXAMPLE = {key: kind() if isinstance(kind, type) else kind[0]() for key, kind in SUMMARY.items()}

EDGES = tuple(np.random.default_rng(2).normal(size=(2, 50, 2)) * 100)  # points and tangents


@pytest.fixture(scope="module")
def model() -> PoseModel:
    rng = np.random.default_rng(0)
    histograms, outputs = rng.dirichlet(np.ones(6), 40), rng.normal(size=(40, 45)) * 100
    outputs[:, :3] = 0  # the root
    gp = GBCDRegressor(kernel="isotropic", gamma=0.1, noise=0.1, input_scaling="global").fit(histograms, outputs)
    mpgp = MatchingPursuitGP(gp.kernel_, noise=gp.noise_, input_scaling="global", n_regressors=7, random_state=0)
    mpgp.fit(histograms, outputs)
    words = Codebook.from_centers(rng.random((6, 120)).astype(np.float32))
    histosc = HistoSC.from_codebook(words, assignment="soft", hellinger=True, rotation="tangent")
    mean_pose = outputs.mean(axis=0).reshape(15, 3)
    calibration = Calibration(np.r_[np.zeros(3), rng.uniform(50, 150, 42)], gp.noise_, 0.5)
    return PoseModel(Config(), histosc, gp, mpgp, mean_pose, HUMANEVA_15, SUMMARY_EXAMPLE, calibration)


@pytest.fixture
def path(model, tmp_path):
    path = tmp_path / "m.h5"
    save_model(path, model)
    return path


def test_a_model_reads_back_and_predicts_the_same(model, path):
    again = PoseModel.load(path)
    new = np.random.default_rng(1).dirichlet(np.ones(6), 5)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    np.testing.assert_array_equal(again.predict_mpgp(new), model.predict_mpgp(new))
    np.testing.assert_array_equal(again.mean_pose, model.mean_pose)
    assert (again.config, again.skeleton, again.summary) == (model.config, model.skeleton, model.summary)
    assert (again.predict(new)[:, 0] == 0).all()
    np.testing.assert_array_equal(again.histosc.histogram(EDGES), model.histosc.histogram(EDGES))


def test_standard_deviations_read_back_the_same(model, path):
    new = np.random.default_rng(1).dirichlet(np.ones(6), 5)
    new = np.vstack([new, [[1, 0, 0, 0, 0, 0]]])  # far from all others
    ours, again = model.predict_with_std(new), PoseModel.load(path).predict_with_std(new)
    assert ours.joints.shape == ours.std.shape == (6, 15, 3)
    np.testing.assert_array_equal(ours.joints, model.predict(new))
    np.testing.assert_array_equal(again.joints, ours.joints)
    np.testing.assert_array_equal(again.std, ours.std)
    np.testing.assert_array_equal(again.unlike, ours.unlike)
    assert (ours.std[:, 0] == 0).all()
    assert (ours.std[:, 1:] > 0).all()
    # By hand: factor sqrt(v + noise), v by eq. 2.
    exact = model.gp.predict(new, return_std=True)[1][:, 5] / model.gp.y_scale_[5]
    std = model.calibration.factors[5] * np.sqrt(exact**2 + model.gp.noise_)
    np.testing.assert_allclose(ours.std[:, 1, 2], std, rtol=1e-4)
    np.testing.assert_array_equal(ours.unlike, exact**2 > 0.5)


def test_an_older_file_predicts_and_says_that_it_has_no_standard_deviations(model, path):
    with h5py.File(path, "a") as file:
        del file["calibration"]
    older = PoseModel.load(path)
    new = np.random.default_rng(1).dirichlet(np.ones(6), 5)
    np.testing.assert_array_equal(older.predict(new), model.predict(new))
    assert older.calibration is None
    with pytest.raises(DataError, match=r"holds no calibrated standard deviations.*train it again"):
        older.predict_with_std(new)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda group: group.__setitem__("factors", np.ones(44)), r"factors has the shape \(44,\), expected \(45,\)"),
        (lambda group: group.__setitem__("factors", np.full(45, np.nan)), "factors holds something else than finite"),
        (lambda group: group.__setitem__("factors", np.full(45, -1.0)), "calibration has a factor or a variance below"),
        (lambda group: group.attrs.__setitem__("unlike_above", np.nan), "calibration has a factor or a variance below"),
        (lambda group: group.attrs.__delitem__("unlike_above"), "unlike_above"),
    ],
)
def test_a_damaged_calibration_is_refused(path, change, message):
    with h5py.File(path, "a") as file:
        group = file["calibration"]
        factors = group["factors"][:]
        del group["factors"]
        change(group)
        if "factors" not in group:
            group["factors"] = factors
    with pytest.raises(DataError, match=rf"m\.h5: is damaged \(.*{message}"):
        PoseModel.load(path)


def test_an_older_file_without_the_scaling_of_mpgp_predicts_the_same(model, path):
    with h5py.File(path, "a") as file:
        # The format has the rival on inputs that the exact process has scaled.
        np.testing.assert_array_equal(file["mpgp/x_offset"], 0)
        np.testing.assert_array_equal(file["mpgp/x_scale"], 1)
        del file["mpgp/x_offset"], file["mpgp/x_scale"]
    new = np.random.default_rng(1).dirichlet(np.ones(6), 5)
    np.testing.assert_array_equal(PoseModel.load(path).predict_mpgp(new), model.predict_mpgp(new))


def test_an_older_file_without_a_scheme_is_of_the_official_one(model, path):
    with h5py.File(path, "a") as file:
        config = json.loads(file.attrs["config"])
        assert config["data"].pop("scheme") == "official"
        file.attrs["config"] = json.dumps(config)
    assert PoseModel.load(path).config == model.config


def test_an_older_file_counts_words_as_they_were_counted_then(model, path):
    with h5py.File(path, "a") as file:
        config = json.loads(file.attrs["config"])
        for name in ("assignment", "hellinger", "rotation"):
            del config["descriptor"][name]
        del config["data"]["views"]
        file.attrs["config"] = json.dumps(config)
    again = PoseModel.load(path)
    hard = HistoSC.from_codebook(model.histosc.codebook_).histogram(EDGES)
    np.testing.assert_array_equal(again.histosc.histogram(EDGES), hard)
    assert hard.tolist() != model.histosc.histogram(EDGES).tolist()


@pytest.mark.parametrize("group", ["gp", "mpgp"])
def test_amplitudes_are_kept_and_older_files_have_none(model, path, group):
    np.testing.assert_array_equal(getattr(PoseModel.load(path), group).amplitude_, np.ones(45))
    with h5py.File(path, "a") as file:
        file[f"{group}/amplitude"][...] = np.arange(1.0, 46)
    np.testing.assert_array_equal(getattr(PoseModel.load(path), group).amplitude_, np.arange(1.0, 46))
    with h5py.File(path, "a") as file:
        file[f"{group}/amplitude"][3] = 0
    with pytest.raises(DataError, match=rf"m\.h5: is damaged \({group}/amplitude must be positive"):
        PoseModel.load(path)
    with h5py.File(path, "a") as file:
        del file[f"{group}/amplitude"]
        file[f"{group}/amplitude"] = np.ones(3)
    with pytest.raises(DataError, match=rf"{group}/amplitude has the shape \(3,\), expected \(45,\)"):
        PoseModel.load(path)
    with h5py.File(path, "a") as file:
        del file[f"{group}/amplitude"]
    np.testing.assert_array_equal(getattr(PoseModel.load(path), group).amplitude_, np.ones(45))


@pytest.mark.parametrize("group", ["gp", "mpgp"])
def test_an_input_scale_that_is_not_positive_is_refused(path, group):
    with h5py.File(path, "a") as file:
        file[f"{group}/x_scale"][2] = 0
    with pytest.raises(DataError, match=rf"m\.h5: is damaged \({group}/x_scale must be positive"):
        PoseModel.load(path)


def test_the_file_says_what_it_is(path):
    with h5py.File(path) as file:
        assert file.attrs["format"] == "pose-model"
        assert file.attrs["version"] == 1
        assert set(file) == {"calibration", "gp", "histosc", "mean_pose", "mpgp", "skeleton"}
        file.visititems(lambda name, item: None if isinstance(item, h5py.Group) else check_plain(name, item))


def check_plain(name, dataset):
    """Nothing in the file could run code when read."""
    assert dataset.dtype.kind in "fiu", name


def test_a_failed_write_leaves_the_old_model(model, path, monkeypatch):
    before = path.read_bytes()
    monkeypatch.setattr(GBCDRegressor, "get_state", lambda _: {"coef": object()})
    with pytest.raises(TypeError):
        save_model(path, model)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_truncated_and_foreign_files_are_refused(path):
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-1]):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"m\.h5: (is not a model file, or is truncated|is damaged)"):
            PoseModel.load(path)


def test_another_hdf5_file_is_refused(path):
    with h5py.File(path, "w") as file:
        file["x"] = [1]
    with pytest.raises(DataError, match="is an HDF5 file but not a model made by 'pose train'"):
        PoseModel.load(path)


def test_another_version_is_refused(path):
    with h5py.File(path, "a") as file:
        file.attrs["version"] = 2
    with pytest.raises(DataError, match="has format version 2, this software reads 1; train it again"):
        PoseModel.load(path)


@pytest.mark.parametrize("part", ["gp/coef", "mpgp", "histosc/centers", "mean_pose", "skeleton"])
def test_missing_parts_are_named(path, part):
    with h5py.File(path, "a") as file:
        del file[part]
    with pytest.raises(DataError, match=r"m\.h5: is damaged"):
        PoseModel.load(path)


def test_parts_that_do_not_fit_together_are_refused(path):
    with h5py.File(path, "a") as file:
        coef = file["gp/coef"][:-1]
        del file["gp/coef"]
        file["gp/coef"] = coef
    with pytest.raises(DataError, match=r"gp/X_train has the shape \(40, 6\), expected \(39, 6\)"):
        PoseModel.load(path)


@pytest.mark.parametrize(
    "part", ["gp/coef", "gp/y_mean", "gp/x_scale", "mpgp/coef", "mpgp/origin", "mpgp/x_scale", "mean_pose"]
)
def test_numbers_that_are_not_finite_are_refused(path, part):
    with h5py.File(path, "a") as file:
        values = file[part][:]
        values.flat[0] = np.nan
        file[part][...] = values
    with pytest.raises(DataError, match=rf"m\.h5: is damaged \({part} holds something else than finite numbers"):
        PoseModel.load(path)


@pytest.mark.parametrize(
    ("part", "value"), [("gp/X_train", 1e300), ("mean_pose", 1e300), ("@gamma", np.zeros(3)), ("@noise", 1e300)]
)
def test_numbers_that_no_training_gives_are_refused(path, part, value):
    with h5py.File(path, "a") as file:
        if part.startswith("@"):
            file["gp"].attrs[part[1:]] = value
        else:
            file[part][0] = value
    with pytest.raises(DataError, match=r"m\.h5: is damaged \((gp|mean_pose)"):
        PoseModel.load(path)


def test_a_shorter_scale_does_not_spread_over_all_outputs(path):
    with h5py.File(path, "a") as file:
        del file["gp/y_mean"]
        file["gp/y_mean"] = np.zeros(1)
    with pytest.raises(DataError, match=r"gp/y_mean has the shape \(1,\), expected \(45,\)"):
        PoseModel.load(path)


@pytest.mark.parametrize("parents", [[1] * 15, [-1] * 15, [-1, 2, 1, *range(12)], list(range(15)), [-1, 0]])
def test_a_skeleton_that_is_no_tree_is_refused(path, parents):
    with h5py.File(path, "a") as file:
        file["skeleton"].attrs["parents"] = json.dumps(parents)
    with pytest.raises(DataError, match=r"m\.h5: is damaged"):
        PoseModel.load(path)


@pytest.mark.parametrize(("attribute", "value"), [("summary", "{}"), ("summary", "[]"), ("config", '{"gp": 5}')])
def test_damaged_attributes_are_one_line(path, attribute, value):
    with h5py.File(path, "a") as file:
        file.attrs[attribute] = value
    with pytest.raises(DataError, match=r"m\.h5: is damaged") as fault:
        PoseModel.load(path)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("group", "name", "value"), [("gp", "noise", np.nan), ("mpgp", "noise", -1.0), ("gp", "flat", True)]
)
def test_scalars_that_no_training_gives_are_refused(path, group, name, value):
    with h5py.File(path, "a") as file:
        file[group].attrs[name] = value
    with pytest.raises(DataError, match=rf"m\.h5: is damaged \({group} has a noise or a shape"):
        PoseModel.load(path)


@pytest.mark.parametrize("subjects", [None, "S1", 3])
def test_a_summary_of_another_kind_is_refused(path, subjects):
    with h5py.File(path, "a") as file:
        file.attrs["summary"] = json.dumps(SUMMARY_EXAMPLE | {"subjects": subjects})
    with pytest.raises(DataError, match="the summary lacks subjects"):
        PoseModel.load(path)


def test_a_full_disk_is_one_line_and_leaves_nothing(model, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pathlib.Path.write_bytes", fail)
    with pytest.raises(DataError, match=r"m\.h5: cannot be written \(No space left on device\)"):
        save_model(tmp_path / "m.h5", model)
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"none\.h5: no such model file"):
        PoseModel.load(tmp_path / "none.h5")
