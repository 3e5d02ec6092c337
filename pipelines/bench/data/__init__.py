"""The data that benchmarks measure on."""
