"""A synthetic data set in the HumanEva-I on-disk format, from our own bodies and from generated or captured motion.

`synthesize` writes one. `motion` makes a body move, or puts a captured clip of `motion_files` on it; `mocap` and
`pictures` are what markers and cameras record of it. `cast` draws who is seen, `schedule` when each stream starts,
`takes` writes one trial or video, `work` all of them in processes, and `writer` puts the folder together.
"""

from pose.synth.settings import DEFAULT_FRAMES, MASKS
from pose.synth.writer import MANIFEST, NOTICE, ProgressCallback, synthesize

__all__ = ["DEFAULT_FRAMES", "MANIFEST", "MASKS", "NOTICE", "ProgressCallback", "synthesize"]
