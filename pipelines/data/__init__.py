"""HumanEva trees: surveying, checking and synthesizing them."""
