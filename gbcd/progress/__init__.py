"""The course of a solve: its limits, its trace, its checkpoint and its result."""
