"""The file formats of the release, one a module."""
