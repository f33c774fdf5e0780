"""Files that are none, or no YAML: one clear fault with a line, never a traceback."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.files import GOOD, findings, settings, with_part, write
from latchway.config import check
from latchway.config.faults import Report
from latchway.config.source import MAX_FILE_BYTES, read_tree

BAD_FILES = {
    "empty": ("", 1, "is empty"),
    "comments": ("# nothing\n", 1, "is empty"),
    "a list": ("- listen\n", 1, "must be a mapping"),
    "a word": ("listen", 1, "must be a mapping"),
    "a tab": ("turn:\n\thold_seconds: 1\n", 2, "a tab cannot indent"),
    "open bracket": ("listen: x\nturn: [1\n", 3, "in what begins in line 2"),
    "open quote": ("listen: x\nturn: '\n", 3, "is not YAML"),
    "a colon in a value": ("listen: a: b\n", 1, "needs quotes"),
    "two documents": ("---\nlisten: x\n---\nlisten: y\n", 3, "is not YAML"),
    "a control character": ("listen: x\nturn: \x00\n", 2, "control character"),
    "depth": ("turn: " + "[" * 2_000, 1, "nests too deeply"),
    "a mapping as a name": ("listen: x\n? {a: 1}\n: 2\n", 2, "must be a word"),
    "no name": ("listen: x\n: 2\n", 2, "must be a word"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_no_configuration(name: str, tmp_path: Path) -> None:
    text, line, message = BAD_FILES[name]
    told = [fault for fault in findings(tmp_path, text) if message in fault.message]
    assert [(fault.line, fault.severity) for fault in told] == [(line, "fault")]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    (fault,) = check(tmp_path / "none.yaml", {})
    assert str(fault).startswith(f"{tmp_path / 'none.yaml'}:1: cannot be read: No such file")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (fault,) = check(tmp_path, {})
    assert "cannot be read: Is a directory" in fault.message


def test_a_file_that_is_not_utf_8(tmp_path: Path) -> None:
    path = write(tmp_path, "")
    path.write_bytes(b"listen: x\nturn: \xff\n")
    (fault,) = check(path, {})
    assert (fault.line, fault.message) == (2, "is not UTF-8 here; save the file as UTF-8")


@pytest.mark.parametrize("extra", [0, 1])
def test_a_file_is_read_up_to_its_limit(extra: int, tmp_path: Path) -> None:
    text = GOOD + "#" * (MAX_FILE_BYTES - len(GOOD) + extra)
    told = [fault.message for fault in findings(tmp_path, text)]
    assert len(told) == extra
    assert all(message.startswith(f"is over {MAX_FILE_BYTES} bytes") for message in told)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    assert findings(tmp_path, "\ufeff" + GOOD) == []


def test_a_name_that_is_said_twice_is_a_fault_and_names_the_first(tmp_path: Path) -> None:
    (fault,) = findings(tmp_path, GOOD + "listen: 127.0.0.1:1\n")
    assert (fault.line, fault.path) == (21, "listen")
    assert fault.message == "is said a second time, first in line 1; keep one"


def test_a_name_that_is_said_twice_within_one_line(tmp_path: Path) -> None:
    (fault,) = findings(tmp_path, with_part("{failures: 5}", "{failures: 5, failures: 6}"))
    assert (fault.line, fault.path) == (19, "health.failures")


def test_an_alias_stands_for_its_anchors_value(tmp_path: Path) -> None:
    text = with_part("hold_seconds: 10", "hold_seconds: &ten 10\n  keepalive_seconds: *ten")
    assert settings(tmp_path, text).turn.keepalive_seconds == 10.0


def test_an_alias_within_itself_ends(tmp_path: Path) -> None:
    assert findings(tmp_path, with_part("turn:\n", "turn: &again\n  turn: *again\n")) != []


def test_an_anchor_may_be_given_anew(tmp_path: Path) -> None:
    text = with_part("{max_share: 1.0}", "{max_share: &x 1.0}")
    assert findings(tmp_path, text.replace("{failures: 5}", "{failures: &x 5}")) == []


@pytest.mark.parametrize("value", ["*sk-secret", "!sk-secret!x y", '"\\sk-secret"'])
def test_what_the_parser_quotes_is_not_told(value: str, tmp_path: Path) -> None:
    (fault,) = findings(tmp_path, with_part('"${KEY}"', value))
    assert fault.line == 6
    assert "secret" not in fault.message


@given(st.text(alphabet=":-#{}[]&*!|>'\"%@` \n\tab1", max_size=40))
def test_no_text_raises(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = Report("f", {})
        root = read_tree(write(Path(folder), text), report)
    assert (root is None) == bool(report.faults)


def test_the_tree_keeps_a_number_as_it_was_written(tmp_path: Path) -> None:
    root = read_tree(write(tmp_path, "shutdown_seconds: 0.10\n"), Report("f", {}))
    assert root is not None
    assert root.value[0][1].value == "0.10"
