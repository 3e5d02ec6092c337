"""From markers to the 20 points and 15 joints: bone frames, lengths, the toolkit's adjustments, and frame validity.

Bones carry four virtual markers each: the origin O and a point on every axis, P (z), A (x) and L (y).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from pose.body.skeleton import joints_15_from_20
from pose.errors import DataError
from pose.humaneva.files.marker_tracks import MarkerTracks
from pose.types import BoolArray, FloatArray, IntArray

#: Distance from the top of the trunk (TRXO) to the head joint, mm, the toolkit's constant.
HEAD_LENGTH = 316.103
#: Radius of a marker, mm: the distance of its centre from the skin.
MARKER_RADIUS = 7.0
#: Shift from the pelvis segment's origin to the torso's end, mm along the pelvis's x axis.
PELVIS_SHIFT = -50.0
#: Smallest and largest plausible torso radius, mm.
TORSO_RADII = (40.0, 500.0)
#: Distance to a whole mocap frame, in frames, within which a position is rounded to it: rounding noise must not bring
#: in the next frame.
SNAP = 1e-6
#: Largest dot product of two unit axes that the toolkit takes as a right angle.
RIGID = 1e-4
#: Largest dot product of two unit axes of a bone; above it the bone's markers are damaged.
AXIS_TOLERANCE = 0.02

#: Markers that must all be seen in a valid frame, with one marker of each pair in `ALTERNATIVES`.
PHYSICAL_MARKERS = tuple(
    "RASI LASI LPSI RPSI RELB LELB STRN LTHI RTHI LWRA LWRB RWRA RWRB T10 C7 CLAV RBAK RUPA LUPA RKNE LKNE RSHO LSHO "
    "RTIB LTIB LBHD RBHD RFHD LFHD LANK RANK LHEE RHEE LTOE RTOE LFIN RFIN".split()
)
ALTERNATIVES = (("RFRM", "RFRA"), ("LFRM", "LFRA"))
#: Markers that the construction reads: O, P, A and L of the bones whose axes count, and O alone of the others.
VIRTUAL_MARKERS = tuple(
    bone + part for bone in "PEL HED LFE LTI LHU LRA RFE RTI RHU RRA".split() for part in "OPAL"
) + ("TRXO", "LCLO", "RCLO")


@dataclass(frozen=True)
class SubjectShape:
    """What the joint construction needs to know of a subject, mm.

    Parameters
    ----------
    torso_radius : float
        Half the distance between the shoulder markers in the standing trial, less a marker's radius.
    left_shoulder_offset, right_shoulder_offset : float
        From the ``.mp`` file.
    """

    torso_radius: float
    left_shoulder_offset: float
    right_shoulder_offset: float


def torso_radius(static: MarkerTracks) -> float:
    """Half the shoulder markers' mean distance in the standing trial, less a marker's radius, mm."""
    left, right = np.moveaxis(static.require(("LSHO", "RSHO")), 1, 0)
    if not np.isfinite(left + right).any():
        raise DataError(f"{static.path}: LSHO and RSHO are never seen together, so the torso's width is not known")
    radius = float(np.nanmean(np.linalg.norm(left - right, axis=1)) / 2 - MARKER_RADIUS)
    if not TORSO_RADII[0] < radius < TORSO_RADII[1]:
        raise DataError(f"{static.path}: shoulders {2 * radius:.4g} mm apart cannot be right")
    return radius


@dataclass(frozen=True, eq=False)
class _Instants:
    """Mocap positions, 1-based and fractional, as two neighbouring 0-based rows and the weight of the upper one."""

    lower: IntArray
    upper: IntArray
    weight: FloatArray
    inside: BoolArray

    @classmethod
    def at(cls, positions: FloatArray, n_frames: int) -> _Instants:
        nearest = np.round(positions)
        positions = np.where(np.abs(positions - nearest) < SNAP, nearest, positions)
        lower = np.floor(positions).astype(np.int64)
        upper = np.ceil(positions).astype(np.int64)
        inside = (lower >= 1) & (upper <= n_frames)
        return cls(
            np.clip(lower, 1, n_frames) - 1, np.clip(upper, 1, n_frames) - 1, positions - np.floor(positions), inside
        )


@dataclass(frozen=True, eq=False)
class _Frames:
    """Rigid frames: columns of `rotation` (n, 3, 3) are the axes, `origin` (n, 3) in mm."""

    rotation: FloatArray
    origin: FloatArray

    def at(self, x: float, y: float, z: float | FloatArray) -> FloatArray:
        """World positions (n, 3) of a local point; z may differ from instant to instant."""
        local = np.zeros_like(self.origin)
        local[:, 0], local[:, 1], local[:, 2] = x, y, z
        turned: FloatArray = np.einsum("nij,nj->ni", self.rotation, local)
        return self.origin + turned

    def turned(self, angle: float | FloatArray) -> _Frames:
        """Right-multiplied by Ry(angle), in the sign convention of the toolkit."""
        return _Frames(self.rotation @ _rotation_y(angle, len(self.origin)), self.origin)

    def moved_to(self, origin: FloatArray) -> _Frames:
        return _Frames(self.rotation, origin)


def _rotation_y(angle: float | FloatArray, n: int) -> FloatArray:
    """[[cos, 0, -sin], [0, 1, 0], [sin, 0, cos]]: the toolkit's sign, opposite to the usual one."""
    angle = np.broadcast_to(np.asarray(angle, dtype=float), (n,))
    rotation = np.zeros((n, 3, 3))
    rotation[:, 0, 0] = rotation[:, 2, 2] = np.cos(angle)
    rotation[:, 0, 2] = -np.sin(angle)
    rotation[:, 2, 0] = np.sin(angle)
    rotation[:, 1, 1] = 1
    return rotation


