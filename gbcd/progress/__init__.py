"""One solve under way, and what comes of it.

`problem` what is solved, `limits` when to stop, `trace` what each iteration has reached, `saved_coefficients` what a
stopped solve goes on from, `solve_run` these parts together (solvers get it), `choice` what a solver chose,
`convergence_warning` the sentence of a solve that stops short, `result` what `gbcd.solve` returns.
"""
