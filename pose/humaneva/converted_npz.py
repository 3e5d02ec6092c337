"""``data_3d_humaneva15.npz`` and ``data_2d_humaneva15_gt.npz``: HumanEva-I as VideoPose3D trains on it.

Both are pickled dictionaries, ``'Train/S1'`` -> ``'Walking 1 chunk0'`` -> joints. They are read on request only
(``allow_pickle``). Even then only dictionaries, lists and arrays are built: a pickle that asks for more is refused.
"""

from __future__ import annotations

import pickle
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from pose.body.skeleton import HUMANEVA_15
from pose.errors import DataError
from pose.humaneva.folders import SUBJECT
from pose.humaneva.partitions import PARTITION_NAMES
from pose.humaneva.trial import PELVIS_TO_HEAD
from pose.types import FloatArray, IntArray

MM_PER_METRE = 1000.0

_N_JOINTS = len(HUMANEVA_15)
_CHUNK = re.compile(r"^(?P<action>[A-Za-z]+) (?P<trial>\d{1,9}) chunk(?P<chunk>\d{1,9})$", re.ASCII)
#: Largest number of faults that a message lists.
_FAULTS_SHOWN = 5


@dataclass(frozen=True, eq=False)
class Chunk:
    """A run of valid frames of one trial.

    Parameters
    ----------
    partition, subject, action, trial : str, str, str, int
    chunk : int
        Number of the run. Runs of valid and of invalid frames are counted together, but only valid ones are kept, so
        numbers skip. `chunk_numbers` gives the frames of a run.
    joints : ndarray
        3D: (T, 15, 3), mm, world. 2D: (n_cameras, T, 15, 2), px, cameras in the order C1, C2, C3.
    """

    partition: str
    subject: str
    action: str
    trial: int
    chunk: int
    joints: FloatArray


def read_chunks_3d(path: str | Path, *, allow_pickle: bool = False) -> list[Chunk]:
    """Read ``data_3d_humaneva15.npz``, and convert its metres to mm.

    Parameters
    ----------
    path : path-like
    allow_pickle : bool
        Must be true: the file is a pickle, and is refused otherwise.

    Raises
    ------
    DataError
        If `allow_pickle` is false; if the file is missing, foreign or asks for more than arrays; or if chunks have
        wrong names, shapes or units, which the message lists.
    """
    path = Path(path)
    return _chunks(path, _read_pickled(path, "positions_3d", allow_pickle), _joints_3d)


def read_chunks_2d(path: str | Path, *, allow_pickle: bool = False) -> list[Chunk]:
    """Read ``data_2d_humaneva15_gt.npz``.

    Parameters and errors are those of `read_chunks_3d`.
    """
    path = Path(path)
    return _chunks(path, _read_pickled(path, "positions_2d", allow_pickle), _joints_2d)


def chunk_numbers(numbers: ArrayLike, valid: ArrayLike) -> dict[int, IntArray]:
    """The toolkit frames of every chunk that the conversion makes of a partition.

    Parameters
    ----------
    numbers : array-like of int, shape (n,)
        Toolkit frames of the partition, in order.
    valid : array-like of bool, shape (n,)
        Where every joint is known.

    Returns
    -------
    dict of int to ndarray
        Toolkit frames by chunk number; runs of invalid frames are left out, as in the file.
    """
    numbers, flags = np.asarray(numbers, dtype=np.int64), np.asarray(valid, dtype=bool)
    if numbers.shape != flags.shape or numbers.ndim != 1:
        raise ValueError(f"numbers and valid have the shapes {numbers.shape} and {flags.shape}, expected (n,) each")
    runs = [
        (is_valid, np.array([number for number, _ in run]))
        for is_valid, run in groupby(zip(numbers, flags, strict=True), key=lambda pair: bool(pair[1]))
    ]
    return {index: run for index, (is_valid, run) in enumerate(runs) if is_valid}


def _read_pickled(path: Path, name: str, allow_pickle: bool) -> dict[str, Any]:
    """The dictionary in a one-element object array of an ``.npz``."""
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    if not zipfile.is_zipfile(path):
        raise DataError(f"{path}: is not an .npz file")
    if not allow_pickle:
        raise DataError(
            f"{path}: is a pickle, and is not read unless you ask for it (allow_pickle=True): take it from sources you "
            "trust alone"
        )
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{name}.npy") as file:
            content = _unpickle(file)
    except KeyError:
        raise DataError(f"{path}: lacks {name}, so it is no file of VideoPose3D's") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except _DAMAGE as error:
        said = " ".join(str(error).split()) or type(error).__name__
        raise DataError(f"{path}: {name} cannot be read ({said})") from error
    if not isinstance(content, dict):
        raise DataError(f"{path}: {name} holds {type(content).__name__}, expected a dictionary of 'Train/S1', ...")
    return content


