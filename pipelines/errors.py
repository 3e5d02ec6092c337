"""What the command line turns into exit code 2."""


class UsageError(ValueError):
    """The person asked for something that cannot be: a wrong option, path or config; the message says what to do."""


PIPE_OR_DEVICE = "is a pipe or a device, save it as a file first"
"""The fault of an input that can be read only once, where the program reads it twice."""
