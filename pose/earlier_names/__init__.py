"""Modules by their earlier names, for programs that import them: `pose.smoothing` is `pose.series.smoothing` now.

`pose` looks for its modules in this folder too.
"""
