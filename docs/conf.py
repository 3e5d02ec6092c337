"""Settings of the site that `make docs` builds with Sphinx."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

project = "gbcd-pose"
author = "The gbcd-pose authors"
try:
    release = installed_version("gbcd-pose")
except PackageNotFoundError:  # read from a checkout that is not installed
    release = ""

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "command_line",  # this and the next two: docs/_ext/
    "plain_docstrings",
    "repository_pages",
]
exclude_patterns = ["_ext", "generated/gallery/*.ipynb", "generated/gallery/*.py"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

autosummary_generate = True
templates_path = ["_templates"]
# What classes inherit from scikit-learn and from int is described there.
autosummary_context = {
    "described_elsewhere": [
        *dir(int),
        "get_metadata_routing",
        "get_params",
        "score",
        "set_fit_request",
        "set_inverse_transform_request",
        "set_output",
        "set_params",
        "set_partial_fit_request",
        "set_predict_request",
        "set_score_request",
        "set_transform_request",
    ]
}
highlight_language = "text"  # of blocks that name none
smartquotes = False  # "--option" keeps its two hyphens
autodoc_typehints = "none"  # numpydoc shows the types that the docstrings name
numpydoc_show_class_members = False  # the template of a class lists them
numpydoc_xref_param_type = False

# The examples run while the site is built, and what they print and draw is shown.
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"versus_scikit_learn",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "capture_repr": (),  # what is printed, not the value of a last line
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "gbcd-pose"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": []}
copyright = author
