"""What the command line turns into exit code 2."""


class UsageError(ValueError):
    """The person asked for something that cannot be: a wrong option, path or config; the message says what to do."""
