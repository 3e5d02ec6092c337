"""The HTML report of an evaluation: one file that opens offline, on a laptop or a phone, in light or dark."""

from pipelines.evaluation.page.build import save_page

__all__ = ["save_page"]
