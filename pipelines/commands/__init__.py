"""The commands, a file each: they parse, call a pipeline, and print."""
