"""The tables and figures, a module each: what is measured."""
