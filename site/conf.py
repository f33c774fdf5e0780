"""How `make site` turns docs/ into pages that are read from a folder, with no network.

The pages stay plain Markdown with relative links, so that they read the same in a repository's
browser. There is one navigation, the lists of docs/README.md: the sidebar is made from them here.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

project = "latchway"
author = "the latchway authors"
project_copyright = ""
html_title = "latchway"

extensions = ["myst_parser"]
root_doc = "README"
myst_heading_anchors = 4
"""Anchors as a repository's browser makes them, for every heading that a link can name."""

nitpicky = True
suppress_warnings = ["misc.highlighting_failure"]
"""A block may hold `…` where nothing is said; tests/docs runs or checks every block."""

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_theme_options = {"footer_icons": []}

SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
ENTRY = re.compile(r"^- \[[^\]]*\]\(([\w/-]+)\.md\)", re.MULTILINE)

TREE = """
```{{toctree}}
:hidden:
:caption: {caption}

{pages}
```
"""


def navigation(text: str) -> str:
    """The sidebar of a page that lists others: a group for each section that has entries."""
    _, *parts = SECTION.split(text)
    groups = [
        (part, ENTRY.findall(body)) for part, body in zip(parts[::2], parts[1::2], strict=True)
    ]
    return "".join(
        TREE.format(caption=caption, pages="\n".join(pages)) for caption, pages in groups if pages
    )


def _with_navigation(_: Sphinx, name: str, source: list[str]) -> None:
    if name.rpartition("/")[2] == root_doc:
        source[0] += navigation(source[0])


def _with_index(app: Sphinx, failure: Exception | None) -> None:
    """A folder is opened by its index: the first page once more under that name."""
    if failure is None and app.builder.name == "html":
        shutil.copyfile(Path(app.outdir, f"{root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _with_navigation)
    app.connect("build-finished", _with_index)
