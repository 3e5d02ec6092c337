"""The settings of an experiment: TOML in, checked values out."""

from __future__ import annotations

import difflib
import tomllib
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from gbcd import SOLVERS
from pipelines.errors import UsageError
from pose.humaneva.splits import partition_names


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataConfig(_Section):
    """Which frames are used, and in which axes the poses are."""

    cameras: tuple[str, ...] = Field(default=("C1", "C2", "C3"), min_length=1)
    scheme: Literal["official", "tgp-half", "blocked-75-25"] = Field(
        default="official", description="how trials are divided, see `pose.humaneva.splits`; evaluation follows it"
    )
    train_partition: Literal["Train", "Validate", "Test"] = "Train"
    stride: int = Field(
        default=1, ge=1, description="train on every k-th labelled frame of a recording; all are evaluated"
    )
    train_images: int | None = Field(
        default=None, ge=2, description="train on so many at most; the others are left out evenly, one by one"
    )
    test_images: int | None = Field(default=None, ge=1, description="evaluate so many at most, left out likewise")
    target_frame: Literal["camera", "world"] = "camera"
    views: Literal["single", "concatenated"] = Field(
        default="single", description="concatenated: the histograms of all cameras side by side make one input"
    )
    video_frame_shift: int = Field(
        default=0, ge=-10_000, le=10_000, description="added to every video frame, where a decoder counts otherwise"
    )

    @model_validator(mode="after")
    def _scheme_has_the_partition(self) -> Self:
        names = partition_names(self.scheme)
        if self.train_partition not in names:
            raise ValueError(f"train_partition {self.train_partition}: {self.scheme} has {' and '.join(names)}")
        return self


class SilhouetteConfig(_Section):
    """The background model."""

    model: Literal["gaussian", "toolkit", "mog2", "knn"] = "gaussian"
    risk: float = Field(
        default=1.0, gt=0, description="larger accepts more deviation from the background before it is a person"
    )

    @model_validator(mode="after")
    def _risk_has_a_use(self) -> Self:
        if self.risk != 1.0 and self.model in ("mog2", "knn"):
            raise ValueError(f"risk is of the models gaussian and toolkit, {self.model} takes none")
        return self


class DescriptorConfig(_Section):
    """HistoSC: edge points, shape contexts, codebook."""

    n_points: int = Field(default=400, ge=2)
    n_words: int = Field(default=300, ge=1)
    codebook_stride: int = Field(default=15, ge=1, description="the codebook is learnt from every k-th training image")
    assignment: Literal["hard", "soft"] = Field(
        default="soft", description="soft: an edge point counts for all words near it, not for the nearest alone"
    )
    hellinger: bool = Field(default=True, description="square roots of the histograms' entries")
    rotation: Literal["absolute", "tangent"] = Field(
        default="tangent", description="angles of shape contexts against the picture, or against the edge at each point"
    )


class GPConfig(_Section):
    """The exact Gaussian process."""

    kernel: Literal["isotropic", "ard"] = "isotropic"
    gamma: float | None = Field(default=None, gt=0, description="fixed instead of fitted; of the scaled histograms")
    noise: float | None = Field(default=None, gt=0, description="fixed instead of fitted; of the scaled outputs")
    hyperparameters: Literal["leave_group_out", "marginal"] = "leave_group_out"
    block_seconds: float = Field(
        default=1.0, gt=0, le=3600, description="length of the time blocks that are held out together"
    )
    subset: int = Field(default=2000, ge=2)
    solver: str = Field(default="auto", description="a name that `gbcd.solve` knows")
    tolerance: float = Field(default=1e-4, gt=0, description="infinity norm of the gradient, scaled outputs")
    block_size: int | None = Field(default=None, ge=1)
    memory_budget_mb: int | None = Field(default=None, ge=1, description="not given: chosen from the free memory")

    @field_validator("solver")
    @classmethod
    def _solver_exists(cls, name: str) -> str:
        if name not in SOLVERS:
            raise ValueError(f"there are {', '.join(SOLVERS)}")
        return name


class MPGPConfig(_Section):
    """The matching-pursuit sparse Gaussian process that the exact one is compared with."""

    n_regressors: int = Field(default=2000, ge=1)


class Config(_Section):
    """A whole experiment; every value has a default that suits HumanEva-I."""

    random_state: int = Field(default=0, ge=0, lt=2**31)
    data: DataConfig = DataConfig()
    silhouette: SilhouetteConfig = SilhouetteConfig()
    descriptor: DescriptorConfig = DescriptorConfig()
    gp: GPConfig = GPConfig()
    mpgp: MPGPConfig = MPGPConfig()

    @field_validator("data")
    @classmethod
    def _cameras_differ(cls, data: DataConfig) -> DataConfig:
        if len(set(data.cameras)) != len(data.cameras):
            raise ValueError("cameras: each may be named once")
        return data


def load_config(path: str | Path | None = None) -> Config:
    """Read a TOML file; without one, the defaults.

    Raises
    ------
    UsageError
        If the file is missing, is not TOML, or holds an unknown key or a bad value; the message lists every fault, and
        for an unknown key the nearest known one.
    """
    if path is None:
        return Config()
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: is not TOML ({error})") from error
    try:
        return Config.model_validate(content)
    except ValidationError as error:
        faults = "; ".join(_fault_in_words(fault) for fault in error.errors())
        raise UsageError(f"{path}: {faults}") from error


def _fault_in_words(fault: Any) -> str:
    location = [str(part) for part in fault["loc"]]
    key = ".".join(location)
    if fault["type"] != "extra_forbidden":
        return f"{key}: {fault['msg'].removeprefix('Value error, ')}"
    known = _known_keys(location[:-1])
    nearest = difflib.get_close_matches(location[-1], known, n=1)
    if not nearest:
        return f"unknown key {key!r}; there are {', '.join(known)}"
    return f"unknown key {key!r}; the nearest known one is {'.'.join([*location[:-1], *nearest])!r}"


def _known_keys(sections: list[str]) -> list[str]:
    model: type[BaseModel] = Config
    for name in sections:
        model = type(model.model_fields[name].default)
    return list(model.model_fields)