def lacking_markers(tracks: MarkerTracks) -> tuple[str, ...]:
    """Names of the physical markers that a file does not list at all; ``A|B`` where either would do."""
    lacking = [name for name in PHYSICAL_MARKERS if tracks.find(name) is None]
    lacking += ["|".join(pair) for pair in ALTERNATIVES if all(tracks.find(name) is None for name in pair)]
    return tuple(lacking)


def valid_instants(tracks: MarkerTracks, positions: FloatArray) -> BoolArray:
    """Whether every physical marker is seen in both mocap frames around each position.

    Parameters
    ----------
    tracks : MarkerTracks
    positions : ndarray of shape (n,)
        Mocap positions, 1-based and fractional.

    Returns
    -------
    ndarray of bool, shape (n,)
        False also outside the recording.

    Raises
    ------
    DataError
        If the file lacks one of the markers altogether; the message lists all that it lacks.
    """
    lacking = lacking_markers(tracks)
    if lacking:
        raise DataError(f"{tracks.path}: lacks the markers {' '.join(lacking)}")
    pairs = [[index for name in pair if (index := tracks.find(name)) is not None] for pair in ALTERNATIVES]
    # A missing marker is NaN in all three coordinates, so it is enough to look at one.
    seen: BoolArray = np.asarray(np.isfinite(tracks.positions[:, tracks.indices(PHYSICAL_MARKERS), 0]).all(axis=1))
    for found in pairs:
        seen = seen & np.isfinite(tracks.positions[:, found, 0]).any(axis=1)
    instants = _Instants.at(np.asarray(positions, dtype=float), len(tracks))
    return instants.inside & seen[instants.lower] & seen[instants.upper]


def joints_at(tracks: MarkerTracks, positions: FloatArray, shape: SubjectShape) -> FloatArray:
    """The 15 joints at fractional mocap positions, (n, 15, 3), mm, in the order of `HUMANEVA_15`; see `points_at`."""
    return joints_15_from_20(points_at(tracks, positions, shape))


def points_at(tracks: MarkerTracks, positions: FloatArray, shape: SubjectShape) -> FloatArray:
    """The toolkit's 20 points at fractional mocap positions.

    Between two mocap frames the bones' axes are interpolated on the sphere (slerp), their origins linearly.

    Parameters
    ----------
    tracks : MarkerTracks
        With the virtual markers of the bones.
    positions : ndarray of shape (n,)
        Mocap positions, 1-based and fractional.
    shape : SubjectShape

    Returns
    -------
    ndarray of shape (n, 20, 3)
        mm, world, in the order of `pose.body.skeleton.HUMANEVA_20`; NaN where a bone's markers are missing or damaged,
        and outside the recording.

    Raises
    ------
    DataError
        If the file lacks virtual markers; the message lists all that it lacks.
    """
    tracks.indices(VIRTUAL_MARKERS)
    instants = _Instants.at(np.asarray(positions, dtype=float), len(tracks))
    points = _SkeletonBuilder(tracks, instants, shape).points()
    points[~instants.inside | ~np.isfinite(points).all(axis=(1, 2))] = np.nan
    return points


