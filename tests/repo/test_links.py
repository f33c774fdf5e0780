"""Every link in a Markdown file leads somewhere, and every page of docs/ can be found."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from repo.tree import ROOT, name_of, text_of, tracked_files

LINK = re.compile(r"\]\((?!https?://)([^)\s#]*)(?:#([^)\s]+))?\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
ENTRY = re.compile(r"^- \[[^\]]*\]\(([\w/-]+\.md)\)", re.MULTILINE)
"""What makes a line of a README.md one of the navigation (site/conf.py)."""


def links(page: Path) -> list[tuple[Path, str]]:
    """Where the page's links lead: the file, and the anchor in it or nothing."""
    found = LINK.findall(FENCE.sub("", text_of(page)))
    return [((page.parent / target).resolve() if target else page, to) for target, to in found]


@cache
def anchors(page: Path) -> frozenset[str]:
    """Those that a repository's browser, and the site, make from the headings."""
    words = (re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text) for text in _headings(page))
    return frozenset(re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in words)


def _headings(page: Path) -> list[str]:
    return HEADING.findall(FENCE.sub("", text_of(page)))


def _pages() -> list[Path]:
    return [path for path in tracked_files() if path.suffix == ".md"]


def test_no_link_leads_nowhere() -> None:
    dead = [
        f"{name_of(page)}: {target}"
        for page in _pages()
        for target, _ in links(page)
        if not target.exists()
    ]
    assert dead == []


def test_no_link_leads_to_a_heading_that_is_not_there() -> None:
    dead = [
        f"{name_of(page)}: {name_of(target)}#{anchor}"
        for page in _pages()
        for target, anchor in links(page)
        if anchor and target.suffix == ".md" and anchor not in anchors(target)
    ]
    assert dead == []


def test_every_page_is_once_in_the_navigation() -> None:
    listed = [
        (readme.parent / entry).resolve()
        for readme in (ROOT / "docs").rglob("README.md")
        for entry in ENTRY.findall(text_of(readme))
    ]
    pages = [path for path in _pages() if path.is_relative_to(ROOT / "docs")]
    assert sorted(listed) == sorted(set(pages) - {ROOT / "docs" / "README.md"})
