"""Bodies: the lengths and girths of a subject, all derived from a few numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from pose.humaneva.joints import HEAD_LENGTH, PELVIS_SHIFT

#: Distance of the pelvis joint behind the pelvis marker's origin, along the pelvis's x axis, mm.
PELVIS_SETBACK = -PELVIS_SHIFT

# Segment lengths as shares of stature, from common anthropometric tables, rounded.
_ANKLE_HEIGHT, _SHIN, _THIGH = 0.044, 0.242, 0.243
_UPPER_ARM, _FOREARM = 0.170, 0.150
_SHOULDER_HALF_WIDTH, _HIP_HALF_WIDTH = 0.104, 0.052
_SHOULDER_DROP = 0.027  # the shoulder joints stand below the thorax joint
_FOOT_BACK, _FOOT_BALL, _FOOT_TOE = 0.030, 0.082, 0.112  # ahead of or behind the ankle


@dataclass(frozen=True)
class Body:
    """One subject.

    Parameters
    ----------
    stature : float
        Standing height, mm.
    leg, arm : float
        Lengths of the limbs, as factors of the average for that stature.
    shoulder, hip : float
        Widths of the trunk, as factors of the average.
    girth : float
        Thickness of limbs and trunk, as a factor of the average.
    belly, bust : float
        How far belly and bust stand out: 0 is not at all, 1 is far.
    looseness : float
        Width of the clothes: 0 is tight, 1 is wide.
    hair : float
        Length of the hair: 0 is short, 1 reaches down to the neck.
    shoulder_offset : (float, float)
        The ``ShoulderOffset`` of the left and the right side in the ``.mp`` file, mm.
    """

    stature: float
    leg: float = 1.0
    arm: float = 1.0
    shoulder: float = 1.0
    hip: float = 1.0
    girth: float = 1.0
    belly: float = 0.1
    bust: float = 0.0
    looseness: float = 0.2
    hair: float = 0.2
    shoulder_offset: tuple[float, float] = (45.0, 45.0)

    @property
    def ankle_height(self) -> float:
        """Height of the ankle joint over the sole, mm."""
        return _ANKLE_HEIGHT * self.stature

    @property
    def thigh(self) -> float:
        """Hip to knee, mm."""
        return _THIGH * self.leg * self.stature

    @property
    def shin(self) -> float:
        """Knee to ankle, mm."""
        return _SHIN * self.leg * self.stature

    @property
    def hip_height(self) -> float:
        """Height of the hip joints when standing straight, mm."""
        return self.ankle_height + self.shin + self.thigh

    @property
    def upper_arm(self) -> float:
        """Shoulder to elbow, mm."""
        return _UPPER_ARM * self.arm * self.stature

    @property
    def forearm(self) -> float:
        """Elbow to wrist, mm."""
        return _FOREARM * self.arm * self.stature

    @property
    def shoulder_half_width(self) -> float:
        """Sideways distance of a shoulder joint from the spine, mm."""
        return _SHOULDER_HALF_WIDTH * self.shoulder * self.stature

    @property
    def shoulder_drop(self) -> float:
        """How far the shoulder joints stand below the thorax joint, mm."""
        return _SHOULDER_DROP * self.stature

    @property
    def hip_half_width(self) -> float:
        """Sideways distance of a hip joint from the pelvis joint, mm."""
        return _HIP_HALF_WIDTH * self.hip * self.stature

    @property
    def foot(self) -> tuple[float, float, float]:
        """Distances of heel (behind), ball and toe (ahead) from the ankle, mm."""
        return _FOOT_BACK * self.stature, _FOOT_BALL * self.stature, _FOOT_TOE * self.stature

    @property
    def half_shoulder_markers(self) -> float:
        """The format's rT: half the distance of the two shoulder markers, less a marker's radius, mm."""
        return self.shoulder_half_width

    @property
    def trunk(self) -> float:
        """Pelvis joint to the top of the trunk (TRXO), mm: the stature less head and legs."""
        return self.stature - HEAD_LENGTH - self.hip_height

    @property
    def trunk_marker_length(self) -> float:
        """The format's L1 = |TRXO - PELO|, mm.

        PELO stands PELVIS_SETBACK ahead of the pelvis joint, and the trunk is tilted back by atan(rT / 2 / L1)
        against the pelvis's axes. This tilt depends on L1 itself, so L1 is found as a root.
        """

        def surplus(length: float) -> float:
            sine = self.half_shoulder_markers / 2 / math.hypot(length, self.half_shoulder_markers / 2)
            return self.trunk**2 + 2 * PELVIS_SETBACK * self.trunk * sine + PELVIS_SETBACK**2 - length**2

        return float(brentq(surplus, self.trunk, 2 * self.trunk + PELVIS_SETBACK, xtol=1e-12))

    @property
    def thorax(self) -> float:
        """Pelvis joint to thorax joint, mm; the thorax joint is the mean of TRXO and the trunk limb's upper end."""
        return (self.trunk + self.trunk_marker_length) / 2


#: Stature of men and women, mm: mean, standard deviation.
_STATURES = {"man": (1765.0, 75.0), "woman": (1645.0, 68.0)}
#: Smallest and largest stature that is drawn, mm.
_STATURE_RANGE = (1480.0, 2000.0)
#: Largest distance of a measure from its mean, in standard deviations.
_LONGEST_DEVIATION = 2.2


def draw_body(rng: np.random.Generator) -> Body:
    """A random body, tall or short, broad or slight, in tight or wide clothes."""

    def around(mean: float, deviation: float) -> float:
        return mean + deviation * float(np.clip(rng.standard_normal(), -_LONGEST_DEVIATION, _LONGEST_DEVIATION))

    woman = bool(rng.random() < 0.5)
    stature = float(np.clip(around(*_STATURES["woman" if woman else "man"]), *_STATURE_RANGE))
    return Body(
        stature,
        leg=around(1.01 if woman else 1.0, 0.03),
        arm=around(0.95 if woman else 0.97, 0.04),
        shoulder=around(0.95 if woman else 1.02, 0.05),
        hip=around(1.15 if woman else 1.08, 0.09),
        girth=around(0.97 if woman else 1.0, 0.08),
        belly=max(around(0.15, 0.3), 0.0),
        bust=max(around(0.55, 0.25), 0.0) if woman else 0.0,
        looseness=float(rng.beta(1.2, 2.5)),
        hair=float(rng.beta(1.5, 1.5) if woman else rng.beta(1.0, 3.0)),
        shoulder_offset=(around(44.0, 3.0), around(44.0, 3.0)),
    )


#: Bodies of the subjects that have a name; the four differ as people do.
NAMED_BODIES = {
    "S1": Body(1770.0, shoulder_offset=(45.0, 43.0)),
    "S2": Body(1640.0, leg=1.01, arm=0.97, shoulder=0.93, hip=1.06, girth=0.96, shoulder_offset=(38.0, 39.5)),
    "S3": Body(1840.0, leg=1.02, arm=1.02, shoulder=1.03, girth=0.97, shoulder_offset=(47.0, 46.0)),
    "S4": Body(1710.0, leg=0.98, arm=1.01, shoulder=1.02, hip=1.05, girth=1.10, shoulder_offset=(44.0, 45.5)),
}
