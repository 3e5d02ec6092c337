import joblib
import pytest

from gbcd.threads import thread_count


def test_as_scikit_learn_counts():
    cores = joblib.cpu_count()
    assert thread_count(3) == 3
    assert thread_count(-1) == thread_count(None) == cores
    assert thread_count(-2) == max(1, cores - 1)


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_a_worker_of_joblib_uses_one(backend):
    with joblib.Parallel(n_jobs=2, backend=backend) as workers:
        assert workers(joblib.delayed(thread_count)(n) for n in (None, None, 3)) == [1, 1, 3]


def test_what_joblib_is_told_holds():
    with joblib.parallel_config(backend="threading", n_jobs=5):
        assert thread_count(None) == 5


@pytest.mark.parametrize("n_jobs", [0, 1.5, "all", True])
def test_what_is_no_number_of_jobs_is_refused(n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be None or an integer other than 0, not"):
        thread_count(n_jobs)
