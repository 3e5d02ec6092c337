"""Flesh and clothes on a skeleton in motion, with their thicknesses in mm for a stature of 1,750 mm.

The thicknesses are those of the common anthropometric tables (circumferences of neck, chest, waist, hips, thigh, calf,
ankle, arm and wrist), rounded; girth, belly, bust, looseness and hair of a `Body` vary them.
"""

from __future__ import annotations

import numpy as np

from pose.synth.kinematics import axes, unit
from pose.synth.motion.motion import SIDE_SIGN, SIDES, Motion
from pose.synth.pictures.solids import Builder, Figure, Material
from pose.types import FloatArray

#: Standing height that the thicknesses are given for, mm.
_REFERENCE_STATURE = 1750.0
#: What wide clothes add to trunk, sleeves and trouser legs, mm; trousers widen downward.
_WIDE_TRUNK, _WIDE_SLEEVE, _WIDE_THIGH, _WIDE_HEM = 26.0, 24.0, 14.0, 34.0
#: Rings along the spine: share of the way from pelvis to thorax joint; shift ahead, half width and half depth, mm.
_HIPS_RINGS = ((-0.02, -14.0, 164.0, 116.0), (0.10, -10.0, 166.0, 116.0), (0.22, -2.0, 156.0, 108.0))
_CHEST_RINGS = (
    (0.16, -4.0, 162.0, 112.0),
    (0.30, 2.0, 148.0, 106.0),
    (0.42, 4.0, 142.0, 104.0),
    (0.56, 4.0, 150.0, 110.0),
    (0.70, 2.0, 162.0, 117.0),
    (0.82, -2.0, 168.0, 116.0),
    (0.92, -8.0, 162.0, 100.0),
    (1.00, -14.0, 132.0, 80.0),
    (1.06, -20.0, 84.0, 64.0),
)
#: Spheres along thigh and shin: share of the way; shift backward and radius, mm.
_THIGH = (
    (0.0, -4.0, 92.0),
    (0.12, -2.0, 92.0),
    (0.30, -5.0, 84.0),
    (0.55, -6.0, 73.0),
    (0.80, -3.0, 61.0),
    (1.0, 0.0, 56.0),
)
_SHIN = (
    (0.0, 0.0, 56.0),
    (0.10, 4.0, 54.0),
    (0.28, 14.0, 55.0),
    (0.48, 10.0, 50.0),
    (0.72, 2.0, 40.0),
    (0.94, 0.0, 36.0),
)
#: Spheres along the arm: share of the way; radius, mm.
_UPPER_ARM = ((0.10, 54.0), (0.30, 50.0), (0.58, 47.0), (0.85, 42.0), (1.0, 39.0))
#: Number of the upper arm's spheres that a sleeve covers.
_SLEEVE_NODES = 3
#: Spheres along the forearm: share of the way; radius, mm.
_FOREARM = ((0.0, 39.0), (0.20, 41.0), (0.45, 37.0), (0.75, 29.0), (1.0, 25.0))
#: Fingers of an open hand: angle towards the thumb, degrees; shift of the root towards the thumb, and length, mm.
_FINGERS = ((24.0, 26.0, 70.0), (9.0, 10.0, 82.0), (-6.0, -6.0, 76.0), (-22.0, -22.0, 58.0))
#: Half the thickness of a finger, mm.
_FINGER_RADIUS = 8.5


def build_figure(motion: Motion) -> Figure:
    """Dress a motion in solids."""
    body = motion.body
    scale = body.stature / _REFERENCE_STATURE
    builder = Builder(scale * body.girth)
    _add_trunk(builder, motion, scale)
    _add_head(builder, motion, scale)
    for index, side in enumerate(SIDES):
        _add_leg(builder, motion, side, index, scale)
        _add_foot(builder, motion, side, index, scale)
        _add_arm(builder, motion, side, index, scale)
        _add_hand(builder, motion, side, index, scale)
    return builder.figure()


