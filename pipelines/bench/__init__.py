"""Benchmarks: tables of measurements, one module each, every measurement in a process of its own.

A benchmark is a function from a size and the catalogue of problems to tables, listed in
`pipelines.bench.runner.run`; its cells name the task that measures them, of
`pipelines.bench.tasks` or of its own module.
"""
