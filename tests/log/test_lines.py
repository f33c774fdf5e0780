"""The process's log: one line of JSON an event, whatever stands in it."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from latchway.log import lines


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What goes to standard error once the log is set up; the loggers are put back afterwards."""
    root, chatty = logging.getLogger(), [logging.getLogger(name) for name in lines.CHATTY]
    before = (root.handlers[:], root.level, [each.level for each in chatty])
    error = io.StringIO()
    monkeypatch.setattr(sys, "stderr", error)
    lines.set_up()
    yield error
    root.handlers[:], level, levels = before
    for logger, its_level in zip([root, *chatty], [level, *levels], strict=True):
        logger.setLevel(its_level)


def read(written: io.StringIO) -> list[dict[str, Any]]:
    text = written.getvalue()
    assert text.isascii()
    assert text.replace("\n", "").isprintable()
    return [json.loads(line) for line in text.splitlines()]


HOSTILE = [
    "two\nlines", "carriage\rreturn", "\x1b[2Jescape", "\0", "\u2028\u2029\u0085", "\ud800",
    "\u202eright to left", '"}\n{"level":"forged"}', "%s %d", "\x7f", "\U0001f600",
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_is_said_is_one_line(text: str, written: io.StringIO) -> None:
    logging.getLogger("latchway.test").warning("said %s", text)
    (line,) = read(written)

    assert line["message"] == f"said {text}"
    assert (line["level"], line["logger"]) == ("warning", "latchway.test")
    assert line["at"].endswith("Z")
    assert set(line) == {"at", "level", "logger", "message"}


def test_a_fault_is_told_with_its_traceback_on_the_same_line(written: io.StringIO) -> None:
    try:
        raise LookupError("two\nlines")
    except LookupError as fault:
        logging.getLogger("latchway.test").error("broke", exc_info=fault)
    (line,) = read(written)

    assert line["fault"].startswith("Traceback")
    assert line["fault"].endswith("LookupError: two\nlines")


def test_a_line_has_a_bound_and_keeps_the_end_of_a_traceback(written: io.StringIO) -> None:
    try:
        raise LookupError("x" * 100_000 + "the end")
    except LookupError as fault:
        logging.getLogger("latchway.test").error("y" * 100_000, exc_info=fault)
    (line,) = read(written)

    assert len(line["message"]) == lines.MESSAGE_CHARACTERS
    assert len(line["fault"]) == lines.FAULT_CHARACTERS
    assert line["fault"].endswith("the end")


def test_what_is_told_and_what_is_not(written: io.StringIO) -> None:
    logging.getLogger("latchway.test").debug("not told")
    logging.getLogger("asyncio").info("not told")
    logging.getLogger("websockets.server").info("not told")
    logging.getLogger("latchway.test").info("told")
    logging.getLogger("asyncio").warning("told")
    assert [line["message"] for line in read(written)] == ["told", "told"]
