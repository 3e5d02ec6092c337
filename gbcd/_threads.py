"""`n_jobs` as scikit-learn understands it."""

from __future__ import annotations

from numbers import Integral

import joblib
from joblib.parallel import get_active_backend


def thread_count(n_jobs: object) -> int:
    """Return how many threads `n_jobs` stands for.

    Parameters
    ----------
    n_jobs : int or None
        -1 is all cores this process may use, -2 all but one. None is all too, as it is for BLAS and OpenMP, but inside
        joblib (a worker of GridSearchCV, ``joblib.parallel_config``) what joblib says: its workers share the cores.

    Raises
    ------
    ValueError
        If it is zero or no integer.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be None or an integer other than 0, not {n_jobs!r}.")
    backend, configured = get_active_backend()
    if n_jobs is None and configured is None and not backend.nesting_level:
        n_jobs = -1
    return int(joblib.effective_n_jobs(n_jobs))
