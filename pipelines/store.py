"""The model file: one HDF5 file with a version and no pickle, complete or not there.

Format history
--------------
1 : attributes ``format``, ``version``, ``software``, ``config`` and ``summary`` (JSON); groups ``histosc`` (centers),
    ``gp`` and ``mpgp`` (arrays, scalars as attributes), ``skeleton`` (names, parents); ``mean_pose``.
"""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.config import Config
from pipelines.files import atomic_path
from pipelines.model import PoseModel
from pose import Codebook, HistoSC
from pose.errors import DataError
from pose.skeleton import Skeleton

FORMAT = "pose-model"
VERSION = 1


def save_model(path: str | Path, model: PoseModel) -> None:
    """Write a model under a temporary name, then rename it."""
    path = Path(path)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as file:
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
        _write_state(file.create_group("mpgp"), model.mpgp.get_state())


def load_model(path: str | Path) -> PoseModel:
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
        if file.attrs.get("format") != FORMAT:
            raise DataError(f"{path}: is an HDF5 file but not a model made by 'pose train'")
        found = file.attrs.get("version")
        if found != VERSION:
            raise DataError(f"{path}: has format version {found}, this software reads {VERSION}; train it again")
        try:
            return _read(file)
        except (KeyError, ValueError, OSError, TypeError) as error:
            raise DataError(f"{path}: is damaged ({' '.join(str(error).split())})") from error


def _read(file: Any) -> PoseModel:
    config = Config.model_validate_json(file.attrs["config"])
    names, parents = (json.loads(file["skeleton"].attrs[key]) for key in ("names", "parents"))
    skeleton = Skeleton(tuple(names), tuple(parents))
    codebook = Codebook.from_centers(file["histosc"]["centers"][:], config.random_state)
    gp, mpgp = _read_state(file["gp"]), _read_state(file["mpgp"])
    n_words, n_outputs = len(codebook.centers_), 3 * len(skeleton)
    _expect("gp/X_train", gp["X_train"], (len(gp["coef"]), n_words))
    _expect("gp/coef", gp["coef"], (len(gp["X_train"]), n_outputs))
    _expect("mpgp/regressors", mpgp["regressors"], (len(mpgp["coef"]), n_words))
    _expect("mpgp/coef", mpgp["coef"], (len(mpgp["regressors"]), n_outputs))
    _expect("mean_pose", file["mean_pose"], (len(skeleton), 3))
    return PoseModel(
        config,
        HistoSC.from_codebook(codebook, n_points=config.descriptor.n_points),
        GBCDRegressor.from_state(gp),
        MatchingPursuitGP.from_state(mpgp),
        file["mean_pose"][:],
        skeleton,
        json.loads(file.attrs["summary"]),
    )


def _expect(name: str, array: Any, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}, expected {shape}")


def _write_state(group: Any, state: dict[str, Any]) -> None:
    for name, value in state.items():
        if np.ndim(value) == 0:
            group.attrs[name] = value
        else:
            # Histograms hold few distinct values, so a light compression makes the file several times smaller.
            group.create_dataset(name, data=value, compression="gzip", compression_opts=4, shuffle=True)


def _read_state(group: Any) -> dict[str, Any]:
    return {name: dataset[:] for name, dataset in group.items()} | dict(group.attrs)
