"""The machine is the same whatever else is loaded: results of another one are not gone on with."""

import subprocess
import sys

SCRIPT = """
from pipelines.bench.runner.machine import this_machine
alone = this_machine()
assert alone["blas"], alone
import cv2
assert this_machine() == alone, this_machine()
"""


def test_opencv_is_no_part_of_the_machine():
    assert subprocess.run([sys.executable, "-c", SCRIPT], check=False).returncode == 0
