"""What cannot be played is refused, each fault with file, line, path and what would be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from latchway.lab import checked, reading
from latchway.lab.asked import Asked
from latchway.lab.reading import ScriptError
from latchway.lab.script import Event, Repeat, Reset


def faults_of(data: Any) -> str:
    with pytest.raises(ScriptError) as error:
        checked.parse(data)
    return str(error.value)


TENFOLD = ", ".join(["*a{0}"] * 10)
LAUGHS = "a0: &a0 [x]\n" + "".join(f"a{n + 1}: &a{n + 1} [{TENFOLD.format(n)}]\n" for n in range(9))
"""Ten lines of aliases that mean a thousand million values."""

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
    ([{"events": ["slience"]}], "[0].events[0]: 'slience' is no step; did you mean silence?"),
    ([{"events": [{"wait": 1, "text": "x"}]}], "[0].events[0]: a step has one key"),
    ([{"events": [7]}], "[0].events[0]: must be a mapping, not 7"),
    ([{"events": [{"wait": "1 s"}]}], "[0].events[0].wait: must be seconds, 0 to 86400, not '1 s'"),
    ([{"events": [{"text": 5}]}], "[0].events[0].text: must be a text, not 5; put it in quotes"),
    ([{"events": [{"reset": 3}]}], "[0].events[0].reset: takes no value"),
    ([{"events": [{"end": "soon"}]}], "must be one of clean, cut, not 'soon'"),
    ([{"events": [{"raw": {"base64": "!"}}]}], "raw.base64: is no base64"),
    ([{"events": [{"raw": {}}]}], "raw: must be a text, or base64"),
    ([{"events": [{"comment": "a\nb"}]}], "comment: must be one line"),
    ([{"events": [{"close": 1006}]}], "close: 1006 is never sent; end: cut closes without"),
    ([{"events": [{"close": {"reason": "x"}}]}], "close: needs code"),
    ([{"events": [{"close": {"code": 1000, "reason": "x" * 124}}]}], "may have 123 bytes"),
    ([{"events": [{"ping": "x" * 124}]}], "ping: may have 123 bytes"),
    ([{"events": ["failed"]}], "events[0]: must be a code or a mapping with code"),
    ([{"events": [{"error": {"cod": "x"}}]}], "error.cod: is not known here; did you mean code?"),
    ([{"events": [{"error": {"status": "500"}}]}], "error.status: must be a whole number"),
    ([{"events": [{"completed": {"input": "x"}}]}], "completed.input: must be a whole number"),
    ([{"events": [{"repeat": {"times": 2}}]}], "repeat: needs times and events"),
    ([{"events": [{"repeat": {"times": 0, "events": []}}]}], "times: must be 1 to 1e+06, not 0"),
]


@pytest.mark.parametrize(("data", "message"), FAULTS)
def test_each_fault_is_named(data: Any, message: str) -> None:
    assert message in faults_of(data)


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
        ("[" * 5000, "is nested too deeply"),
        (LAUGHS, f"more than {reading.MAX_SCRIPT_NODES} values"),
    ],
)
def test_what_is_no_script_is_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "script.yaml"
    file.write_text(text)
    with pytest.raises(ScriptError) as error:
        checked.load(file)
    assert message in str(error.value)


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


def test_repeats_nest_to_a_depth() -> None:
    step: Any = "created"
    for _ in range(4):
        step = {"repeat": {"times": 2, "events": [step]}}
    (reply,) = checked.parse([{"events": [step]}]).branches[0].replies
    assert isinstance(reply.steps[0], Repeat)
    assert "4 deep at most" in faults_of([{"events": [{"repeat": {"times": 2, "events": [step]}}]}])


@pytest.mark.parametrize(
    "name", ["healthy", "fails-before-output", "breaks-after-text", "silent", "error-then-failed"]
)
def test_the_ready_scripts_can_be_played(name: str) -> None:
    script = checked.load(name)
    assert name in checked.shipped()
    assert script.branch_for(Asked("any model")) == 0
