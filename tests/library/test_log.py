"""What is logged: each end with its ids, and nothing of what was said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from latchway_client import Decision, Reason, Result, log
from library.test_ends import FAILURE

RESULT = Result(
    status="completed",
    reason=None,
    text="Said.",
    response_id="resp_1",
    request_ids=("req_a",),
    response={"output": "Said."},
)

LINES = [
    (RESULT, "turn completed, response resp_1, request req_a"),
    (
        FAILURE,
        "turn failed: error_event, code server_error, status 500, after_output=True, "
        "response resp_1, request req_a, req_b",
    ),
    (replace(RESULT, request_ids=()), "turn completed, response resp_1, request None"),
    (
        replace(RESULT, response_id="r\nturn completed", request_ids=("a\x1b[2J",)),
        "turn completed, response r?turn completed, request a?[2J",
    ),
]


@pytest.mark.parametrize(("end", "line"), LINES)
def test_an_end_is_a_line(caplog: pytest.LogCaptureFixture, end: Result, line: str) -> None:
    with caplog.at_level("INFO", logger="latchway_client"):
        log.ended(end)
    assert caplog.messages == [line]


def test_a_failure_is_a_warning_and_the_rest_is_information(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level("INFO", logger="latchway_client"):
        log.ended(RESULT)
        log.ended(FAILURE)
        log.decided(Decision(Reason.OUTPUT_SEEN))
        log.decided(Decision(Reason.ALLOWED, 1.0))
    levels = [record.levelname for record in caplog.records]
    assert levels == ["INFO", "WARNING", "INFO", "INFO"]
    assert caplog.messages[3].startswith("new request allowed: allowed (")
    assert caplog.messages[2].startswith("new request refused: output_seen (output was seen")
