"""The tables and figures, one module each, with the cells that they measure."""
