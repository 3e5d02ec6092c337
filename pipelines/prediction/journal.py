"""The journal of a prediction: results are kept batch by batch, so that a stopped run can go on.

It lies beside the results under a hidden name. The run that writes it holds a lock on it, and removes it when the
results are complete.

Layout: a header of 512 bytes, JSON padded with blanks, identifies the run. One record a frame follows, with a check
sum, since a run may end in the middle of a record.
"""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pipelines.streaming.stream import BATCH, FramePose
from pose.errors import DataError
from pose.files import is_still, take_lock

_HEADER = 512
"""Size of the header, bytes."""
_FORMAT = "pose-journal 1"
"""Name and version of the layout, in the header."""


class Journal:
    """The results of one video so far, in a file.

    Use it as a context manager: the file is locked inside, and removed at the end if it holds no whole batch.

    Parameters
    ----------
    path : Path
    run : str
        Digest of all that the results depend on; a journal of another run is begun anew.
    n_joints : int
    with_std : bool
        Whether records hold standard deviations.

    Raises
    ------
    DataError
        If the file cannot be written, or another run has locked it.
    """

    def __init__(self, path: Path, run: str, n_joints: int, with_std: bool) -> None:
        self.path = path
        fields: list[tuple[Any, ...]] = [("crc", "<u4"), ("quality", "<u4"), ("frame", "<i8"), ("time", "<f8")]
        fields += [("coverage", "<f8"), ("joints", "<f8", (n_joints, 3))]
        fields += [("std", "<f8", (n_joints, 3))] if with_std else []
        self._dtype = np.dtype(fields)
        record = {"format": _FORMAT, "run": run, "batch": BATCH, "joints": n_joints, "std": with_std}
        self._header = json.dumps(record).encode().ljust(_HEADER)
        self._file = -1
        self._n = 0

    def __len__(self) -> int:
        return self._n

    def __enter__(self) -> Self:
        try:
            self._file = self._open_locked()
            self._n = self._whole_batches()
            if self._n == 0:
                os.ftruncate(self._file, 0)
                os.lseek(self._file, 0, os.SEEK_SET)  # reading another run's header has moved the position
                self._write(self._header)
            else:
                os.ftruncate(self._file, _HEADER + self._n * self._dtype.itemsize)
                os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            self._close()
            raise self._unwritable(error) from error
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._n < BATCH:
            self.discard()
        self._close()

    def _open_locked(self) -> int:
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                if not take_lock(file):
                    raise DataError(f"{self.path.parent}: another run is writing the results {self.path.stem[1:]}")
                # The run that held the lock may have removed the file between our two calls.
                if is_still(file, self.path):
                    return file
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def _whole_batches(self) -> int:
        """Number of undamaged records of the same run, in whole batches."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            if file.read(_HEADER) != self._header:
                return 0
            n = 0
            size = BATCH * self._dtype.itemsize
            while len(content := file.read(size)) == size:
                records = np.frombuffer(content, self._dtype)
                if (records["crc"] != _check_sums(records)).any():
                    break
                n += BATCH
            return n

    def append(self, batch: list[FramePose]) -> None:
        """Keep the results of a batch.

        Raises
        ------
        DataError
            If the batch cannot be written; earlier batches stay.
        """
        records = np.zeros(len(batch), self._dtype)
        for name in self._dtype.names or ():
            if name != "crc":
                records[name] = [getattr(pose, name) for pose in batch]
        records["crc"] = _check_sums(records)
        try:
            self._write(records.tobytes())
        except OSError as error:
            raise self._unwritable(error) from error
        self._n += len(batch)

    def _write(self, content: bytes) -> None:
        rest = memoryview(content)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    def _unwritable(self, error: OSError) -> DataError:
        kept = f"; {self._n} frames are kept, the same command goes on behind them" if self._n else ""
        return DataError(f"{self.path}: cannot be written ({error.strerror or error}){kept}")

    def records(self) -> NDArray[Any]:
        """All results, mapped from the file; the fields are those of `FramePose`."""
        # As a plain array: indexing an np.memmap makes another memmap for every row.
        return np.memmap(self.path, self._dtype, "r", _HEADER, (self._n,)).view(np.ndarray)

    def discard(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.path.unlink()

    def _close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def _check_sums(records: NDArray[Any]) -> NDArray[np.uint32]:
    """CRC-32 of each record, without the check sum in its first four bytes."""
    size = records.dtype.itemsize
    content = memoryview(records.tobytes())
    sums = [zlib.crc32(content[at + 4 : at + size]) for at in range(0, len(content), size)]
    return np.array(sums, dtype=np.uint32)
