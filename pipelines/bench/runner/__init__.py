"""Running benchmarks: processes, locks, stored results, reports."""
