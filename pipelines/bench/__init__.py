"""Benchmarks: tables of measurements, one module each, every measurement in a process of its own.

A benchmark is a function from a size and the catalogue of problems to tables. All are listed in
`pipelines.bench.runner.run`. Each cell of a table names the task that measures it, in `pipelines.bench.tasks` or in the
benchmark's own module.
"""
