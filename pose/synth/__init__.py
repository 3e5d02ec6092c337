"""A synthetic data set in the HumanEva-I on-disk format, from our own bodies and from generated or captured motion.

`synthesize` writes one. Beneath it: `body` (lengths and girths), `motion`, `gait`, `stance`, `boxing`, `gestures`,
`ballplay` and `actions` (what a generated body does), `motion_files` and `captured` (what a captured one does),
`markers` and `mocap` (what motion capture records of it), `figure`, `dress`, `rig`, `room` and `rendering` (what
cameras see of it), `cast`, `settings`, `trial`, `scene`, `work` and `writer` (who, what, streams, files, processes).
"""

from pose.synth.settings import DEFAULT_FRAMES, MASKS
from pose.synth.writer import MANIFEST, NOTICE, Progress, synthesize

__all__ = ["DEFAULT_FRAMES", "MANIFEST", "MASKS", "NOTICE", "Progress", "synthesize"]
