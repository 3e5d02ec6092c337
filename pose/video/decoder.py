"""All pictures of a video that FFmpeg can decode."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import av

_MAX_DECODERS = 64
"""Largest number of decoders, one for each core, that may hold a picture or a fault when the packets end."""


def decoded_pictures(
    container: av.container.InputContainer,
    stream: av.VideoStream,
    fault: Callable[[str], None],
    see: Callable[[av.Packet[Any]], None] = lambda packet: None,  # noqa: ARG005
) -> Iterator[av.VideoFrame]:
    """Decode packet by packet. Faults go to `fault`, and decoding goes on with the next packet.

    Parameters
    ----------
    container, stream
        As PyAV opens them.
    fault : callable
        Takes the reason why a packet, or all that follows, cannot be decoded.
    see : callable
        Takes each packet before it is decoded.
    """
    packets = container.demux(stream)
    while True:
        try:
            packet = next(packets)
        except StopIteration:
            return
        except av.FFmpegError as error:
            fault(str(error.strerror or error))
            return
        see(packet)
        try:
            yield from packet.decode()
        except av.FFmpegError as error:
            fault(str(error.strerror or error))
        if not packet.size:
            yield from held_back(stream, fault)


def held_back(stream: av.VideoStream, fault: Callable[[str], None]) -> Iterator[av.VideoFrame]:
    """The pictures that the decoder still holds after the last packet."""
    for _ in range(_MAX_DECODERS):
        try:
            for frame in stream.codec_context.decode(None):
                frame.time_base = stream.time_base  # which a frame without a packet lacks
                yield frame
            return
        except av.EOFError:
            return
        except av.FFmpegError as error:
            fault(str(error.strerror or error))
