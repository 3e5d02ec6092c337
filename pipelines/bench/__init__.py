"""Benchmarks: tables of measurements, one module each, every measurement in a process of its own."""
