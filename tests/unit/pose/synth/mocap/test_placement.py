import numpy as np
import pytest

from pose.humaneva.joints import ALTERNATIVES, MARKER_RADIUS, PHYSICAL_MARKERS
from pose.synth.body import NAMED_BODIES
from pose.synth.mocap.placement import physical_markers, virtual_markers
from pose.synth.motion.actions import generate
from pose.synth.motion.limbs import standing

BONES = "PEL TRX HED LFE LTI LCL LHU LRA RFE RTI RCL RHU RRA".split()


@pytest.fixture(scope="module")
def motion():
    return generate("Box", NAMED_BODIES["S2"], 240, np.random.default_rng(0))


def test_all_39_physical_markers_are_there(motion):
    labels = set(physical_markers(motion))
    assert len(labels) == 39
    assert set(PHYSICAL_MARKERS) <= labels
    assert all(labels & set(pair) for pair in ALTERNATIVES)


def test_physical_markers_stand_on_the_body(motion):
    for label, path in physical_markers(motion).items():
        assert path.shape == (240, 3)
        nearest = np.linalg.norm(motion.joints - path[:, None], axis=-1).min(axis=1)
        assert nearest.max() < 330, label
        assert path[:, 2].min() > -20, label


def test_every_bone_has_perpendicular_axes(motion):
    markers = virtual_markers(motion)
    assert set(markers) == {bone + end for bone in BONES for end in "OPAL"}
    for bone in BONES:
        x, y, z = (markers[bone + end] - markers[f"{bone}O"] for end in "ALP")
        for first, second in ((x, y), (y, z), (z, x)):
            cosine = np.sum(first * second, axis=1) / np.linalg.norm(first, axis=1) / np.linalg.norm(second, axis=1)
            assert np.abs(cosine).max() < 1e-9
        assert (np.sum(np.cross(x, y) * z, axis=1) > 0).all()


def test_the_standing_shoulder_markers_give_the_bodys_torso_radius():
    body = NAMED_BODIES["S3"]
    markers = physical_markers(standing(body, 3))
    apart = np.linalg.norm(markers["LSHO"] - markers["RSHO"], axis=1)
    np.testing.assert_allclose(apart / 2 - MARKER_RADIUS, body.half_shoulder_markers)
