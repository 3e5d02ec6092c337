"""Files of results, read without the code that wrote them."""

import csv

import h5py


def table(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def frames_of(path):
    """Frame numbers and times of a result."""
    rows = table(path)[::15]
    return [int(row["frame"]) for row in rows], [float(row["time_s"]) for row in rows]


def joints_of(path):
    with h5py.File(path) as file:
        return file["joints"][:], file["found"][:]
