"""The HumanEva-I release: calibration, clocks, motion capture and frames."""
