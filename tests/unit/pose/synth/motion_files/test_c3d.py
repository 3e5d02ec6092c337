import ezc3d
import numpy as np
import pytest

from pose.errors import DataError
from pose.synth.body import NAMED_BODIES
from pose.synth.mocap.placement import physical_markers, virtual_markers
from pose.synth.motion.gestures import gesticulate
from pose.synth.motion_files import read_clip, read_motion

N_FRAMES = 120


@pytest.fixture(scope="module")
def motion():
    return gesticulate(NAMED_BODIES["S1"], N_FRAMES, np.random.default_rng(0))


def write_c3d(path, markers, prefix="S1:", unit="mm"):
    file = ezc3d.c3d()
    points = np.ones((4, len(markers), N_FRAMES))
    points[:3] = np.stack(list(markers.values())).transpose(2, 0, 1)
    file["parameters"]["POINT"]["RATE"]["value"] = [100.0]
    file["parameters"]["POINT"]["UNITS"]["value"] = [unit]
    file["parameters"]["POINT"]["LABELS"]["value"] = [prefix + label for label in markers]
    file["data"]["points"] = points
    file.write(str(path))
    return path


def test_bone_origins_are_the_joints(tmp_path, motion):
    found = read_motion(write_c3d(tmp_path / "bones.c3d", physical_markers(motion) | virtual_markers(motion)))
    assert found.title == "Vicon segment origins"
    assert found.rate == 100
    for part, side in found.points:
        if part in ("hip", "knee", "ankle", "shoulder"):
            np.testing.assert_allclose(found.points[part, side], motion.joint(f"{side}_{part}"), atol=0.01)
        elif part in ("elbow", "wrist"):  # the format moves the arm's bones by the shoulder offset
            error = np.linalg.norm(found.points[part, side] - motion.joint(f"{side}_{part}"), axis=-1)
            assert error.max() < 60
    feet = np.sum(found.feet[..., 0] * motion.feet[..., 0], axis=-1)
    assert feet.min() > 0.99


def test_skin_markers_lead_near_the_joints(tmp_path, motion):
    found = read_motion(write_c3d(tmp_path / "skin.c3d", physical_markers(motion), prefix=""))
    assert found.title == "Plug-in-Gait markers"
    for part, side in found.points:
        if part in ("hip", "knee", "ankle", "shoulder", "elbow", "wrist"):
            error = np.linalg.norm(found.points[part, side] - motion.joint(f"{side}_{part}"), axis=-1)
            assert np.median(error) < 60, (part, side)
    forward = np.sum(found.chest[..., 0] * motion.thorax[..., 0], axis=-1)
    assert forward.min() > 0.8


def test_short_gaps_are_bridged_and_long_ones_cut_the_clip(tmp_path, motion):
    markers = {label: path.copy() for label, path in physical_markers(motion).items()}
    markers["LKNE"][50:60] = np.nan
    whole = read_motion(write_c3d(tmp_path / "short.c3d", markers))
    assert len(whole) == N_FRAMES
    markers["LKNE"][20:60] = np.nan
    assert len(read_motion(write_c3d(tmp_path / "long.c3d", markers))) == N_FRAMES - 60
    markers["LKNE"][20:100] = np.nan
    with pytest.raises(DataError, match="nowhere are all parts seen for 30 frames; lost are left knee"):
        read_motion(write_c3d(tmp_path / "lost.c3d", markers))


def test_other_markers_are_refused_with_what_is_missing(tmp_path, motion):
    markers = physical_markers(motion)
    del markers["LKNE"], markers["RWRB"]
    markers["NOSE"] = markers["C7"]
    with pytest.raises(DataError, match=r"lacks left knee \(LKNE\), right wrist \(RWRA\+RWRB\).*NOSE"):
        read_motion(write_c3d(tmp_path / "other.c3d", markers))


def test_two_people_are_refused(tmp_path, motion):
    markers = physical_markers(motion)
    both = {f"A:{label}": path for label, path in markers.items()} | {f"B:{label}": p for label, p in markers.items()}
    with pytest.raises(DataError, match="holds several people"):
        read_clip(write_c3d(tmp_path / "two.c3d", both, prefix=""))


def test_a_truncated_file_is_refused(tmp_path, motion):
    path = write_c3d(tmp_path / "cut.c3d", physical_markers(motion))
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(DataError, match=r"cut\.c3d"):
        read_clip(path)
