"""Opening Matlab's ``.mat`` files (v5 to v7), with one error for all that can be wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pose.errors import DataError


def load_mat(path: Path) -> dict[str, Any]:
    """The variables of a file by name.

    Raises
    ------
    DataError
        If it cannot be read, or is of another kind.
    """
    import scipy.io  # costs 20 MB, and few need it

    try:
        content: dict[str, Any] = scipy.io.loadmat(path, struct_as_record=False)
    except NotImplementedError as error:
        raise DataError(f"{path}: is a Matlab v7.3 file; save it again with save(..., '-v7')") from error
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    except Exception as error:  # scipy raises many kinds on a foreign file
        raise DataError(f"{path}: is not a readable .mat file ({' '.join(str(error).split())})") from error
    return content
