"""From a frame to the mask of a person: background models, the clean-up of their masks, ready-made masks."""
