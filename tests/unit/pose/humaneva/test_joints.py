"""The joint construction on a body aligned with the world, worked out by hand, and on the reference sets."""

import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva import HumanEva
from pose.humaneva.files.marker_tracks import MarkerTracks
from pose.humaneva.joints import HEAD_LENGTH, SubjectShape, joints_at, torso_radius, valid_instants

SHAPE = SubjectShape(torso_radius=150.0, left_shoulder_offset=45.0, right_shoulder_offset=40.0)


def joint(joints: np.ndarray, name: str) -> np.ndarray:
    return joints[0, HUMANEVA_15.names.index(name)]


def replaced(tracks: MarkerTracks, name: str, value: object) -> MarkerTracks:
    positions = tracks.positions.copy()
    positions[1, tracks.find(name)] = value
    return MarkerTracks(tracks.path, tracks.labels, positions, tracks.rate)


def test_pelvis_and_thorax(tracks):
    joints = joints_at(tracks, np.array([1.0]), SHAPE)
    np.testing.assert_allclose(joint(joints, "pelvis"), [-50, 0, 900])
    # The torso, 400 long, is turned by Ry(atan2(75, 400)), whose third column is (-sin, 0, cos).
    angle = np.arctan2(75, 400)
    proximal = np.array([-50 - 400 * np.sin(angle), 0, 900 + 400 * np.cos(angle)])
    np.testing.assert_allclose(joint(joints, "thorax"), (proximal + [0, 0, 1300]) / 2)


def test_head_starts_at_the_thorax_marker(tracks):
    np.testing.assert_allclose(joint(joints_at(tracks, np.array([1.0]), SHAPE), "head"), [0, 0, 1300 + HEAD_LENGTH])


def test_legs(tracks):
    joints = joints_at(tracks, np.array([1.0]), SHAPE)
    np.testing.assert_allclose(joint(joints, "left_hip"), [0, 100, 900])
    # Thigh and shin axes are turned by pi about y, so lengths 400 and 400 go down.
    np.testing.assert_allclose(joint(joints, "left_knee"), [0, 100, 500], atol=1e-9)
    np.testing.assert_allclose(joint(joints, "right_ankle"), [0, -100, 100], atol=1e-9)


def test_arms_are_tilted_by_half_the_shoulder_offset(tracks):
    joints = joints_at(tracks, np.array([1.0]), SHAPE)
    np.testing.assert_allclose(joint(joints, "left_shoulder"), [0, 200, 1300])
    # Ry(-t) (0, 0, -300) = 300 (-sin t, 0, -cos t) with tan t = 22.5 / 300; the forearm is turned the other way.
    tilt = np.arctan2(22.5, 300)
    elbow = np.array([-300 * np.sin(tilt), 200, 1300 - 300 * np.cos(tilt)])
    np.testing.assert_allclose(joint(joints, "left_elbow"), elbow)
    np.testing.assert_allclose(joint(joints, "left_wrist"), elbow + 250 * np.array([np.sin(tilt), 0, -np.cos(tilt)]))


def test_between_two_mocap_frames_positions_are_interpolated(tracks):
    first, between = joints_at(tracks, np.array([1.0, 1.25]), SHAPE)
    np.testing.assert_allclose(between - first, np.broadcast_to([2.5, 0, 0], (15, 3)), atol=1e-9)


def test_turns_are_interpolated_as_rotations(markers):
    # The head's z axis turns from up to forward (90 degrees about y); half way it points 45 degrees between.
    origin = markers["HEDO"][1]
    markers["HEDP"][1], markers["HEDA"][1] = origin + [100, 0, 0], origin + [0, 0, -100]
    positions = np.stack(list(markers.values()), axis=1)
    turning = MarkerTracks("x", tuple(markers), positions, 120.0)
    head = joint(joints_at(turning, np.array([1.5]), SHAPE), "head")
    np.testing.assert_allclose(head, [5 + HEAD_LENGTH * np.sqrt(0.5), 0, 1300 + HEAD_LENGTH * np.sqrt(0.5)])


@pytest.mark.parametrize("position", [0.5, 3.5, 4.0, -2.0])
def test_outside_the_recording_there_is_nothing(tracks, position):
    assert np.isnan(joints_at(tracks, np.array([position]), SHAPE)).all()
    assert not valid_instants(tracks, np.array([position]))[0]


