"""Training: a HumanEva tree in, a model out."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from gbcd import GBCDRegressor, MatchingPursuitGP, TraceEntry
from pipelines.features.histograms import histograms_of, new_histosc
from pipelines.features.samples import FRAMES_PER_SECOND, Samples
from pipelines.features.tree_features import extract
from pipelines.features.views import arrange_views
from pipelines.model.error_bars import Calibration
from pipelines.model.pose_model import PoseModel
from pipelines.progress import Reporter
from pipelines.settings import Config
from pipelines.training.calibration import BLOCK_SECONDS, calibrate
from pipelines.types import Histograms, Poses
from pose import HistoSC
from pose.body.skeleton import HUMANEVA_15
from pose.types import IntArray

_MIN_BLOCKS = 5
"""Number of time blocks below which none is held out: so few say little."""


def train(
    data: str | Path,
    config: Config,
    reporter: Reporter,
    *,
    masks: Path | None = None,
    work: Path | None = None,
) -> PoseModel:
    """Train on the partition that the config names.

    Parameters
    ----------
    data : path-like
        HumanEva-I tree.
    config : Config
    reporter : Reporter
    masks, work : Path, optional
        See `pipelines.features.tree_features.extract`.

    Raises
    ------
    pose.errors.DataError
        If the data cannot be used; the message names the file and the fault.
    """
    return _Training(config, reporter).run(data, masks, work)


class _Training:
    """The stages of one training, each timed."""

    def __init__(self, config: Config, reporter: Reporter) -> None:
        self.config, self.reporter = config, reporter
        self.seconds: dict[str, float] = {}

    def run(self, data: str | Path, masks: Path | None, work: Path | None) -> PoseModel:
        with self._stage("silhouettes"):
            samples = extract(
                data,
                self.config.data.train_partition,
                self.config,
                self.reporter,
                stride=self.config.data.stride,
                most=self.config.data.train_images,
                masks=masks,
                work=work,
            )
        with self._stage("codebook"):
            histosc = self._codebook(samples)
        with self._stage("histograms"):
            histograms = histograms_of(histosc, samples, self.reporter, self.config.data.train_partition)
        samples, histograms = arrange_views(samples, histograms, self.config.data)
        poses = samples.poses.reshape(len(samples), -1)
        with self._stage("gp"):
            gp = self._fit_gp(histograms, poses, samples)
        with self._stage("calibration"):
            calibration = self._calibrate(gp, poses, samples)
        with self._stage("mpgp"):
            mpgp = self._fit_mpgp(gp, histograms, poses)
        mean_pose = samples.poses.mean(axis=0)
        summary = self._summary(samples, gp, mpgp)
        return PoseModel(self.config, histosc, gp, mpgp, mean_pose, HUMANEVA_15, summary, calibration)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = round(time.perf_counter() - started, 2)

    def _codebook(self, samples: Samples) -> HistoSC:
        settings = self.config.descriptor
        images = samples.images(slice(None, None, settings.codebook_stride))
        self.reporter.progress("codebook", 0, 1)
        histosc = new_histosc(self.config).fit(images)
        self.reporter.progress("codebook", 1, 1)
        self.reporter.say(f"codebook: {len(histosc.codebook_.centers_)} words from {len(images)} images")
        return histosc

    def _fit_gp(self, histograms: Histograms, poses: Poses, samples: Samples) -> GBCDRegressor:
        settings = self.config.gp
        if settings.subset > len(samples):
            self.reporter.say(f"hyperparameters: the subset of {settings.subset} is clipped to {len(samples)} samples")
        gp = GBCDRegressor(
            kernel=settings.kernel,
            gamma=settings.gamma,
            noise=settings.noise,
            input_scaling="global",  # histograms keep their proportions
            tol=settings.tolerance,
            block_size=settings.block_size,
            solver=settings.solver,
            memory_budget="auto" if settings.memory_budget_mb is None else settings.memory_budget_mb * 1_000_000,
            subset=settings.subset,
            random_state=self.config.random_state,
            callback=self._report_solve,
        )
        self.reporter.progress("hyperparameters", 0, 1)
        objective, groups = self._held_out_together(samples)
        gp.set_params(hyperparameter_objective=objective)
        gp.fit(histograms, poses, groups=groups)
        self._report_solve_end(gp)
        return gp

    def _held_out_together(self, samples: Samples) -> tuple[str, IntArray | None]:
        """The objective for the hyperparameters, and labels of images: those of one label are near-duplicates."""
        settings = self.config.gp
        if settings.hyperparameters == "marginal":
            n_frames = max(1, round(settings.block_seconds * FRAMES_PER_SECOND))
            return "marginal", samples.time_blocks(n_frames, by_camera=True)
        blocks = self._blocks(samples, settings.block_seconds, "hyperparameters")
        if blocks is None:
            self.reporter.say("hyperparameters: too few instants to hold any out; by marginal likelihood instead")
            return "marginal", None
        return "leave_group_out", blocks

    def _blocks(self, samples: Samples, seconds: float, purpose: str) -> IntArray | None:
        """Labels (n,) of time blocks over all cameras. Blocks are halved until there are enough; None if never."""
        n_frames = wanted = max(1, round(seconds * FRAMES_PER_SECOND))
        blocks = samples.time_blocks(n_frames)
        while n_frames > 1 and len(np.unique(blocks)) < _MIN_BLOCKS:
            n_frames //= 2
            blocks = samples.time_blocks(n_frames)
        if len(np.unique(blocks)) < _MIN_BLOCKS:
            return None
        if n_frames < wanted:
            self.reporter.say(f"{purpose}: blocks of {n_frames} frames are held out, as the recordings are short")
        return blocks

    def _calibrate(self, gp: GBCDRegressor, poses: Poses, samples: Samples) -> Calibration | None:
        blocks = self._blocks(samples, BLOCK_SECONDS, "standard deviations")
        if blocks is None:
            self.reporter.say("standard deviations: too few instants to hold any out; the model gives none")
            return None
        self.reporter.progress("standard deviations", 0, 1)
        calibration = calibrate(gp, poses, blocks)
        self.reporter.progress("standard deviations", 1, 1)
        return calibration

    def _report_solve(self, entry: TraceEntry) -> None:
        """Report progress on a logarithmic scale: each iteration divides the gradient by about the same factor."""
        self.reporter.progress("hyperparameters", 1, 1)
        decades = math.log10(max(entry.gradient_norm, 1e-300) / self.config.gp.tolerance)
        self.reporter.progress("gaussian process", max(0, round(100 - 20 * max(decades, 0))), 100)

    def _report_solve_end(self, gp: GBCDRegressor) -> None:
        result = gp.solve_result_
        self.reporter.progress("gaussian process", 100, 100)
        self.reporter.say(
            f"gaussian process: {len(gp.X_train_)} samples, noise {gp.noise_:.2g}, {result.n_iter} iterations, "
            f"{result.kernel_passes:.1f} kernel passes, gradient {result.gradient_norm:.2g}"
        )

    def _fit_mpgp(self, gp: GBCDRegressor, histograms: Histograms, poses: Poses) -> MatchingPursuitGP:
        wanted = self.config.mpgp.n_regressors
        count = min(wanted, len(histograms))
        if wanted > len(histograms):
            self.reporter.say(
                f"mpgp: {wanted} regressors are clipped to {len(histograms)} samples: nothing is left sparse"
            )
        mpgp = MatchingPursuitGP(
            gp.kernel_,
            noise=gp.noise_,
            input_scaling="global",  # as for `gp`, since the kernel is the same
            n_regressors=count,
            criterion="exact",  # slower than the line search, with smaller errors
            random_state=self.config.random_state,
            callback=lambda done, most: self.reporter.progress("mpgp", done, most),
        ).fit(histograms, poses)
        self.reporter.progress("mpgp", count, count)  # the pursuit ends early if the other samples are copies
        return mpgp

    def _summary(self, samples: Samples, gp: GBCDRegressor, mpgp: MatchingPursuitGP) -> dict[str, Any]:
        result = gp.solve_result_
        return {
            "software": f"gbcd-pose {version('gbcd-pose')}",
            "n_train": len(samples),
            "n_without_person": samples.n_empty,
            "n_outside_video": samples.n_missing,
            "subjects": dict(Counter(samples.subject.tolist())),
            "actions": dict(Counter(samples.action.tolist())),
            "cameras": dict(Counter(samples.camera.tolist())),
            "gamma": np.ravel(gp.get_state()["gamma"]).tolist(),
            "noise": gp.noise_,
            "converged": bool(result.converged),
            "gradient_norm": float(result.gradient_norm),
            "kernel_passes": float(result.kernel_passes),
            "n_regressors": len(mpgp.coef_),
            "seconds": self.seconds,
        }
