"""The file formats of the release, one per module."""
