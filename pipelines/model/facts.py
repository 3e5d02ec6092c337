"""What a model was trained on and how, in words."""

from __future__ import annotations

from typing import Any

from pipelines.model.pose_model import PoseModel
from pipelines.settings import Config


def model_facts(model: PoseModel) -> dict[str, str]:
    """Facts about a model: name to text."""
    summary, settings, skeleton = model.summary, model.config, model.skeleton
    return {
        "software": summary["software"],
        "training samples": f"{summary['n_train']} ({summary['n_without_person']} frames without a person left out)",
        "subjects": _counts(summary["subjects"]),
        "actions": _counts(summary["actions"]),
        "cameras": _counts(summary["cameras"]),
        "poses": f"{len(skeleton)} joints, mm, relative to the {skeleton.names[skeleton.root]}, {model.axes} axes",
        "descriptor": f"{settings.descriptor.n_points} edge points, {model.histosc.codebook_.n_words_} words",
        "gaussian process": f"{settings.gp.kernel}, noise {summary['noise']:.3g}, "
        f"{'converged' if summary['converged'] else 'not converged'} (gradient {summary['gradient_norm']:.2g})",
        "mpgp": f"{summary['n_regressors']} regressors",
        "seconds": _counts(summary["seconds"]),
        "config": settings.model_dump_json(exclude_defaults=True) if settings != Config() else "all defaults",
    }


def _counts(counts: dict[str, Any]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items())
