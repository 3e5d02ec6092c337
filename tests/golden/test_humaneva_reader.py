"""Figures of the reader that must hold on the reference sets: joints, validity, clocks, and joints on the masks."""

import cv2
import numpy as np
import pytest

from pose.body.skeleton import HUMANEVA_15
from pose.humaneva import HumanEva

pytestmark = pytest.mark.shared

NEAR = 3.0  # px


@pytest.fixture(scope="module", params=["dev", "tiny"])
def folder(request, shared):
    return shared / "humaneva-like" / request.param


def truth_of(folder, sequence):
    with np.load(folder / "truth" / f"joints_{sequence.subject.name}_{sequence.action}.npz") as truth:
        return dict(truth)


def test_joints_validity_and_clocks(folder):
    for sequence in HumanEva(folder / "HumanEva_I").trials:
        truth = truth_of(folder, sequence)
        labels = sequence.labels(truth["frames"])
        np.testing.assert_array_equal(labels.mocap_valid, truth["mocap_valid"])
        np.testing.assert_array_equal(labels.valid, truth["valid"])
        assert np.linalg.norm(labels.joints - truth["joints"], axis=2)[labels.mocap_valid].max() < 1.0
        np.testing.assert_allclose(labels.mocap_position, truth["mocap_position"], atol=1e-6)
        assert list(sequence.clock.first_video_frame.values()) == truth["first_video_frame"].tolist()
        assert sequence.clock.mocap_start == pytest.approx(float(truth["T0"]))
        assert sequence.clock.mocap_per_frame == pytest.approx(float(truth["s"]))


def share_near_masks(folder):
    """Share of projected joints, in valid frames, that lie on the true mask or within 3 px of it; their count."""
    data = HumanEva(folder / "HumanEva_I")
    near = []
    for sequence in data.trials:
        for camera in data.cameras:
            stem = f"{sequence.subject.name}_{sequence.action}_1_({camera})_F"
            masks = {int(p.stem.rsplit("_F", 1)[1]): p for p in (folder / "truth" / "masks").glob(f"{stem}*.png")}
            labels = sequence.labels(np.array(sorted(masks)))
            pixels = sequence.subject.camera(camera).project(labels.joints)
            for number, valid, points in zip(labels.numbers, labels.valid, pixels, strict=True):
                if not valid:
                    continue
                mask = cv2.imread(str(masks[int(number)]), cv2.IMREAD_GRAYSCALE) > 0
                distance = cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE)
                column, row = np.round(points).astype(int).T
                inside = (column >= 0) & (column < mask.shape[1]) & (row >= 0) & (row < mask.shape[0])
                far = np.where(inside, distance[row.clip(0, len(mask) - 1), column.clip(0, mask.shape[1] - 1)], np.inf)
                near.append(far <= NEAR)
    return float(np.mean(near)), np.size(near)


def test_projected_joints_lie_on_the_person(folder):
    if not any((folder / "truth" / "masks").glob("*.png")):
        pytest.skip("the set has no masks")
    share, count = share_near_masks(folder)
    assert count > len(HUMANEVA_15) * 5
    assert share >= 0.98


def test_mat_files_give_the_same_joints(shared, tmp_path):
    """The toolkit's cache beside each .c3d, read in place of it."""
    root = shared / "humaneva-like" / "tiny" / "HumanEva_I"
    copy = tmp_path / "S1"
    copy.mkdir()
    for part in (root / "S1").iterdir():
        if part.name != "Mocap_Data":
            (copy / part.name).symlink_to(part)
    (copy / "Mocap_Data").mkdir()
    for path in (root / "S1" / "Mocap_Data").iterdir():
        if path.suffix != ".c3d":
            (copy / "Mocap_Data" / path.name).symlink_to(path)
    (tmp_path / "partitions.json").symlink_to(root / "partitions.json")
    ours, theirs = (HumanEva(place).arrays(cameras="C1") for place in (tmp_path, root))
    np.testing.assert_array_equal(ours.valid, theirs.valid)
    np.testing.assert_allclose(ours.joints, theirs.joints, atol=1e-9)
