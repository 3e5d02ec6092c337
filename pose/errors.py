"""The errors that data can cause; their text is one line a person can act on."""


class DataError(ValueError):
    """A file or folder does not hold what it should; the message names it, the fault and the place."""


class MissingFile(DataError):
    """A file or folder is not there; the rest of the data may still serve without it."""


class UnfinishedError(DataError):
    """A valid request that could not be finished, as on a full disk.

    The message says how to go on, and where finished work is kept if there is any.
    """
