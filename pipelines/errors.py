"""The error that the command line turns into exit code 2."""


class UsageError(ValueError):
    """An option, a path or a setting is wrong; the message says what to do."""


PIPE_OR_DEVICE = "is a pipe or a device, save it as a file first"
"""End of an error message. The program reads the input twice; a pipe or a device can be read only once."""
