"""The documentation says what the code says: pages that are made from tables are up to date."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from latchway.cli import COMMANDS
from latchway.log.metrics import Metrics
from latchway.serve.plain import PATHS
from latchway.turn.decide import Verdict
from latchway.wire.errors import TABLE
from latchway.wire.meaning import KINDS
from repo.tree import ROOT, SOURCE, TESTS, name_of, python_files, text_of, tracked_files

DOCS = ROOT / "docs"
RULE = re.compile(r"(?<![\w-])R\d{1,2}(?:\.\d{1,2})?\b")
HEADINGS = {"R1", "R2"}
"""Rules that are a table of their own."""
INVARIANT = re.compile(r"\bI-[A-Z]\d{1,2}\b")
PAGE = re.compile(r"\b([\w-]+\.md)\b")


def _printer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("print_docs", ROOT / "tools" / "print_docs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PRINTER = _printer()


@pytest.mark.parametrize("name", [*PRINTER.PAGES, *PRINTER.PARTS])
def test_a_printed_page_is_what_would_be_printed(name: str) -> None:
    assert text_of(DOCS / name) == PRINTER.page(name), "say `make docs`"


def test_every_error_code_is_documented() -> None:
    page = text_of(DOCS / "errors.md")
    assert [code for code in TABLE if f"`{code}`" not in page] == []


def test_every_error_code_says_what_to_do_and_no_other_does() -> None:
    assert list(PRINTER.ADVICE) == list(TABLE)


def test_every_event_that_is_not_output_has_its_class_in_the_guide() -> None:
    page = text_of(DOCS / "streaming.md")
    assert [
        name for name, kind in KINDS.items() if f"| `{name}` | {kind.value} |" not in page
    ] == []


def test_every_verdict_is_documented() -> None:
    page = text_of(DOCS / "the-rule.md")
    assert [verdict.value for verdict in Verdict if f"`{verdict.value}`" not in page] == []


def test_every_command_is_in_the_guide() -> None:
    page = text_of(DOCS / "commands.md")
    assert [name for name in COMMANDS if f"`latchway {name}" not in page] == []


def test_every_rule_that_is_cited_is_in_the_list() -> None:
    page = text_of(DOCS / "rules.md")
    cited = {
        rule
        for path in [*python_files(SOURCE), *python_files(TESTS)]
        for rule in RULE.findall(text_of(path))
    }
    assert {rule for rule in cited if not re.search(rf"\| {re.escape(rule)} \|", page)} <= HEADINGS


def test_every_invariant_that_is_cited_is_in_the_list() -> None:
    page = text_of(DOCS / "rules.md")
    cited = {
        invariant
        for path in [*python_files(SOURCE), *python_files(TESTS)]
        for invariant in INVARIANT.findall(text_of(path))
    }
    assert {each for each in cited if f"| {each} |" not in page} == set()


def test_the_source_cites_no_page_that_is_not_here() -> None:
    pages = {path.name for path in tracked_files() if path.suffix == ".md"}
    cited = {
        f"{name_of(path)}: {page}"
        for path in python_files(SOURCE)
        for page in PAGE.findall(text_of(path))
        if page not in pages
    }
    assert cited == set()


def test_every_path_is_in_the_guide() -> None:
    page = text_of(DOCS / "http.md")
    stems = {row.pattern.pattern.split("/(?P")[0] for row in PATHS}
    assert {stem for stem in stems if stem not in page} == set()


def test_every_family_of_metrics_is_in_the_guide() -> None:
    page = text_of(DOCS / "operating.md")
    shown = Metrics(("m",), ("r",)).render().decode()
    families = re.findall(r"^# TYPE (latchway_\w+)", shown, re.MULTILINE)
    assert families
    assert [name for name in families if f"`{name}" not in page] == []


def test_every_decision_has_its_four_parts() -> None:
    parts = ("**Context.**", "**Decision.**", "**What it gives.**", "**What we gave up.**")
    missing = [
        f"{name_of(path)}: {part}"
        for path in (DOCS / "decisions").glob("0*.md")
        for part in parts
        if part not in text_of(path)
    ]
    assert missing == []
