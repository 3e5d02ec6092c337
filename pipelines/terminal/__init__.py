"""The terminal: where a command writes, and how it ends on errors and signals."""