class _Spine:
    """A curve from pelvis to thorax, along the axis of each at its end, so that the waist bends and twists."""

    def __init__(self, motion: Motion) -> None:
        self._motion = motion
        root, chest = motion.joint("pelvis"), motion.joint("thorax")
        reach = 0.4 * motion.body.thorax
        self._controls = (root, root + reach * motion.pelvis[..., 2], chest - reach * motion.thorax[..., 2], chest)

    def at(self, along: float) -> tuple[FloatArray, FloatArray]:
        """Places (T, 3) and frames (T, 3, 3) at a share of the way from pelvis to thorax."""
        motion = self._motion
        weights = ((1 - along) ** 3, 3 * along * (1 - along) ** 2, 3 * along**2 * (1 - along), along**3)
        place = sum((w * c for w, c in zip(weights, self._controls, strict=True)), np.zeros_like(self._controls[0]))
        blend = np.clip(along, 0.0, 1.0)
        x = unit((1 - blend) * motion.pelvis[..., 0] + blend * motion.thorax[..., 0])
        z = unit((1 - blend) * motion.pelvis[..., 2] + blend * motion.thorax[..., 2])
        return place, axes(z, x)


def _add_trunk(builder: Builder, motion: Motion, scale: float) -> None:
    body, spine = motion.body, _Spine(motion)
    root = motion.joint("pelvis")
    wide_hips, wide_chest = body.hip**0.5, body.shoulder / body.girth**0.5
    loose = _WIDE_TRUNK * body.looseness

    def ring(
        row: tuple[float, float, float, float], width: float, more: float
    ) -> tuple[FloatArray, FloatArray, float, float]:
        along, ahead, half_width, half_depth = row
        place, frame = spine.at(along)
        # A belly stands out most at the waist, and only ahead.
        out = 46.0 * body.belly * float(np.exp(-(((along - 0.28) / 0.22) ** 2)))
        place = place + (ahead + 0.8 * out) * scale * frame[..., 0]
        return place, frame, half_width * width + 0.35 * out + more, half_depth + 0.8 * out + more

    seat = root - 78.0 * scale * motion.pelvis[..., 2]
    builder.rings(
        Material.TROUSERS,
        (seat, motion.pelvis, 118.0 * wide_hips, 88.0),
        *(ring(row, wide_hips, 0.3 * loose) for row in _HIPS_RINGS),
    )
    builder.rings(
        Material.SHIRT,
        *(
            ring(row, wide_hips + (wide_chest - wide_hips) * min(row[0] / 0.7, 1.0), loose * min(1.2 - row[0], 1.0))
            for row in _CHEST_RINGS
        ),
    )
    place, frame = spine.at(0.68)
    for index in range(2):
        aside = SIDE_SIGN[index] * motion.pelvis[..., 1] * scale * wide_hips
        buttock = root + 58.0 * aside - scale * (50.0 * motion.pelvis[..., 0] + 38.0 * motion.pelvis[..., 2])
        builder.spheres(
            Material.TROUSERS, (buttock, 84.0), (buttock + 60.0 * scale * motion.pelvis[..., 2], 70.0), joins=True
        )
        if body.bust > 0:
            breast = place + scale * (72.0 * frame[..., 0] + SIDE_SIGN[index] * 66.0 * frame[..., 1])
            out = breast + 36.0 * body.bust * scale * frame[..., 0]
            builder.spheres(Material.SHIRT, (breast, 62.0), (out, 50.0 + 8.0 * body.bust))


