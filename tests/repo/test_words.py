"""The repository speaks of itself alone: of no machine, no registry, and of nothing left undone."""

from __future__ import annotations

import re

import pytest

from repo.tree import name_of, text_of, tracked_files

UNDONE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")

PLACES = re.compile(r"(?<![\w.:/])/(home|root|Users|work|opt|tmp)/\w")
"""A path on somebody's machine."""

REGISTRIES = re.compile(
    r"py" r"pi\.org|pythonhos" r"ted|npm" r"js\.(org|com)|proxy\.gol" r"ang|crates\.i" r"o|"
    r"hugging" r"face\.co|--(extra-)?index-" r"url\s+http",
    re.IGNORECASE,
)  # fmt: skip

RULES = {
    "nothing is left undone": UNDONE,
    "no path of a machine": PLACES,
    "no registry": REGISTRIES,
}


@pytest.mark.parametrize("rule", RULES)
def test_no_file_says(rule: str) -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:60]}"
        for path in tracked_files()
        for number, line in enumerate(text_of(path).splitlines(), 1)
        if RULES[rule].search(line)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("nothing is left undone", "# TO" + "DO: later"),
        ("no path of a machine", 'open("/tm' + 'p/x")'),
        ("no registry", "https://py" + "pi.org/simple"),
    ],
)
def test_the_rule_would_find(rule: str, text: str) -> None:
    assert RULES[rule].search(text)