# Errors that foreign or damaged bytes may raise inside zipfile, numpy's header and the unpickler.
_DAMAGE = (
    pickle.UnpicklingError,
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    ValueError,
    TypeError,
    AttributeError,
    IndexError,
    ImportError,
    MemoryError,
    RuntimeError,  # an encrypted member; a method of compression that there is not (NotImplementedError)
)

# Module that rebuilds a pickled array, as files of numpy 1 and of numpy 2 name it.
_ARRAY_MODULES = ("numpy.core.multiarray", "numpy._core.multiarray")
# What a pickled array is made of, by module and name.
_ARRAY_PARTS: dict[tuple[str, str], Any] = {
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    # Numpy does not publish the functions that rebuild an array and a number: they are taken from an example of each.
    **{(module, "_reconstruct"): np.empty(0).__reduce__()[0] for module in _ARRAY_MODULES},
    **{(module, "scalar"): np.float64(0).__reduce__()[0] for module in _ARRAY_MODULES},
}


class _ArraysOnly(pickle.Unpickler):
    """Builds dictionaries, lists, strings, numbers and arrays; refuses everything else that a pickle asks for."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("_codecs", "encode"):  # how old protocols write the bytes of an array
            return _encode
        if (module, name) not in _ARRAY_PARTS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}, which no array needs")
        return _ARRAY_PARTS[module, name]


def _encode(text: str, encoding: str) -> bytes:
    """``codecs.encode`` for the one encoding that arrays need."""
    if encoding != "latin1":
        raise pickle.UnpicklingError(f"it asks for the encoding {encoding!r}")
    return text.encode("latin1")


def _unpickle(file: IO[bytes]) -> Any:
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(file)
    else:
        raise ValueError(f"array format {version}")
    if shape != () or dtype != np.dtype(object):
        raise ValueError(f"expected one object, found {dtype} of shape {shape}")
    array = _ArraysOnly(file, encoding="latin1").load()
    return array.item() if isinstance(array, np.ndarray) and array.size == 1 else array


def _chunks(path: Path, content: dict[str, Any], convert: Callable[[Any], FloatArray]) -> list[Chunk]:
    chunks: list[Chunk] = []
    faults: list[str] = []
    for key, trials in content.items():
        partition, _, subject = str(key).partition("/")
        if partition not in PARTITION_NAMES or not SUBJECT.match(subject) or not isinstance(trials, dict):
            faults.append(f"{key!r}: expected 'Train/S1', ... with a dictionary")
            continue
        for name, value in trials.items():
            match = _CHUNK.match(str(name))
            if match is None:
                faults.append(f"{key} {name!r}: expected a name like 'Walking 1 chunk0'")
                continue
            try:
                joints = convert(value)
            except ValueError as error:
                faults.append(f"{key} {name}: {error}")
                continue
            chunks.append(Chunk(partition, subject, match["action"], int(match["trial"]), int(match["chunk"]), joints))
    if not chunks and not faults:
        faults = ["holds no chunk: its conversion failed"]
    if faults:
        more = f"; and {len(faults) - _FAULTS_SHOWN} more" if len(faults) > _FAULTS_SHOWN else ""
        raise DataError(f"{path}: {'; '.join(faults[:_FAULTS_SHOWN])}{more}")
    return chunks


def _joints_3d(value: Any) -> FloatArray:
    joints = _numbers(value, 3)
    heights = np.linalg.norm(joints[:, HUMANEVA_15.names.index("head")] - joints[:, HUMANEVA_15.root], axis=1)
    median = float(np.median(heights)) * MM_PER_METRE
    if not PELVIS_TO_HEAD[0] < median < PELVIS_TO_HEAD[1]:
        raise ValueError(
            f"the head is {median / MM_PER_METRE:.3g} from the pelvis, so it is not in metres, or its joints are in "
            "another order"
        )
    return joints * MM_PER_METRE


def _joints_2d(value: Any) -> FloatArray:
    if not isinstance(value, list | tuple | np.ndarray) or len(value) == 0:
        raise ValueError("expected one array a camera")
    cameras = [_numbers(camera, 2) for camera in value]
    if len({camera.shape for camera in cameras}) > 1:
        raise ValueError(f"its cameras have {', '.join(str(len(camera)) for camera in cameras)} frames")
    return np.stack(cameras)


def _numbers(value: Any, n_axes: int) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind != "f" or array.ndim != 3 or array.shape[1:] != (_N_JOINTS, n_axes) or not len(array):
        raise ValueError(f"expected numbers of shape (n, {_N_JOINTS}, {n_axes}), found {array.dtype} {array.shape}")
    if not np.isfinite(array).all():
        raise ValueError("holds NaN")
    return array.astype(float)
