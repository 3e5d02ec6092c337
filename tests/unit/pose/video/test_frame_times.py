"""Numbers of frames behind those that cannot be decoded."""

import pytest

from pose.video.frame_times import NumbersByTime


def number(events, rate=25.0):
    """Feed times (s), and None for a fault; returns what is given, and the numbering."""
    numbering = NumbersByTime(rate)
    given = []
    for event in events:
        if event is None:
            numbering.fault("Invalid data")
        else:
            given.append(numbering.place(event))
    return given, numbering


def at(*frames, rate=25.0, since=0.0):
    return [since + frame / rate for frame in frames]


def test_without_faults_they_are_counted_whatever_their_times():
    given, numbering = number([10.0, 10.5, 10.6, 13.0])
    assert [index for index, _ in given] == [0, 1, 2, 3]
    assert [time for _, time in given] == pytest.approx([0, 0.5, 0.6, 3.0])
    assert numbering.lacks(4) == []
    assert numbering.lacks(6) == ["ends after frame 4 of the 6 announced"]


def test_behind_a_fault_the_time_tells():
    """One faulty packet may take several frames with it, as those that refer to it."""
    given, numbering = number([*at(0, 1, 2, since=5), None, *at(6, 7, since=5)])
    assert [index for index, _ in given] == [0, 1, 2, 6, 7]
    (said,) = numbering.lacks(8)
    assert said.startswith("frames 3 to 5 (from 0) cannot be decoded (Invalid data)")


def test_at_a_variable_rate_each_fault_is_a_frame():
    given, numbering = number([0.0, 0.2, 0.21, None, None, 0.9])
    assert [index for index, _ in given] == [0, 1, 2, 5]
    assert numbering.lacks(0)[0].startswith("frames 3 to 4 (from 0)")


def test_a_picture_that_comes_too_late_is_left_out():
    given, _ = number([*at(0, 1), None, *at(6, 3, 7)])
    assert [place and place[0] for place in given] == [0, 1, 6, None, 7]


def test_faults_before_the_first_picture():
    given, numbering = number([None, None, *at(2, 3)])
    assert given == [(2, pytest.approx(0.08)), (3, pytest.approx(0.12))]
    assert numbering.lacks(4)[0].startswith("frames 0 to 1 (from 0) cannot be decoded")


def test_faults_to_the_end_and_pictures_that_are_made_up():
    _, numbering = number([*at(0, 1), None, None])
    numbering.damaged(1)
    assert numbering.lacks(4) == ["ends after frame 2 of the 4 announced, which is damaged (Invalid data)"]
    given, numbering = number(at(*range(40)))
    for index in (3, 4, 5, 10, 20, 30):
        numbering.damaged(index)
    assert numbering.lacks(40) == [
        "frames 3 to 5, 10, 20 and at 1 more places (from 0) are damaged: parts of these pictures are made up"
    ]
    assert len(given) == 40


def test_without_times_the_rate_tells():
    numbering = NumbersByTime(10.0)
    assert [numbering.place(None) for _ in range(3)] == [(0, 0.0), (1, 0.1), (2, 0.2)]
