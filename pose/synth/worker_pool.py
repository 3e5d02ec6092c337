"""Making a data set in this process or in several, with progress and an orderly stop."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Event
from pathlib import Path
from types import ModuleType
from typing import Any

import cv2

from pose.errors import UnfinishedError
from pose.synth.settings import Settings
from pose.synth.takes import Take, Video, takes, videos, write_take, write_video

Table = dict[str, dict[str, dict[str, list[int]]]]
#: Interval between two looks at the workers' counts, s.
_POLL = 0.3


class _StopError(RuntimeError):
    """Another job failed, or the run is to end."""


class Work:
    """Makes trials and videos under a root.

    Parameters
    ----------
    root : Path
        Root of the data set.
    settings : Settings
        What to make; finished parts are skipped.
    jobs : int
        Number of processes; with 1 all is done in this process.
    on_progress : callable, optional
        See `pose.synth.writer.ProgressCallback`.
    """

    def __init__(
        self, root: Path, settings: Settings, jobs: int, on_progress: Callable[[int, int, str], None] | None
    ) -> None:
        self._root, self._settings, self._jobs = root, settings, jobs
        self._on_progress = on_progress
        self._videos = [video for video in videos(settings) if not (root / video.path).exists()]
        per_video = settings.n_frames
        self._total = max(len(videos(settings)) * per_video, 1)
        self._reported = -1
        self._kept = self._total - len(self._videos) * per_video

    def run(self) -> Table:
        """Make all that is missing; returns the table of partitions."""
        several = self._jobs > 1 and len(self._videos) > 1
        spans = self._in_processes() if several else self._in_this_process()
        self._report(self._total, "all")
        table: Table = {actor.name: {} for actor in self._settings.cast}
        for take, span in spans.items():
            table[take.actor.name][f"{take.action} {take.number}"] = span
        return table

    def _report(self, done: int, what: str) -> None:
        done = min(done, self._total)
        if self._on_progress is not None and done > self._reported:
            self._reported = done
            self._on_progress(done, self._total, what)

    def _in_this_process(self) -> dict[Take, dict[str, list[int]]]:
        spans = {take: write_take(self._root, self._settings, take) for take in takes(self._settings)}
        for number, video in enumerate(self._videos):
            write_video(self._root, self._settings, video, lambda: None)
            self._report(self._kept + (number + 1) * self._settings.n_frames, video.path.name)
        return spans

    def _in_processes(self) -> dict[Take, dict[str, list[int]]]:
        # Every worker is a new interpreter: a fork of this one would inherit locks, but not the threads that hold them.
        context = multiprocessing.get_context("spawn")
        drawn, stop = context.Value("q", 0), context.Event()
        pool = ProcessPoolExecutor(self._jobs, context, _start_worker, (drawn, stop))
        try:
            with _without_main():  # submitting starts the processes
                planned = {
                    pool.submit(write_take, self._root, self._settings, take): take for take in takes(self._settings)
                }
                pending: set[Future[Any]] = set(planned)
                pending |= {pool.submit(_draw, self._root, self._settings, video) for video in self._videos}
            while pending:
                done, pending = wait(pending, timeout=_POLL, return_when=FIRST_COMPLETED)
                for future in done:
                    future.result()
                self._report(self._kept + min(drawn.value, self._total), "frames")
            return {take: future.result() for future, take in planned.items()}
        except BrokenProcessPool as error:
            raise UnfinishedError(
                "a drawing process ended unexpectedly (killed, or out of memory); run again to go on, with fewer jobs"
            ) from error
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep processes that start in the body from running the caller's script.

    A new process imports that script as its main module, to find functions there, which these workers do not need. A
    script without ``if __name__ == "__main__"`` would begin to make the data set again in each process.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


_drawn: Synchronized[int] | None = None
_stop: Event | None = None


def _start_worker(drawn: Synchronized[int], stop: Event) -> None:
    """Prepare a worker: it stops when told to, not at the terminal's interrupt, and OpenCV uses one thread in it."""
    global _drawn, _stop
    _drawn, _stop = drawn, stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    cv2.setNumThreads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent is killed; otherwise it would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _draw(root: Path, settings: Settings, video: Video) -> None:
    write_video(root, settings, video, _tick)


def _tick() -> None:
    if _stop is not None and _stop.is_set():
        raise _StopError("stopped: another part of the work failed, or the run was ended")
    if _drawn is not None:
        with _drawn.get_lock():
            _drawn.value += 1
