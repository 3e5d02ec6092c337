"""One solve under way, and what comes of it.

`problem` says what is solved, and whether it is (the tolerance), `limits` when else to stop, `trace` what iterations
have reached, `saved_coefficients` what a stopped solve goes on from. `solve_run` puts these together for the solvers,
and `restarts` is the loop that several of them share. `choice` is what a solver chose, `convergence_warning` the
sentence of a solve that stops short, `result` what `gbcd.solve` returns.
"""