def _add_head(builder: Builder, motion: Motion, scale: float) -> None:
    body = motion.body
    ahead, up = motion.head[..., 0] * scale, motion.head[..., 2]
    # Heads differ little: their radii follow the stature, not the girth; the crown follows the joint.
    slim = 1.0 / body.girth**0.7
    top = motion.joint("head") - 88.0 * scale * up
    base = motion.trunk_top - 20.0 * scale * motion.thorax[..., 0]
    jaw = top + 14.0 * ahead - 88.0 * scale * up
    builder.spheres(
        Material.SKIN, (base - 30.0 * scale * motion.thorax[..., 2], 66.0), (base, 57.0), (jaw - 22.0 * ahead, 52.0)
    )
    builder.spheres(
        Material.SKIN,
        (top + 12.0 * ahead - 6.0 * scale * up, 78.0 * slim),
        (top + 24.0 * ahead - 56.0 * scale * up, 64.0 * slim),
        (top + 44.0 * ahead - 106.0 * scale * up, 36.0 * slim),
    )
    builder.spheres(
        Material.SKIN,
        (top + 92.0 * ahead - 34.0 * scale * up, 9.0),
        (top + 104.0 * ahead - 58.0 * scale * up, 11.0),
        (top + 78.0 * ahead - 62.0 * scale * up, 16.0),
    )
    thick = 10.0 * body.hair
    builder.spheres(
        Material.HAIR,
        (top - 4.0 * ahead - 1.0 * scale * up, (83.0 + thick) * slim),
        (top - 26.0 * ahead - 14.0 * scale * up, (78.0 + thick) * slim),
        (top - 36.0 * ahead - 58.0 * scale * up, (58.0 + 2.0 * thick) * slim),
        (top - 42.0 * ahead - (66.0 + 110.0 * body.hair) * scale * up, (48.0 + 2.5 * thick) * slim),
    )


