"""The actions that can be generated, by their names in the data set."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pose.errors import DataError
from pose.synth.body import Body
from pose.synth.motion.ball_play import play_ball
from pose.synth.motion.boxing import box
from pose.synth.motion.gait import JOGGING, WALKING, Gait, go, vary
from pose.synth.motion.gestures import gesticulate
from pose.synth.motion.motion import Motion

#: Makes a motion of a body, a number of frames long at 120 Hz. A new source of motion is a new entry of `ACTIONS`.
Generate = Callable[[Body, int, np.random.Generator], Motion]


def _gait(gait: Gait) -> Generate:
    return lambda body, n_frames, rng: go(body, vary(gait, rng), n_frames, rng)


ACTIONS: dict[str, Generate] = {
    "Walking": _gait(WALKING),
    "Jog": _gait(JOGGING),
    "Box": box,
    "Gestures": gesticulate,
    "ThrowCatch": play_ball,
}

#: Actions that stay in one place and face along x; the scene turns them.
ON_THE_SPOT = ("Box", "Gestures")
#: Probability that an action is mirrored: people go either way round a room.
MIRRORED_ODDS = {"Walking": 0.5, "Jog": 0.5}
#: Probability that any other action is mirrored: most people are right-handed.
LEFT_HANDED_ODDS = 0.1


def generate(action: str, body: Body, n_frames: int, rng: np.random.Generator) -> Motion:
    """A motion of `body`, `n_frames` at 120 Hz.

    Raises
    ------
    DataError
        If no action has that name.
    """
    if action not in ACTIONS:
        raise DataError(f"no synthetic action is called {action!r}; there are {', '.join(ACTIONS)}")
    return ACTIONS[action](body, n_frames, rng)
