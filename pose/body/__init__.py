"""The skeleton, the camera that sees it, and how both are drawn."""
