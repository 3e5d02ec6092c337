import numpy as np
import pytest

from pose.synth.mocap.gaps import draw_gaps
from pose.synth.recording import LAST_REPEATED, MOCAP_PER_IMAGE, plan_trial, stream

CAMERAS = ("C1", "C2", "C3")


@pytest.fixture(params=[False, True], ids=["camera first", "mocap first"])
def trial(request):
    return plan_trial("S1", "Walking", 60, CAMERAS, 5, mocap_first=request.param)


def test_streams_are_named_not_counted():
    assert stream(1, "a", 2).random() == stream(1, "a", 2).random()
    assert stream(1, "a", 2).random() != stream(1, "a", 3).random()
    assert stream(1, "a", 2).random() != stream(2, "a", 2).random()


def test_every_frame_shows_the_instant_that_the_offsets_say(trial):
    frames = np.arange(LAST_REPEATED + 1, trial.n_frames + 1)
    wanted = trial.positions[frames - 1]
    for name in CAMERAS:
        rows = trial.shown(name)
        assert len(rows) == trial.video_frames[name]
        assert rows.min() >= 0
        assert rows.max() < len(trial.motion)
        index = np.array([trial.clock.video_index(name, frame) for frame in frames])
        # Half a video frame is what rounding the common clock costs.
        assert np.abs(rows[index] + trial.first_position - wanted).max() <= MOCAP_PER_IMAGE / 2


def test_streams_start_apart(trial):
    assert len(set(trial.clock.first_video_frame.values())) > 1
    assert len({offset.mocap_start for offset in trial.offsets.values()}) == 2
    assert any(offset.mocap_start != 1 for offset in trial.offsets.values())


def test_the_mocap_can_start_long_before_the_cameras():
    early = plan_trial("S1", "Box", 40, CAMERAS, 0, mocap_first=True)
    assert early.clock.mocap_start > 5
    assert early.first_position == 1


def test_the_first_toolkit_frames_repeat_a_picture(trial):
    for name in CAMERAS:
        start = trial.clock.video_index(name, 1)
        rows = trial.shown(name)
        assert len(set(rows[start : start + LAST_REPEATED])) == 1
        assert (np.diff(rows[start + LAST_REPEATED :]) == MOCAP_PER_IMAGE).all()


def test_partitions_are_disjoint_and_inside(trial):
    (first, middle), (after, last) = trial.partition["Validate"], trial.partition["Train"]
    assert first == LAST_REPEATED + 1
    assert first < middle < after == middle + 1 < last == trial.n_frames
    assert trial.positions[-1] == len(trial.mocap())


def test_gaps_fall_into_both_halves():
    missing = draw_gaps([str(k) for k in range(39)], 400, np.random.default_rng(0))
    assert missing.shape == (400, 39)
    assert missing[:200].any()
    assert missing[200:].any()
    assert missing.any(axis=1).mean() < 0.15
