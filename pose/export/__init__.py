"""Poses of a video as files for other tools, and back: CSV, NPZ, HDF5, JSON, TRC and C3D.

`read_series` and `write_series` choose the format by the file's suffix; `SeriesWriter` writes CSV and HDF5 in batches.
"""

from pose.export.csv_format import metadata_path, read_csv, write_csv, write_csv_metadata
from pose.export.formats import FORMATS, SeriesWriter, read_series, write_series
from pose.export.hdf5_format import read_hdf5, write_hdf5
from pose.export.timing import RATES

__all__ = [
    "FORMATS",
    "RATES",
    "SeriesWriter",
    "metadata_path",
    "read_csv",
    "read_hdf5",
    "read_series",
    "write_csv",
    "write_csv_metadata",
    "write_hdf5",
    "write_series",
]
