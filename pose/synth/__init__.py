"""A synthetic data set in the HumanEva-I on-disk format: modelled bodies in generated or captured motion.

`synthesize` writes one. `motion` makes a body move, or puts a clip read by `motion_files` on it. `mocap` and `pictures`
record the motion with markers and cameras. `cast` draws the subjects, `schedule` the start of each stream. `takes`
writes one trial or video, `work` all of them in processes, and `writer` puts the folder together.
"""

from pose.synth.settings import DEFAULT_FRAMES, MASKS
from pose.synth.writer import MANIFEST, NOTICE, ProgressCallback, synthesize

__all__ = ["DEFAULT_FRAMES", "MANIFEST", "MASKS", "NOTICE", "ProgressCallback", "synthesize"]
