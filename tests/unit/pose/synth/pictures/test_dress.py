from dataclasses import replace

import cv2
import numpy as np
import pytest

from pose.synth.body import NAMED_BODIES
from pose.synth.motion.limbs import standing
from pose.synth.pictures.dress import build_figure
from pose.synth.pictures.looks import LOOKS
from pose.synth.pictures.rendering import Renderer
from pose.synth.pictures.rig import default_cameras
from pose.synth.pictures.room import FRAME_SIZE

CAMERA = default_cameras()["C1"]
EMPTY = np.zeros((FRAME_SIZE[1], FRAME_SIZE[0], 3), dtype=np.uint8)


def mask_of(hands="flat", arm_spread=np.pi / 2, facing=0.0, **shape):
    motion = standing(replace(NAMED_BODIES["S1"], **shape), 1, arm_spread=arm_spread)
    turned = motion.turned(np.array([np.radians(8.0) + facing]))  # the camera's azimuth: he faces it
    figure = build_figure(replace(turned, hands=hands))
    return Renderer(figure, CAMERA, LOOKS["S1"], EMPTY).draw(0)[1]


def test_neck_waist_and_ankles_are_narrower_than_what_they_join():
    mask = mask_of(arm_spread=np.radians(25))
    rows = np.flatnonzero(mask.any(axis=1))
    top, height = rows[0], len(rows)

    def width(share):
        """Of the run of body nearest to the middle, at a share of the height from the top."""
        row = mask[top + int(share * height)]
        count, labels = cv2.connectedComponents(row.astype(np.uint8)[None])
        middle = round(float(np.flatnonzero(mask.any(axis=0)).mean()))
        runs = [np.flatnonzero(labels[0] == k) for k in range(1, count)]
        return len(min(runs, key=lambda run: np.abs(run - middle).min()))

    head, neck, chest, waist, hips = width(0.07), width(0.145), width(0.27), width(0.37), width(0.47)
    knee, calf, ankle = width(0.72), width(0.80), width(0.93)
    assert neck < head
    assert neck < 0.5 * chest
    assert waist < chest
    assert waist < hips
    assert ankle < 0.8 * calf
    assert ankle < knee


@pytest.mark.parametrize(
    "shape", [{"girth": 1.2}, {"looseness": 1.0}, {"hip": 1.3}, {"belly": 1.0}, {"hair": 1.0}], ids=str
)
def test_more_of_anything_is_more_body(shape):
    thin = {"girth": 1.0, "looseness": 0.0, "hip": 1.0, "belly": 0.0, "hair": 0.0}
    assert mask_of(**thin | shape).sum() > 1.01 * mask_of(**thin).sum()


def test_a_belly_and_a_bust_show_from_the_side():
    plain = mask_of(facing=np.pi / 2, arm_spread=0.05, belly=0.0, bust=0.0)
    for shape in ({"belly": 1.0}, {"bust": 1.0}):
        more = mask_of(facing=np.pi / 2, arm_spread=0.05, **{"belly": 0.0, "bust": 0.0} | shape)
        assert (more & ~plain).sum() > 60


def test_hands_differ():
    masks = {hands: mask_of(hands) for hands in ("flat", "open", "fist")}
    spans = {hands: np.ptp(np.flatnonzero(mask.any(axis=0))) for hands, mask in masks.items()}
    assert spans["fist"] < spans["flat"] - 10
    # Spread fingers leave gaps: more outline for as much hand.
    outline = {
        hands: cv2.Laplacian(mask.astype(np.float32), cv2.CV_32F).astype(bool).sum() for hands, mask in masks.items()
    }
    assert outline["open"] > outline["flat"] > outline["fist"]


def test_the_silhouette_is_one_piece():
    for hands in ("flat", "open", "fist"):
        assert cv2.connectedComponents(mask_of(hands).astype(np.uint8))[0] == 2
