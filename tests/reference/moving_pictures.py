"""Videos of a moving pattern, written by our writer and read by OpenCV."""

import cv2
import numpy as np

from pose.video.writer import VideoWriter


def pictures(n=12, height=48, width=64):
    """A smooth pattern that moves a pixel a frame, so that no two frames are alike."""
    cells = np.random.default_rng(0).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    base = cv2.resize(cells, (width, height), interpolation=cv2.INTER_CUBIC)
    return [np.roll(base, shift, axis=1) for shift in range(n)]


def read_with_opencv(path):
    capture = cv2.VideoCapture(str(path))
    images = []
    while (step := capture.read())[0]:
        images.append(step[1])
    capture.release()
    return images


def write_mp4(path, images, rate=30.0, then=None):
    """With our writer; `then` is raised at the end."""
    with VideoWriter(path, images[0].shape[1], images[0].shape[0], rate) as writer:
        for image in images:
            writer.write(image)
        if then is not None:
            raise then
    return path
