"""The paper's experiment on poses: its folder, and the stages that later stages build on.

The result of a stage is kept in the folder, so that each measurement can have a process of its own.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from gbcd import SquaredExponential, fit_hyperparameters
from gbcd.scaling import input_scale, scaled
from pipelines.features.histograms import histograms_of, new_histosc
from pipelines.features.samples import FRAMES_PER_SECOND, Samples
from pipelines.features.tree_features import extract
from pipelines.progress import Silent
from pipelines.settings import Config
from pose import HistoSC
from pose.files import atomic_path
from pose.types import FloatArray, IntArray

STUDY = "study.json"
FEATURES = "features.npz"
PARTS = ("train", "test")


def fingerprint(tree: Path) -> str:
    """Digest of the names and sizes of all files of a HumanEva tree, by which a changed tree is noticed."""
    digest = hashlib.sha256()
    for folder, folders, files in os.walk(tree):
        folders.sort()
        for name in sorted(files):
            path = Path(folder) / name
            digest.update(f"{path.relative_to(tree).as_posix()} {path.stat().st_size}\n".encode())
    return digest.hexdigest()[:16]


def _read_stage(path: Path) -> dict[str, Any]:
    """The kept result of a stage; empty if there is none or the file is damaged, so that the stage runs again."""
    try:
        held = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


@dataclass(frozen=True, eq=False)
class Part:
    """Training or test images.

    Parameters
    ----------
    histograms : ndarray of shape (n, words)
    poses : ndarray of shape (n, 45)
        mm, relative to the root.
    blocks : ndarray of int, shape (n,)
        Label of each image's time block.
    """

    histograms: FloatArray
    poses: FloatArray
    blocks: IntArray

    @classmethod
    def of(cls, histosc: HistoSC, samples: Samples, config: Config) -> Self:
        """Compute the histograms and time blocks of samples."""
        blocks = samples.time_blocks(round(config.gp.block_seconds * FRAMES_PER_SECOND))
        return cls(histograms_of(histosc, samples, Silent(), ""), samples.poses.reshape(len(samples), -1), blocks)


@dataclass(frozen=True, eq=False)
class Features:
    """Histograms and poses of all images.

    Parameters
    ----------
    train, test : Part
    n_words : int
        Number of words in the codebook.
    """

    train: Part
    test: Part
    n_words: int

    def save(self, path: Path, key: str) -> None:
        """Write all arrays to one .npz."""
        parts = zip(PARTS, (self.train, self.test), strict=True)
        arrays = {f"{name}_{field}": array for name, part in parts for field, array in vars(part).items()}
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, key=np.array(key), n_words=np.array(self.n_words), **arrays)

    @classmethod
    def load(cls, path: Path, key: str) -> Self | None:
        """Read what `save` wrote; None if the file is missing, damaged, or of another study."""
        if not path.is_file():
            return None
        try:
            # Opened here, since NumPy leaves a damaged file open.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
                if str(held["key"]) != key:
                    return None
                train, test = (Part(*(held[f"{name}_{field}"] for field in Part.__annotations__)) for name in PARTS)
                return cls(train, test, int(held["n_words"]))
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None


@dataclass(frozen=True)
class Study:
    """One experiment.

    Parameters
    ----------
    folder : Path
        Folder in which stages keep their results.
    tree : Path
        HumanEva tree.
    config : Config
    test : str
        Name of the partition that is predicted.
    """

    folder: Path
    tree: Path
    config: Config
    test: str

    def save(self) -> None:
        """Make the folder, and write the study's tree, settings and partition into it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        content = {"tree": str(self.tree.absolute()), "config": self.config.model_dump(mode="json"), "test": self.test}
        with atomic_path(self.folder / STUDY) as temporary:
            temporary.write_text(json.dumps(content, indent=1))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what `save` wrote."""
        held = json.loads((folder / STUDY).read_text())
        return cls(folder, Path(held["tree"]), Config.model_validate(held["config"]), held["test"])

    @property
    def key(self) -> str:
        """Digest of the data and the settings."""
        digest = hashlib.sha256(self.config.model_dump_json().encode())
        digest.update(f"{fingerprint(self.tree)} {self.test}".encode())
        return digest.hexdigest()[:16]

    def make_features(self) -> Features:
        """Compute the histograms of both partitions from the videos: silhouettes, edge points, codebook, HistoSC."""
        data = self.config.data
        train = extract(
            self.tree, data.train_partition, self.config, Silent(), stride=data.stride, most=data.train_images
        )
        test = extract(self.tree, self.test, self.config, Silent(), most=data.test_images)
        histosc = new_histosc(self.config).fit(train.images(slice(None, None, self.config.descriptor.codebook_stride)))
        first, second = (Part.of(histosc, samples, self.config) for samples in (train, test))
        return Features(first, second, histosc.codebook_.n_words_)

    def features(self) -> Features:
        """The result of `make_features`, read from the folder if it is kept there."""
        path = self.folder / FEATURES
        held = Features.load(path, self.key)
        if held is None:
            held = self.make_features()
            held.save(path, self.key)
        return held

    def fit_kernel(self, kernel: str, train: Part) -> dict[str, Any]:
        """Fit gamma and noise on held-out time blocks of a random subset."""
        settings = self.config.gp
        inputs = scaled(train.histograms, *input_scale(train.histograms, "global"))
        spread = train.poses.std(axis=0)
        outputs = (train.poses - train.poses.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        fit = fit_hyperparameters(
            inputs,
            outputs,
            kernel=kernel,
            subset=settings.subset,
            groups=train.blocks,
            objective=settings.hyperparameters,
            random_state=self.config.random_state,
        )
        return {"gamma": np.exp(fit.kernel.log_parameters).tolist(), "noise": fit.noise}

    def kernel(self, name: str) -> tuple[SquaredExponential, float]:
        """The kernel of this name and its noise, fitted if the folder has none."""
        path = self.folder / f"{name}.json"
        held = _read_stage(path)
        if held.get("key") != self.key:
            held = self.fit_kernel(name, self.features().train) | {"key": self.key}
            with atomic_path(path) as temporary:
                temporary.write_text(json.dumps(held))
        gamma = held["gamma"]
        return SquaredExponential(gamma[0] if name == "isotropic" else gamma), float(held["noise"])