def _add_leg(builder: Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    body = motion.body
    hip, knee, ankle = (motion.joint(f"{side}_{part}") for part in ("hip", "knee", "ankle"))
    inward = -SIDE_SIGN[index] * motion.pelvis[..., 1] * scale
    thigh, shin = axes(hip - knee, motion.pelvis[..., 0]), axes(knee - ankle, motion.feet[:, index, :, 0])
    narrow = 6.0 * (body.hip - 1.0) * 10.0  # hip joints that stand wide carry thighs that reach inward

    builder.spheres(
        Material.TROUSERS,
        *(
            (
                hip + at * (knee - hip) - back * scale * thigh[..., 0] + max(narrow, 0.0) * (1 - at) ** 2 * inward,
                radius + _WIDE_THIGH * body.looseness,
            )
            for at, back, radius in _THIGH
        ),
    )
    builder.spheres(
        Material.TROUSERS,
        *(
            (
                knee + at * (ankle - knee) - back * scale * shin[..., 0],
                radius + (_WIDE_THIGH + (_WIDE_HEM - _WIDE_THIGH) * at) * body.looseness,
            )
            for at, back, radius in _SHIN
        ),
    )


def _add_foot(builder: Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    body, foot, ankle = motion.body, motion.feet[:, index], motion.joint(f"{side}_ankle")
    heel, ball, toe = body.foot

    def sole(along: float, aside: float, radius: float) -> tuple[FloatArray, float]:
        over = radius * scale * body.girth - body.ankle_height
        return ankle + along * foot[..., 0] + SIDE_SIGN[index] * aside * scale * foot[..., 1] + over * foot[
            ..., 2
        ], radius

    instep = ankle + 0.45 * ball * foot[..., 0] - 0.42 * body.ankle_height * foot[..., 2]
    builder.spheres(Material.SHOE, (ankle - 4.0 * scale * foot[..., 0], 38.0), (instep, 34.0), sole(ball, -4.0, 27.0))
    builder.spheres(Material.SHOE, (ankle - 8.0 * scale * foot[..., 0], 38.0), sole(24.0 * scale - heel, 0.0, 31.0))
    builder.spheres(Material.SHOE, sole(24.0 * scale - heel, 0.0, 31.0), sole(ball - 14.0 * scale, 16.0, 27.0))
    builder.spheres(
        Material.SHOE,
        sole(ball - 14.0 * scale, 16.0, 27.0),
        sole(ball, -12.0, 28.0),
        sole(toe + 12.0 * scale, -8.0, 19.0),
    )


def _add_arm(builder: Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    body = motion.body
    shoulder, elbow, wrist = (motion.joint(f"{side}_{part}") for part in ("shoulder", "elbow", "wrist"))
    inward, up = -SIDE_SIGN[index] * motion.thorax[..., 1] * scale, motion.thorax[..., 2] * scale
    loose = _WIDE_SLEEVE * body.looseness
    chest = motion.joint("thorax") - 20.0 * scale * motion.thorax[..., 0]
    # The trapezius slopes from the neck to the shoulder; pectoral and shoulder blade join the arm to the chest.
    builder.spheres(
        Material.SHIRT,
        (chest + 26.0 * up - 26.0 * inward, 40.0),
        (shoulder + 52.0 * inward + 24.0 * up, 42.0 + 0.3 * loose),
        (shoulder + 6.0 * inward + 4.0 * up, 52.0 + 0.5 * loose),
        joins=True,
    )
    builder.spheres(
        Material.SHIRT,
        (shoulder + 72.0 * inward - 82.0 * up, 84.0 + 0.6 * loose),
        (shoulder + 30.0 * inward - 20.0 * up, 62.0 + 0.6 * loose),
        (shoulder + 6.0 * inward + 2.0 * up, 52.0 + 0.5 * loose),
        joins=True,
    )
    along = elbow - shoulder
    nodes = [(shoulder + at * along, radius) for at, radius in _UPPER_ARM]
    sleeve = [
        (place, radius + loose * (0.5 + 0.5 * number / (_SLEEVE_NODES - 1)))
        for number, (place, radius) in enumerate(nodes[:_SLEEVE_NODES])
    ]
    builder.spheres(Material.SHIRT, (shoulder + 4.0 * inward, 52.0 + 0.5 * loose), *sleeve)
    builder.spheres(Material.SKIN, *nodes[_SLEEVE_NODES - 1 :])
    builder.spheres(Material.SKIN, *((elbow + at * (wrist - elbow), radius) for at, radius in _FOREARM))


def _add_hand(builder: Builder, motion: Motion, side: str, index: int, scale: float) -> None:
    elbow, wrist = (motion.joint(f"{side}_{part}") for part in ("elbow", "wrist"))
    along, thumb = (scale * axis for axis in _hand_axes(motion, elbow, wrist, index))

    def at(forth: float, to_thumb: float) -> FloatArray:
        return wrist + forth * along + to_thumb * thumb

    if motion.hands == "fist":
        builder.spheres(Material.SKIN, (wrist, 26.0), (at(58.0, 2.0), 41.0), (at(80.0, 4.0), 39.0))
        builder.spheres(Material.SKIN, (at(40.0, 24.0), 20.0), (at(84.0, 36.0), 14.0))
        return
    builder.spheres(Material.SKIN, (wrist, 25.0), (at(40.0, 14.0), 20.0), (at(84.0, 24.0), 13.0), (at(88.0, 2.0), 13.0))
    builder.spheres(
        Material.SKIN, (wrist, 25.0), (at(40.0, -14.0), 20.0), (at(84.0, -24.0), 12.0), (at(88.0, 2.0), 13.0)
    )
    if motion.hands == "flat":
        builder.spheres(Material.SKIN, (at(80.0, 0.0), 24.0), (at(130.0, 4.0), 20.0), (at(168.0, 6.0), 10.0))
        builder.spheres(Material.SKIN, (at(24.0, 22.0), 17.0), (at(92.0, 40.0), 10.0))
        return
    for angle, root, length in _FINGERS:
        lean, reach = np.tan(np.radians(angle)) * length, length
        builder.spheres(
            Material.SKIN, (at(84.0, root), _FINGER_RADIUS + 1), (at(84.0 + reach, root + lean), _FINGER_RADIUS - 1.5)
        )
    builder.spheres(Material.SKIN, (at(26.0, 20.0), 16.0), (at(62.0, 52.0), 11.0), (at(88.0, 74.0), 8.0))


def _hand_axes(motion: Motion, elbow: FloatArray, wrist: FloatArray, index: int) -> tuple[FloatArray, FloatArray]:
    """Directions (T, 3) along the forearm and towards the thumb: ahead when the arm hangs, up when it is raised."""
    along = unit(wrist - elbow)
    thumb = motion.thorax[..., 0] + 0.8 * motion.thorax[..., 2]
    thumb = unit(thumb - np.sum(thumb * along, axis=-1, keepdims=True) * along)
    turned = -SIDE_SIGN[index] * motion.palms[index]
    return along, np.cos(turned) * thumb + np.sin(turned) * np.cross(thumb, along)
