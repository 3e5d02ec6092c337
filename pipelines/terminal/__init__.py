"""The terminal: where a command writes, and what becomes of its errors and of signals."""
