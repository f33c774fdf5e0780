"""The comparison finds a byte, a token, a call or a verdict that is not as it should be."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from servers.checking import differences
from servers.expected import COMPLETED, refused
from servers.playing import Played, Row
from servers.tap import Call
from servers.told import Told, blocks_of, data_of, of_body, of_events
from servers.vias import SOCKET, SSE

PRICES = (0.10, 0.40)
CHARGED = "0.000003300"
"""17 tokens in, 4 out."""
FREE = "0.000000000"

USAGE = {"input_tokens": 17, "output_tokens": 4}
RESPONSE = {"id": "resp_1", "status": "completed", "output": [], "usage": USAGE}
DONE = json.dumps({"type": "response.completed", "response": RESPONSE}).encode()
STREAM = b": ping\n\nevent: response.completed\ndata: " + DONE + b"\n\ndata: [DONE]\n\n"
ANSWER = Call(b"{}", "/v1/responses", 200, True, STREAM, whole=True)
REFUSAL = Call(b"{}", "/v1/responses", 422, False, b'{"detail": "no"}', whole=True)


def record(charged: str, **attempt: Any) -> dict[str, Any]:
    billing = {"charged": charged, "usage_source": "upstream"}
    return {
        "request_id": "req_1",
        "billing": billing,
        "attempts": [{"rule": None, "verdict": None, **attempt}],
    }


def told_over_sse(call: Call) -> Told:
    return of_events(200, blocks_of(call.answer), socket=False)


def told_over_socket(call: Call) -> Told:
    return of_events(None, [data_of(each) for each in blocks_of(call.answer)], socket=True)


GOOD = Row(
    Played("ask", SSE, COMPLETED, "[turn-1]", told_over_sse(ANSWER)),
    record(CHARGED),
    ([ANSWER], []),
)
GOOD_OVER_SOCKET = replace(
    GOOD, played=Played("ask", SOCKET, COMPLETED, "[turn-1]", told_over_socket(ANSWER))
)
REFUSED = Row(
    Played("ask", SSE, refused(422), "[turn-1]", of_body(422, REFUSAL.answer)),
    record(FREE, rule="R2.9", verdict="failure_final"),
    ([REFUSAL], []),
)

OTHER_ANSWER = replace(ANSWER, answer=STREAM.replace(b'"type": ', b'"type":'))
OTHER_USAGE = replace(ANSWER, answer=STREAM.replace(b"17", b"18"))

WRONG = {
    "an ending": (replace(GOOD, played=replace(GOOD.played, expected=refused(400))), CHARGED),
    "a byte": (replace(GOOD, calls=([OTHER_ANSWER], [])), CHARGED),
    "a byte of a refusal": (replace(REFUSED, calls=([replace(REFUSAL, answer=b"{}")], [])), FREE),
    "a second call": (replace(GOOD, calls=([ANSWER, ANSWER], [])), CHARGED),
    "a call elsewhere": (replace(GOOD, calls=([], [ANSWER])), CHARGED),
    "an answer that broke": (replace(GOOD, calls=([replace(ANSWER, whole=False)], [])), CHARGED),
    "a verdict": (replace(REFUSED, record=record(FREE, rule="R2.1", verdict="no_route")), FREE),
    "a token": (
        Row(
            replace(GOOD.played, told=told_over_sse(OTHER_USAGE)),
            record(CHARGED),
            ([OTHER_USAGE], []),
        ),
        CHARGED,
    ),
    "a charge": (replace(GOOD, record=record(FREE)), CHARGED),
    "a charge in the ledger": (GOOD, FREE),
    "a charge for nothing": (REFUSED, CHARGED),
}


def found(row: Row, charge: str) -> list[str]:
    return differences(row, PRICES, {"req_1": charge})


@pytest.mark.parametrize("row", [GOOD, GOOD_OVER_SOCKET, REFUSED], ids=["sse", "socket", "422"])
def test_what_is_as_it_should_be_is_not_found(row: Row) -> None:
    assert found(row, row.charged) == []


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_found(what: str) -> None:
    assert found(*WRONG[what]) != []
