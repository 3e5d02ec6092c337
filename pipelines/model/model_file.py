"""The model file: one HDF5 file with a format version and no pickle, written whole or not at all.

Format history
--------------
1 : attributes ``format``, ``version``, ``software``, ``config`` and ``summary`` (JSON); groups ``histosc`` (centers),
    ``gp`` and ``mpgp`` (arrays, scalars as attributes), ``skeleton`` (names, parents); ``mean_pose``. Added later:
    group ``calibration`` (factors; unlike_above as attribute). It is missing where nothing could be held out; older
    software ignores it.
"""

from __future__ import annotations

import io
import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from pydantic import ValidationError

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.digest import digest
from pipelines.model.contents import ModelContents
from pipelines.model.error_bars import Calibration
from pipelines.settings import Config
from pose import Codebook, HistoSC
from pose.body.skeleton import Skeleton
from pose.errors import DataError
from pose.files import atomic_path

FORMAT = "pose-model"
VERSION = 1
#: Largest absolute value of a number in a model file. Poses computed from larger ones would be noise or overflow.
_MAX_NUMBER = 1e15
#: Entries of a model's summary and their types; `pose info` shows them.
SUMMARY: dict[str, type | tuple[type, ...]] = {
    "software": str,
    "n_train": int,
    "n_without_person": int,
    "subjects": dict,
    "actions": dict,
    "cameras": dict,
    "noise": (int, float),
    "converged": bool,
    "gradient_norm": (int, float),
    "n_regressors": int,
    "seconds": dict,
}
#: Values of settings for model files older than the setting, by section.
BEFORE_THE_SETTING: dict[str, dict[str, Any]] = {
    "descriptor": {"assignment": "hard", "hellinger": False, "rotation": "absolute"}
}
#: Errors that reading a damaged file may raise.
_DAMAGE = (KeyError, ValueError, OSError, TypeError, AttributeError, IndexError, RuntimeError)


