"""Data of the benchmarks: simulated problems, and data sets read from files."""
