"""The actions that can be generated, by the names that the data set gives them."""

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

#: Makes a motion of a body, some frames long at 120 Hz; another source of motion is another entry of `ACTIONS`.
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

#: Those that stay in one place and face one way, x: what they face is for the scene to decide.
ON_THE_SPOT = ("Box", "Gestures")
#: How often somebody does it the other way round: most people are right-handed, and go either way round a room.
MIRRORED_ODDS = {"Walking": 0.5, "Jog": 0.5}
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
