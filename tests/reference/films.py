"""Small films of a figure that walks before a still scene, for tests that need videos and no data set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]
HEIGHT, WIDTH = 90, 120
RATE = 25


def scene(height: int = HEIGHT, width: int = WIDTH) -> Image:
    """A still room, darker than the figure."""
    cells = np.random.default_rng(0).integers(20, 90, (5, 7, 3), dtype=np.uint8)
    return np.asarray(cv2.resize(cells, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.uint8)


def figure(step: int, column: int = 40, scale: float = 1.0, height: int = HEIGHT, width: int = WIDTH) -> Image:
    """The silhouette of a figure in mid-stride, 0 or 255; `step` turns its limbs."""
    mask = np.zeros((height, width), np.uint8)
    swing = 9 * np.sin(step / 4)
    x = column + step % 30

    def at(dx: float, y: float) -> tuple[int, int]:
        return round(x + scale * dx), round(8 + scale * (y - 8))

    cv2.circle(mask, at(0, 16), round(6 * scale), 255, -1)
    thick = max(1, round(7 * scale))
    for line in (((0, 22), (0, 46)), ((0, 46), (swing, 76)), ((0, 46), (-swing, 76)), ((0, 26), (12 - swing, 42))):
        cv2.line(mask, at(*line[0]), at(*line[1]), 255, thick)
    return mask


def picture(step: int, *masks: Image, height: int = HEIGHT, width: int = WIDTH) -> Image:
    """The scene with the figure of a step, or with those of `masks`."""
    image = scene(height, width)
    for mask in masks or (figure(step, height=height, width=width),):
        image[mask > 0] = (60, 160, 230)
    return image


def walk(n: int, height: int = HEIGHT, width: int = WIDTH) -> list[Image]:
    """`n` pictures of the figure walking."""
    return [picture(step, height=height, width=width) for step in range(n)]


def write_film(
    path: Path,
    pictures: Iterable[Image],
    codec: str = "ffv1",
    pix_fmt: str = "bgr0",
    times: Sequence[int] | None = None,
    options: dict[str, str] | None = None,
    container_format: str | None = None,
) -> Path:
    """A video, lossless by default; `times` in milliseconds where they are not those of the rate."""
    images = list(pictures)
    with av.open(str(path.absolute()), "w", format=container_format) as container:
        stream = container.add_stream(codec, rate=RATE, options=options or {})
        stream.height, stream.width = images[0].shape[:2]
        stream.pix_fmt = pix_fmt
        if times is not None:
            stream.codec_context.time_base = Fraction(1, 1000)
        layout = {2: "gray", 3: "bgr24", 4: "bgra"}
        for number, image in enumerate(images):
            kind = layout[image.ndim if image.ndim == 2 else image.shape[2]]
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image), format=kind)
            if times is not None:
                frame.pts, frame.time_base = times[number], Fraction(1, 1000)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
    return path


def packet_spans(path: Path) -> list[tuple[int, int]]:
    """Where each picture's bytes lie in a file: offset and size, in the order of the file."""
    with av.open(str(path)) as container:
        return sorted((packet.pos, packet.size) for packet in container.demux(video=0) if packet.size)
