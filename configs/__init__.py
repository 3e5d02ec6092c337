"""The TOML files of the experiments; they travel in the wheel."""
