"""What cannot be played is refused, each fault with file, line, path and what would be right."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from latchway.lab import checked, reading
from latchway.lab.asked import Asked
from latchway.lab.reading import ScriptError
from latchway.lab.steps import STEPS


def faults_of(data: Any) -> str:
    with pytest.raises(ScriptError) as error:
        checked.parse(data)
    return str(error.value)


FAULTS: list[tuple[Any, str]] = [
    (3, "script: must be a mapping, not 3"),
    (None, "script: must be a mapping, not nothing"),
    ([], "script: must not be empty"),
    ({}, "needs either calls (a list of replies) or routes"),
    ({"calls": [{}], "routes": []}, "needs either calls"),
    ({"calls": {}}, "calls: must be a list, not a mapping"),
    ({"routes": [{"when": {"model": "m"}}]}, "routes[0]: needs calls"),
    (
        {"routes": [{"when": {"modle": "m"}, "calls": [{}]}]},
        "when.modle: is not known here; did you mean",
    ),
    ({"calls": [{}], "models": [1]}, "models[0]: must be a text, not 1"),
    ([{"evens": []}], "[0].evens: is not known here; did you mean events?"),
    ([{"status": 99}], "[0].status: must be 200 to 599, not 99"),
    ([{"status": "503"}], "[0].status: must be a whole number"),
    ([{"status": True}], "[0].status: must be a whole number"),
    ([{"split": 1.5}], "[0].split: must be a whole number"),
    ([{"delay": -1}], "[0].delay: must be 0 to 86400"),
    ([{"delay": float("nan")}], "[0].delay: must be seconds"),
    ([{"crlf": "yes"}], "[0].crlf: must be true or false, not 'yes'"),
    ([{"framing": "gzip"}], "[0].framing: must be one of chunked, length, close, not 'gzip'"),
    ([{"headers": {"a b": "c"}}], "[0].headers.a b: is no name of a header"),
    ([{"headers": {"a": "b\r\nc: d"}}], "[0].headers.a: must be printable ASCII"),
    ([{"headers": []}], "[0].headers: must be a mapping, not a list"),
    ([{"events": [], "body": ""}], "[0]: takes one of events, body and echo"),
    ([{"body": {1, 2}}], "[0].body: {1, 2} is nothing that JSON can say"),
]


@pytest.mark.parametrize(("data", "message"), FAULTS)
def test_each_fault_is_named(data: Any, message: str) -> None:
    assert message in faults_of(data)


def test_a_file_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_bytes(b"#" * (reading.MAX_SCRIPT_BYTES + 1))
    with pytest.raises(ScriptError, match="is over 4194304 bytes"):
        checked.load(file)


def test_nothing_of_that_name() -> None:
    with pytest.raises(ScriptError, match=r"no such file, and no ready script .* healthy, silent"):
        checked.load("helthy")


def test_what_is_no_text_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ScriptError, match="cannot be read"):
        checked.load(file)
    with pytest.raises(ScriptError, match="cannot be read"):
        checked.load(tmp_path)


@pytest.mark.parametrize(
    "name", ["healthy", "fails-before-output", "breaks-after-text", "silent", "error-then-failed"]
)
def test_the_ready_scripts_can_be_played(name: str) -> None:
    script = checked.load(name)
    assert name in checked.shipped()
    assert script.branch_for(Asked("any model")) == 0


DOCS = (Path(__file__).parents[2] / "docs" / "lab.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", DOCS, re.DOTALL))
def test_the_guides_scripts_can_be_played(text: str) -> None:
    assert checked.parse(reading.parse_yaml(text, "docs/lab.md")).branches


def test_the_guide_names_all_that_can_be_said() -> None:
    said = [*checked.REPLY_FIELDS, *checked.CONTENT_FIELDS, "no_head", *STEPS, *checked.shipped()]
    assert [name for name in said if not re.search(rf"`{name}\b", DOCS)] == []
