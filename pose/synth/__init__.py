"""A synthetic data set in the HumanEva-I on-disk format, from our own body and motion.

`synthesize` writes one. Beneath it: `body` (lengths and girths), `motion`, `gait`, `boxing` and `actions` (what the
body does), `markers` and `mocap` (what motion capture records of it), `figure`, `room` and `rendering` (what cameras
see of it), `trial` and `writer` (streams and files).
"""

from pose.synth.writer import DEFAULT_FRAMES, NOTICE, Progress, synthesize

__all__ = ["DEFAULT_FRAMES", "NOTICE", "Progress", "synthesize"]