def test_a_missing_marker_spoils_only_the_instants_that_touch_it(tracks):
    broken = replaced(tracks, "RKNE", np.nan)
    positions = np.array([1.0, 1.5, 2.0, 2.5, 3.0])
    assert valid_instants(broken, positions).tolist() == [True, False, False, False, True]


def test_rounding_noise_does_not_ask_for_the_neighbour(tracks):
    broken = replaced(tracks, "RKNE", np.nan)
    assert valid_instants(broken, np.array([1.0 + 1e-9]))[0]


def test_one_of_two_alternative_markers_is_enough(markers):
    markers["RFRA"] = markers["RFRM"].copy()
    markers["RFRM"][1] = np.nan
    both = MarkerTracks("x", tuple(markers), np.stack(list(markers.values()), axis=1), 120.0)
    assert valid_instants(both, np.array([2.0]))[0]


def test_virtual_markers_do_not_decide_validity_but_never_give_wrong_joints(tracks):
    broken = replaced(tracks, "LHUA", np.nan)
    assert valid_instants(broken, np.array([2.0]))[0]
    assert np.isnan(joints_at(broken, np.array([2.0]), SHAPE)).all()


def test_axes_that_are_not_at_right_angles_are_refused(tracks):
    origin = tracks.positions[1, tracks.find("PELO")]
    broken = replaced(tracks, "PELA", origin + [100, 0, 60])
    assert np.isnan(joints_at(broken, np.array([2.0]), SHAPE)).all()


def test_files_without_the_markers_list_them(markers):
    for name in ("T10", "LFRM", "STRN"):
        del markers[name]
    lacking = MarkerTracks("Jog_1.c3d", tuple(markers), np.stack(list(markers.values()), axis=1), 120.0)
    with pytest.raises(DataError, match=r"Jog_1\.c3d: lacks the markers STRN T10 LFRM\|LFRA"):
        valid_instants(lacking, np.array([1.0]))


def test_torso_radius_is_half_the_shoulder_distance_less_a_markers_radius(markers):
    markers["LSHO"][:], markers["RSHO"][:] = [0, 170, 1400], [0, -170, 1400]
    static = MarkerTracks("Static.c3d", tuple(markers), np.stack(list(markers.values()), axis=1), 120.0)
    assert torso_radius(static) == pytest.approx(163)


@pytest.mark.parametrize("distance", [60, 1e4])
def test_shoulders_that_no_person_has_are_refused(markers, distance):
    markers["LSHO"][:], markers["RSHO"][:] = [0, distance / 2, 1400], [0, -distance / 2, 1400]
    static = MarkerTracks("Static.c3d", tuple(markers), np.stack(list(markers.values()), axis=1), 120.0)
    with pytest.raises(DataError, match=r"Static\.c3d: shoulders .* mm apart cannot be right"):
        torso_radius(static)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["dev", "tiny"])
def test_joints_and_validity_of_the_reference_sets(shared, name):
    folder = shared / "humaneva-like" / name
    sequences = HumanEva(folder / "HumanEva_I").trials_with_video()
    assert sequences
    for sequence in sequences:
        with np.load(folder / "truth" / f"joints_{sequence.subject.name}_{sequence.action}.npz") as truth:
            positions = sequence.clock.mocap_position(truth["frames"])
            joints = joints_at(sequence.markers, positions, sequence.subject.shape)
            valid = valid_instants(sequence.markers, positions)
            np.testing.assert_array_equal(valid, truth["mocap_valid"])
            assert np.linalg.norm(joints - truth["joints"], axis=2)[valid].max() < 1.0


@pytest.mark.shared
def test_a_reader_without_offsets_or_validity_is_visibly_worse(shared):
    """The bound above would not hold for a reader that skips either."""
    folder = shared / "humaneva-like" / "dev"
    sequence = next(s for s in HumanEva(folder / "HumanEva_I").trials_with_video() if s.name == "S1 Box 1")
    with np.load(folder / "truth" / "joints_S1_Box.npz") as truth:
        expected, valid, frames = truth["joints"], truth["mocap_valid"], truth["frames"]
    no_offset = joints_at(sequence.markers, 1.0 + (frames - 1) * 2.0, sequence.subject.shape)
    assert np.nanmean(np.linalg.norm(no_offset - expected, axis=2)) > 20
    everything = valid_instants(sequence.markers, sequence.clock.mocap_position(frames))
    assert (~valid).sum() == 10
    assert (~everything).sum() == 10
