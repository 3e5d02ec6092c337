"""The skeleton, and the camera that sees it."""
