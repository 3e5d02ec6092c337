"""One solve: its problem, its limits, its record and its result.

`problem` is what is solved, `tolerance` says when it is solved, `limits` when a solve stops short. `trace` records the
iterations, and `saved_coefficients` keeps what a stopped solve continues from. `solve_run` puts these together for the
solvers, and `restarts` is the loop that several solvers share. `choice` is what a solver chose, `convergence_warning`
the sentence of a solve that stops short, `result` what `gbcd.solve` returns.
"""