def save_model(path: str | Path, model: ModelContents) -> None:
    """Write a model under a temporary name, then rename it."""
    path = Path(path)
    # Made in memory, then written: HDF5 itself crashes the process on a full disk.
    content = io.BytesIO()
    with h5py.File(content, "w") as file:
        file.attrs["format"], file.attrs["version"] = FORMAT, VERSION
        file.attrs["software"] = f"gbcd-pose {version('gbcd-pose')}"
        file.attrs["config"] = model.config.model_dump_json()
        file.attrs["summary"] = json.dumps(model.summary)
        file["mean_pose"] = model.mean_pose
        file.create_group("skeleton").attrs.update(
            {"names": json.dumps(model.skeleton.names), "parents": json.dumps(model.skeleton.parents)}
        )
        _write_state(file.create_group("histosc"), {"centers": model.histosc.codebook_.centers_})
        _write_state(file.create_group("gp"), model.gp.get_state())
        _write_state(file.create_group("mpgp"), _on_scaled_inputs(model.mpgp.get_state(), model.gp))
        if model.calibration is not None:
            factors, unlike_above = model.calibration.factors, model.calibration.unlike_above
            _write_state(file.create_group("calibration"), {"factors": factors, "unlike_above": unlike_above})
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def read_model(path: str | Path) -> ModelContents:
    """Read a model.

    Raises
    ------
    DataError
        If the file is missing, truncated, foreign, of another format version, or its parts do not fit together.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such model file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise DataError(f"{path}: is not a model file, or is truncated (not readable as HDF5)") from error
    with file:
        try:
            _check_format(path, file)
            model = _read(file)
        except DataError:
            raise
        except ValidationError as error:
            keys = ", ".join(".".join(map(str, fault["loc"])) or "the whole" for fault in error.errors())
            raise DataError(f"{path}: is damaged (its config: {keys})") from error
        except _DAMAGE as error:
            raise DataError(f"{path}: is damaged ({' '.join(str(error).split()) or type(error).__name__})") from error
    return replace(model, digest=digest(path))


def _check_format(path: Path, file: Any) -> None:
    if str(file.attrs.get("format")) != FORMAT:
        raise DataError(f"{path}: is an HDF5 file but not a model made by 'pose train'")
    found = file.attrs["version"]
    if not np.array_equal(found, VERSION):
        raise DataError(f"{path}: has format version {found}, this software reads {VERSION}; train it again")


def _read(file: Any) -> ModelContents:
    config = _config(json.loads(file.attrs["config"]))
    names, parents = (json.loads(file["skeleton"].attrs[key]) for key in ("names", "parents"))
    skeleton = Skeleton(tuple(map(str, names)), tuple(map(int, parents)))
    _expect_tree(skeleton)
    codebook = Codebook.from_centers(file["histosc"]["centers"][:], config.random_state)
    gp, mpgp = _read_state(file["gp"]), _read_state(file["mpgp"])
    n_outputs = 3 * len(skeleton)
    n_words = len(codebook.centers_) * (len(config.data.cameras) if config.data.views == "concatenated" else 1)
    mean_pose = file["mean_pose"][:]
    _expect("mean_pose", mean_pose, (len(skeleton), 3))
    for name, shape in {
        "X_train": (len(gp["coef"]), n_words),
        "coef": (len(gp["X_train"]), n_outputs),
        "x_offset": (n_words,),
        "x_scale": (n_words,),
        "y_mean": (n_outputs,),
        "y_scale": (n_outputs,),
    }.items():
        _expect(f"gp/{name}", gp[name], shape)
    for name, shape in {
        "regressors": (len(mpgp["coef"]), n_words),
        "coef": (len(mpgp["regressors"]), n_outputs),
        "origin": (n_words,),
        "y_mean": (n_outputs,),
        "y_scale": (n_outputs,),
    }.items():
        _expect(f"mpgp/{name}", mpgp[name], shape)
    # Older files have neither an input scaling of `mpgp` nor amplitudes.
    for name in {"x_offset", "x_scale"} & set(mpgp):
        _expect(f"mpgp/{name}", mpgp[name], (n_words,))
    for name, state in (("gp", gp), ("mpgp", mpgp)):
        if "amplitude" in state:
            _expect(f"{name}/amplitude", state["amplitude"], (n_outputs,))
    summary = json.loads(file.attrs["summary"])
    wrong = [key for key, kind in SUMMARY.items() if not isinstance(summary.get(key), kind)]
    if wrong:
        raise ValueError(f"the summary lacks {', '.join(wrong)}")
    for name, state in (("gp", gp), ("mpgp", mpgp)):
        _expect_hyperparameters(name, state, n_words)
    process = GBCDRegressor.from_state(gp)
    return ModelContents(
        config,
        HistoSC.from_codebook(
            codebook,
            n_points=config.descriptor.n_points,
            assignment=config.descriptor.assignment,
            hellinger=config.descriptor.hellinger,
            rotation=config.descriptor.rotation,
        ),
        process,
        MatchingPursuitGP.from_state(_on_histograms(mpgp, process)),
        mean_pose,
        skeleton,
        summary,
        _read_calibration(file["calibration"], n_outputs, gp["noise"]) if "calibration" in file else None,
    )


def _on_scaled_inputs(mpgp: dict[str, Any], gp: GBCDRegressor) -> dict[str, Any]:
    """The state of the matching-pursuit process for the file, where its input scaling follows that of `gp`."""
    return mpgp | {
        "x_offset": (mpgp["x_offset"] - gp.x_offset_) / gp.x_scale_,
        "x_scale": mpgp["x_scale"] / gp.x_scale_,
    }


def _on_histograms(mpgp: dict[str, Any], gp: GBCDRegressor) -> dict[str, Any]:
    """The state of the matching-pursuit process with both input scalings in one; older files have only that of `gp`."""
    return mpgp | {
        "x_offset": gp.x_offset_ + mpgp.get("x_offset", 0.0) * gp.x_scale_,
        "x_scale": gp.x_scale_ * mpgp.get("x_scale", 1.0),
    }


def _config(content: Any) -> Config:
    """The settings of a file, completed by `BEFORE_THE_SETTING` if the file is older than a setting."""
    for section, values in BEFORE_THE_SETTING.items():
        content[section] = values | content[section]
    return Config.model_validate(content)


def _read_calibration(group: Any, n_outputs: int, noise: float) -> Calibration:
    state = _read_state(group)
    factors, unlike_above = state["factors"], float(state["unlike_above"])
    _expect("calibration/factors", factors, (n_outputs,))
    if (factors < 0).any() or not unlike_above > 0:
        raise ValueError("calibration has a factor or a variance below zero")
    return Calibration(factors, float(noise), unlike_above)


def _expect_tree(skeleton: Skeleton) -> None:
    """Check that there is one root, and that every other joint stands after its parent."""
    names, parents = skeleton.names, skeleton.parents
    if len(set(names)) != len(names) or len(parents) != len(names) or parents.count(-1) != 1:
        raise ValueError("the skeleton is no tree of distinct joints")
    if any(not -1 <= parent < joint for joint, parent in enumerate(parents)):
        raise ValueError("a joint's parent does not stand before it in the skeleton")


def _expect_hyperparameters(name: str, state: dict[str, Any], n_words: int) -> None:
    if state["flat"] or not 0 < state["noise"] <= _MAX_NUMBER:
        raise ValueError(f"{name} has a noise or a shape that no training gives")
    gamma = np.asarray(state["gamma"])
    if gamma.shape not in ((), (n_words,)) or not ((gamma >= 0) & (gamma <= _MAX_NUMBER)).all():
        raise ValueError(f"{name} has a gamma that no training gives")
    if not (state["y_scale"] > 0).all():
        raise ValueError(f"{name}/y_scale must be positive")
    if not (state.get("x_scale", np.ones(1)) > 0).all():
        raise ValueError(f"{name}/x_scale must be positive")
    if not (state.get("amplitude", np.ones(1)) > 0).all():
        raise ValueError(f"{name}/amplitude must be positive")


def _expect(name: str, array: Any, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, expected {shape}")
    if array.dtype.kind != "f" or not (np.abs(array) <= _MAX_NUMBER).all():
        raise ValueError(f"{name} holds something else than finite numbers up to {_MAX_NUMBER:g}")


def _write_state(group: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        if np.ndim(value) == 0:
            group.attrs[name] = value
        else:
            # Histograms hold few distinct values, so a light compression makes the file several times smaller.
            group.create_dataset(name, data=value, compression="gzip", compression_opts=4, shuffle=True)


def _read_state(group: Any) -> dict[str, Any]:
    return {name: dataset[:] for name, dataset in group.items()} | dict(group.attrs)
