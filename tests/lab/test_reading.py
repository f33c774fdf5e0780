"""YAML and JSON become values that know their line; what is neither is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from latchway.lab import checked, reading
from latchway.lab.reading import ScriptError
from latchway.lab.script import Event, Reset

TENFOLD = ", ".join(["*a{0}"] * 10)
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{TENFOLD.format(n)}]\n" for n in range(9))
"""Ten lines of aliases that mean a thousand million values."""


def test_all_faults_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text("- status: 200\n  events:\n    - created\n    - txt: hi\n- delay: long\n")
    with pytest.raises(ScriptError) as error:
        checked.load(file)
    assert str(error.value).splitlines() == [
        f"{file}:4: [0].events[1]: 'txt' is no step; did you mean text?",
        f"{file}:5: [1].delay: must be seconds, 0 to 86400, not 'long'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a: 1\n  a: 2\n", ":2: no valid YAML: found duplicate key"),
        ("- [", "no valid YAML"),
        ("- body: \x00\n", "no valid YAML"),
        ("- body: 2026-01-01\n", ":1: [0].body: 2026-01-01 is nothing that JSON can say"),
        ("[" * 1000, "is nested too deeply"),
        (LAUGHS, f"more than {reading.MAX_SCRIPT_NODES} values"),
    ],
)
def test_what_is_no_script_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    with pytest.raises(ScriptError) as error:
        checked.load(file)
    assert message in str(error.value)


def test_json_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('[\n\t{"events": [{"text": "h\\u00e9"}, "reset"]}\n]')
    (branch,) = checked.load(file).branches
    assert branch.replies[0].steps == (Event("text", "hé"), Reset())


def test_aliases_and_merges_are_followed(tmp_path: Path) -> None:
    file = tmp_path / "script.yaml"
    file.write_text("- &slow {delay: 1, events: [created]}\n- {<<: *slow, crlf: true}\n")
    first, second = checked.load(file).branches[0].replies
    assert (first.delay, first.crlf, second.delay, second.crlf) == (1.0, False, 1.0, True)
    assert first.steps == second.steps
