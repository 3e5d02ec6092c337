"""Tasks of Table 5: from videos to histograms, hyperparameters, and training by MPGP and by GBCD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from gbcd import GBCDRegressor, MatchingPursuitGP
from pipelines.bench.pose_experiment import FEATURES, Features, Part, Study
from pipelines.bench.runner.cell import Finding, Job, Parameters, UnavailableError, Value
from pose.series.metrics import aligned_joint_error, mean_joint_error, mean_joint_error_without_root

WARM_UP_ROWS = 256
"""Number of training images of the warm-up fit, which compiles and loads everything before the clock starts."""


def _study(folder: Path | None) -> Study:
    if folder is None:
        raise UnavailableError("no study")
    return Study.load(folder)


def describe_images(parameters: Parameters, data: Path | None, seed: int) -> Job[Features]:
    """Compute silhouettes, edge points, codebook and histograms of all images."""
    del parameters, seed
    study = _study(data)

    def check(features: Features) -> Finding:
        features.save(study.folder / FEATURES, study.key)
        return Finding({"images": len(features.train.poses), "test_images": len(features.test.poses)})

    return Job(study.make_features, check)


def fit_kernel(parameters: Parameters, data: Path | None, seed: int) -> Job[dict[str, Any]]:
    """Fit the hyperparameters: `kernel`, "isotropic" or "ard"."""
    del seed
    study = _study(data)
    train = study.features().train
    return Job(
        lambda: study.fit_kernel(parameters["kernel"], train),
        lambda found: Finding({"images": len(train.poses), "noise": found["noise"]}),
    )


def predict_mean_pose(parameters: Parameters, data: Path | None, seed: int) -> Job[np.ndarray]:
    """Predict the training images' mean pose for every test image: the baseline that ignores the image."""
    del parameters, seed
    features = _study(data).features()
    return Job(
        lambda: np.tile(features.train.poses.mean(axis=0), (len(features.test.poses), 1)),
        lambda poses: Finding(_errors(poses, features.test) | {"images": len(features.train.poses)}),
    )


def train_mpgp(parameters: Parameters, data: Path | None, seed: int) -> Job[MatchingPursuitGP]:
    """Train MPGP: `kernel`, `n_regressors`, `criterion`."""
    study = _study(data)
    features = study.features()
    kernel, noise = study.kernel(parameters["kernel"])

    def run(rows: slice, n_regressors: int) -> MatchingPursuitGP:
        return MatchingPursuitGP(
            kernel,
            noise=noise,
            input_scaling="global",
            n_regressors=n_regressors,
            criterion=parameters["criterion"],
            random_state=seed,
        ).fit(features.train.histograms[rows], features.train.poses[rows])

    run(slice(WARM_UP_ROWS), 16)

    def check(model: MatchingPursuitGP) -> Finding:
        errors = _errors(np.asarray(model.predict(features.test.histograms)), features.test)
        return Finding(
            errors
            | {
                "images": len(features.train.poses),
                "noise": noise,
                "regressors": len(model.active_),
                "candidates": model.n_candidates,
                **_passes(model.kernel_evaluations_, len(features.train.poses)),
            }
        )

    n_regressors = min(parameters["n_regressors"], len(features.train.poses))
    return Job(lambda: run(slice(None), n_regressors), check)


def train_gbcd(parameters: Parameters, data: Path | None, seed: int) -> Job[GBCDRegressor]:
    """Train the exact process: `kernel`, `solver`."""
    study = _study(data)
    features = study.features()
    kernel, noise = study.kernel(parameters["kernel"])
    settings = study.config.gp

    def run(rows: slice) -> GBCDRegressor:
        return GBCDRegressor(
            kernel,
            noise=noise,
            input_scaling="global",
            solver=parameters["solver"],
            tol=settings.tolerance,
            memory_budget="auto" if settings.memory_budget_mb is None else settings.memory_budget_mb * 1_000_000,
            random_state=seed,
        ).fit(features.train.histograms[rows], features.train.poses[rows])

    run(slice(WARM_UP_ROWS))

    def check(model: GBCDRegressor) -> Finding:
        result = model.solve_result_
        errors = _errors(np.asarray(model.predict(features.test.histograms)), features.test)
        return Finding(
            errors
            | {
                "images": len(features.train.poses),
                "noise": noise,
                "regressors": len(features.train.poses),
                "converged": bool(result.converged),
                "remark": result.choice.name if parameters["solver"] == "auto" else "",
                **_passes(result.kernel_evaluations, len(features.train.poses)),
            }
        )

    return Job(lambda: run(slice(None)), check)


def _passes(evaluations: int, n: int) -> dict[str, Value]:
    return {"kernel_evaluations": int(evaluations), "kernel_passes": evaluations / n**2}


def _errors(poses: np.ndarray, test: Part) -> dict[str, Value]:
    """Mean joint errors, mm, of poses (n, 45)."""
    predicted, true = (array.reshape(len(test.poses), -1, 3) for array in (poses, test.poses))
    return {
        "test_images": len(true),
        "error": mean_joint_error(predicted, true),
        "error_without_root": mean_joint_error_without_root(predicted, true),
        "error_aligned": aligned_joint_error(predicted, true),
    }
