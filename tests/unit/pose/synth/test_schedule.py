import numpy as np
import pytest

from pose.synth.body import NAMED_BODIES
from pose.synth.mocap.gaps import draw_gaps
from pose.synth.motion.actions import generate
from pose.synth.randomness import random_stream
from pose.synth.schedule import LAST_REPEATED, MOCAP_PER_IMAGE, draw_schedule

CAMERAS = ("C1", "C2", "C3")


def schedule_of(action, n_frames, seed, **options):
    def perform(length):
        return generate(action, NAMED_BODIES["S1"], length, np.random.default_rng(seed))

    return draw_schedule(("S1", action), n_frames, CAMERAS, seed, perform, **options)


@pytest.fixture(params=[False, True], ids=["camera first", "mocap first"])
def schedule(request):
    return schedule_of("Walking", 60, 5, mocap_first=request.param)


def test_streams_are_named_not_counted():
    assert random_stream(1, "a", 2).random() == random_stream(1, "a", 2).random()
    assert random_stream(1, "a", 2).random() != random_stream(1, "a", 3).random()
    assert random_stream(1, "a", 2).random() != random_stream(2, "a", 2).random()


def test_every_frame_shows_the_instant_that_the_offsets_say(schedule):
    frames = np.arange(LAST_REPEATED + 1, schedule.n_frames + 1)
    wanted = schedule.positions[frames - 1]
    for name in CAMERAS:
        rows = schedule.shown(name)
        assert len(rows) == schedule.video_frames[name]
        assert rows.min() >= 0
        assert rows.max() < len(schedule.motion)
        index = np.array([schedule.clock.video_index(name, frame) for frame in frames])
        # Half a video frame is what rounding the common clock costs.
        assert np.abs(rows[index] + schedule.first_position - wanted).max() <= MOCAP_PER_IMAGE / 2


def test_streams_start_apart(schedule):
    assert len(set(schedule.clock.first_video_frame.values())) > 1
    assert len({offset.mocap_start for offset in schedule.offsets.values()}) == 2
    assert any(offset.mocap_start != 1 for offset in schedule.offsets.values())


def test_the_mocap_can_start_long_before_the_cameras():
    early = schedule_of("Box", 40, 0, mocap_first=True)
    assert early.clock.mocap_start > 5
    assert early.first_position == 1


def test_the_first_toolkit_frames_repeat_a_picture(schedule):
    for name in CAMERAS:
        start = schedule.clock.video_index(name, 1)
        rows = schedule.shown(name)
        assert len(set(rows[start : start + LAST_REPEATED])) == 1
        assert (np.diff(rows[start + LAST_REPEATED :]) == MOCAP_PER_IMAGE).all()


def test_partitions_are_disjoint_and_inside(schedule):
    (first, middle), (after, last) = schedule.partition["Validate"], schedule.partition["Train"]
    assert first == LAST_REPEATED + 1
    assert first < middle < after == middle + 1 < last == schedule.n_frames
    assert schedule.positions[-1] == len(schedule.mocap())


def test_gaps_fall_into_both_halves():
    missing = draw_gaps([str(k) for k in range(39)], 400, np.random.default_rng(0))
    assert missing.shape == (400, 39)
    assert missing[:200].any()
    assert missing[200:].any()
    assert missing.any(axis=1).mean() < 0.15