class _SkeletonBuilder:
    """The construction of one set of instants; each method makes one part of the body."""

    def __init__(self, tracks: MarkerTracks, instants: _Instants, shape: SubjectShape) -> None:
        self.tracks, self.instants, self.shape = tracks, instants, shape

    def points(self) -> FloatArray:
        head = self._bone("HED").moved_to(self._marker("TRXO"))
        return np.stack(
            [
                *self._torso(),
                *self._arm("L", self.shape.left_shoulder_offset),
                *self._arm("R", self.shape.right_shoulder_offset),
                *self._leg("L"),
                *self._leg("R"),
                head.origin,
                head.at(0, 0, HEAD_LENGTH),
            ],
            axis=1,
        )

    def _torso(self) -> tuple[FloatArray, FloatArray]:
        """The torso's proximal and distal end."""
        length = self._length("TRXO", "PELO")
        pelvis = self._bone("PEL")
        pelvis = pelvis.moved_to(pelvis.at(PELVIS_SHIFT, 0, 0)).turned(np.arctan2(self.shape.torso_radius / 2, length))
        return pelvis.at(0, 0, length), pelvis.origin

    def _arm(self, side: str, offset: float) -> tuple[FloatArray, ...]:
        """Both ends of upper arm and forearm; half the shoulder offset tilts the upper arm, and the forearm back."""
        upper_length = self._length(f"{side}CLO", f"{side}HUO")
        fore_length = self._length(f"{side}HUO", f"{side}RAO")
        tilt = np.arctan2(offset / 2, upper_length)
        shoulder = self._bone(f"{side}HU").moved_to(self._marker(f"{side}CLO"))
        elbow = self._bone(f"{side}RA").moved_to(self._marker(f"{side}HUO"))
        gap = elbow.origin - shoulder.at(0, 0, -upper_length)
        shoulder = shoulder.turned(-tilt)
        upper_distal = shoulder.at(0, 0, -upper_length)
        elbow = elbow.moved_to(upper_distal + gap).turned(tilt)
        return shoulder.origin, upper_distal, elbow.origin, elbow.at(0, 0, -fore_length)

    def _leg(self, side: str) -> tuple[FloatArray, ...]:
        """Both ends of thigh and shin."""
        thigh = self._bone(f"{side}FE").moved_to(self._marker(f"{side}FEP")).turned(np.pi)
        shin = self._bone(f"{side}TI").moved_to(self._marker(f"{side}FEO")).turned(np.pi)
        thigh_distal = thigh.at(0, 0, self._length(f"{side}FEP", f"{side}FEO"))
        shin_distal = shin.at(0, 0, self._length(f"{side}FEO", f"{side}TIO"))
        return thigh.origin, thigh_distal, shin.origin, shin_distal

    def _marker(self, name: str) -> FloatArray:
        """(n, 3), interpolated linearly."""
        track = self.tracks.require((name,))[:, 0]
        i = self.instants
        # A NaN in the upper row would spread even at the weight 0, but there the upper row is the lower one.
        return (1 - i.weight)[:, None] * track[i.lower] + i.weight[:, None] * track[i.upper]

    def _length(self, first: str, second: str) -> FloatArray:
        """Distance between two markers, (n,), mm: the mean over those of the two neighbouring frames that show both."""
        ends = self.tracks.require((first, second))
        distance = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
        pair = np.stack([distance[self.instants.lower], distance[self.instants.upper]])
        known = np.isfinite(pair)
        total: FloatArray = np.where(known, pair, 0).sum(axis=0)
        return total / np.where(known.any(axis=0), known.sum(axis=0), np.nan)

    def _bone(self, bone: str) -> _Frames:
        """Frames of a bone at its own origin: slerp of the axes, linear interpolation of the origin."""
        points = self.tracks.require(tuple(bone + part for part in "OPAL"))
        i = self.instants
        rotation = _axes(points[i.lower])
        between = i.weight > 0
        rotation[between] = _slerp(rotation[between], _axes(points[i.upper[between]]), i.weight[between])
        return _Frames(rotation, self._marker(bone + "O"))


def _slerp(start: FloatArray, end: FloatArray, weight: FloatArray) -> FloatArray:
    """Rotations (n, 3, 3) between `start` and `end`, at the share `weight`; NaN where either is NaN."""
    turned = np.full(start.shape, np.nan)
    known = np.isfinite(start).all(axis=(1, 2)) & np.isfinite(end).all(axis=(1, 2))
    if known.any():
        step = Rotation.from_matrix(np.swapaxes(start[known], 1, 2) @ end[known]).as_rotvec()
        turned[known] = start[known] @ Rotation.from_rotvec(weight[known, None] * step).as_matrix()
    return turned


def _axes(points: FloatArray) -> FloatArray:
    """Rotations (n, 3, 3) with the unit axes x = A - O, y = L - O, z = P - O as columns, from (n, 4, 3) O P A L.

    NaN where a marker is missing, or where the axes are not at right angles.
    """
    origin, p, a, ell = np.moveaxis(points, 1, 0)
    axes = np.stack([a - origin, ell - origin, p - origin], axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    skew = np.abs(np.swapaxes(axes, 1, 2) @ axes - np.eye(3)).max(axis=(1, 2))
    left_handed = np.einsum("ni,ni->n", np.cross(axes[:, :, 0], axes[:, :, 1]), axes[:, :, 2]) < 0
    axes[(skew > AXIS_TOLERANCE) | left_handed] = np.nan
    # Markers rounded to a file's unit are slightly off right angles: the nearest rotation is taken.
    rounded = (skew > RIGID) & np.isfinite(axes).all(axis=(1, 2))
    if rounded.any():
        axes[rounded] = Rotation.from_matrix(axes[rounded]).as_matrix()
    rigid: FloatArray = axes
    return rigid
