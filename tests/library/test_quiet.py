"""Straight against a scripted server: every end without a result is a failure, however quiet.

A gateway mends some of these. A client that is used with any server meets them as they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from clients.upstreams import Nowhere
from lab.harness import Running, running
from latchway_client import How
from library.asking import ASK, EVERY, IMPATIENT, OVER_HTTP, OVER_SOCKET

START = ["created", "in_progress"]
HALF = [*START, "item", {"text": "Half"}]
CALL = {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": ""}
WHOLE = {"object": "response", "id": "resp_9", "status": "completed", "output": []}
BUSY = {"error": {"code": "server_is_overloaded", "message": "Busy."}}


def event(type: str, **members: Any) -> dict[str, Any]:
    return {"event": {"type": type, **members}}


@dataclass(frozen=True)
class End:
    """`reply`: the server's. `means`: facts of the failure, by the names of its fields."""

    name: str
    reply: dict[str, Any]
    means: dict[str, Any]
    clients: tuple[str, ...] = EVERY
    impatient: bool = False


def ends(name: str, *steps: Any, clients: tuple[str, ...] = EVERY, **means: Any) -> End:
    return End(name, {"events": list(steps)}, means, clients)


def answer(name: str, said: int, body: Any, **means: Any) -> End:
    headers = means.pop("headers", {})
    reply = {"status": said, "body": body, "headers": headers}
    return End(name, reply, {"after_output": False, **means}, OVER_HTTP)


BEFORE = {"after_output": False, "text": ""}
AFTER = {"after_output": True, "text": "Half"}
UNKNOWN = {"retryable": None, "code": None}

BROKEN = [
    ends("no event", clients=OVER_HTTP, how=How.CLEAN_END, **BEFORE, **UNKNOWN),
    ends("clean end, held", *START, {"end": "clean"}, clients=OVER_HTTP, how=How.CLEAN_END,
         **BEFORE, **UNKNOWN),
    ends("clean end, text", *HALF, {"end": "clean"}, clients=OVER_HTTP, how=How.CLEAN_END,
         **AFTER, **UNKNOWN),
    ends("done, held", *START, "done", "silence", clients=OVER_HTTP, how=How.CLEAN_END,
         **BEFORE, **UNKNOWN),
    ends("done, text", *HALF, "done", "silence", clients=OVER_HTTP, how=How.CLEAN_END,
         **AFTER, **UNKNOWN),
    ends("cut, held", *START, {"end": "cut"}, how=How.BROKEN, **BEFORE, **UNKNOWN),
    ends("cut, text", *HALF, {"end": "cut"}, how=How.BROKEN, **AFTER, **UNKNOWN),
    ends("reset, held", *START, {"wait": 0.05}, "reset", how=How.BROKEN, **BEFORE, **UNKNOWN),
    ends("reset, text", *HALF, {"wait": 0.05}, "reset", how=How.BROKEN, **AFTER, **UNKNOWN),
    End("no head", {"no_head": True, "events": ["reset"]}, {"how": How.BROKEN, **BEFORE, **UNKNOWN},
        OVER_HTTP),
    End("no handshake", {"no_head": True, "events": ["reset"]},
        {"how": How.NOT_CONNECTED, **BEFORE, "retryable": True}, OVER_SOCKET),
    *(
        ends(f"closed {code}, {name}", *steps, {"close": code}, clients=OVER_SOCKET,
             how=How.CLOSED, close_code=code, retryable=retryable, **means)
        for name, steps, means in (("held", START, BEFORE), ("text", HALF, AFTER))
        for code, retryable in ((1000, None), (1001, None), (1011, None), (1008, False),
                                (1009, False))
    ),
]  # fmt: skip

TOLD = [
    ends("failed, held", *START, {"failed": "server_error"}, how=How.FAILED_EVENT,
         code="server_error", retryable=True, **BEFORE),
    ends("failed, text", *HALF, {"failed": "server_error"}, how=How.FAILED_EVENT,
         code="server_error", retryable=True, **AFTER),
    ends("failed with usage", *START, {"failed": {"code": "server_error", "input": 3, "output": 0}},
         how=How.FAILED_EVENT, retryable=False, **BEFORE),
    ends("error nested", *START, {"error": {"code": "slow_down", "retry_after": 7}},
         how=How.ERROR_EVENT, code="slow_down", retryable=True, retry_after=7.0, **BEFORE),
    ends("error flat", *HALF, {"error": {"code": "slow_down", "message": "Slowly.", "flat": True}},
         how=How.ERROR_EVENT, code="slow_down", message="Slowly.", **AFTER),
    ends("error with a status", *START, {"error": {"code": "strange", "status": 503}},
         how=How.ERROR_EVENT, code="strange", status=503, retryable=True, **BEFORE),
    ends("error that marks itself", *START, {"error": {"code": "server_error", "retryable": False}},
         how=How.ERROR_EVENT, retryable=False, **BEFORE),
    ends("pair", {"error": "insufficient_quota"}, {"failed": "insufficient_quota"},
         how=How.ERROR_EVENT, code="insufficient_quota", retryable=False, **BEFORE),
    ends("error without a type", {"data": json.dumps(BUSY)}, clients=OVER_HTTP,
         how=How.ERROR_EVENT, code="server_is_overloaded", message="Busy.", **BEFORE),
    ends("completed that failed", *START,
         event("response.completed", response={"id": "resp_1", "status": "failed", "error": None}),
         how=How.FAILED_EVENT, retryable=None, **BEFORE),
    ends("output is a tool call", *START, event("response.output_item.added", item=CALL),
         {"failed": "server_error"}, how=How.FAILED_EVENT, after_output=True, text=""),
    ends("output of an unknown type", *START, event("response.telepathy"),
         {"failed": "server_error"}, how=How.FAILED_EVENT, after_output=True, text=""),
    ends("neutral events are none", "keepalive", event("ping"), *START, event("codex.rate_limits"),
         {"failed": "server_error"}, how=How.FAILED_EVENT, **BEFORE),
    ends("output that is no JSON", *START, {"data": "{"}, {"failed": "server_error"},
         clients=OVER_HTTP, how=How.FAILED_EVENT, after_output=True, text=""),
    ends("a comment as data is none", *START, {"data": ": hi"}, {"failed": "server_error"},
         clients=OVER_HTTP, how=How.FAILED_EVENT, **BEFORE),
]  # fmt: skip

ANSWERED = [
    answer("200, JSON error", 200, BUSY, how=How.NO_STREAM, status=200, retryable=True,
           code="server_is_overloaded", message="Busy."),
    answer("200, whole response", 200, WHOLE, how=How.NO_STREAM, retryable=False,
           response_id="resp_9"),
    answer("200, HTML", 200, "<html>Sorry</html>", how=How.NO_STREAM, retryable=None),
    answer("429", 429, BUSY, how=How.HTTP_STATUS, status=429, retryable=True, retry_after=12.0,
           headers={"retry-after": "12"}, code="server_is_overloaded"),
    answer("429, quota", 429, {"error": {"code": "insufficient_quota"}}, how=How.HTTP_STATUS,
           retryable=False),
    answer("503 without a word", 503, "", how=How.HTTP_STATUS, status=503, retryable=True),
    answer("500", 500, {"error": {"message": "Oh."}}, how=How.HTTP_STATUS, retryable=None,
           message="Oh."),
    answer("500, may be sent again", 500, {}, how=How.HTTP_STATUS, retryable=True,
           headers={"x-should-retry": "true"}),
    answer("503, may not", 503, {}, how=How.HTTP_STATUS, retryable=False,
           headers={"x-should-retry": "false"}),
    answer("504", 504, {}, how=How.HTTP_STATUS, status=504, retryable=None),
    answer("400", 400, {"error": {"code": 17}}, how=How.HTTP_STATUS, code="17", retryable=False),
    answer("request ids", 500, {"request_id": "req_b"}, how=How.HTTP_STATUS,
           headers={"x-request-id": "req_a"}, request_ids=("req_a", "req_b")),
    End("handshake refused", {"status": 503, "headers": {"x-request-id": "req_a"}},
        {"how": How.HTTP_STATUS, "status": 503, "retryable": True, "request_ids": ("req_a",),
         **BEFORE}, OVER_SOCKET),
]  # fmt: skip

SILENT = [
    End(f"silent, {name}", {"events": [*steps, "silence"]},
        {"how": How.TIMED_OUT, **means, **UNKNOWN}, impatient=True)
    for name, steps, means in (("at once", [], BEFORE), ("held", START, BEFORE),
                               ("text", HALF, AFTER))
]  # fmt: skip

ENDS = [*BROKEN, *TOLD, *ANSWERED, *SILENT]


@pytest.fixture(scope="module")
def lab() -> Iterator[Running]:
    """A server with a model for each end."""
    usual = [end for end in ENDS if not needs_its_own(end)]
    routes = [{"when": {"model": e.name}, "calls": [e.reply]} for e in usual]
    handshake = {"calls": [{"events": []}]}
    with running({"routes": [*routes, handshake]}) as lab:
        yield lab


def needs_its_own(end: End) -> bool:
    """A handshake names no model: its reply must be for every call."""
    return end.clients == OVER_SOCKET and ("status" in end.reply or "no_head" in end.reply)


@pytest.mark.parametrize(
    ("end", "client"),
    [(end, client) for end in ENDS for client in end.clients if not needs_its_own(end)],
    ids=lambda each: each.name if isinstance(each, End) else each,
)
def test_an_end_without_a_result_is_a_failure(lab: Running, end: End, client: str) -> None:
    before = len(lab.lab.calls)
    played(lab, end, client)
    assert len(lab.lab.calls) == before + 1, "sent again"


@pytest.mark.parametrize("client", OVER_SOCKET)
@pytest.mark.parametrize("end", [e for e in ENDS if needs_its_own(e)], ids=lambda e: e.name)
def test_a_handshake_that_fails_is_a_failure(end: End, client: str) -> None:
    with running([end.reply]) as lab:
        played(lab, end, client)
        assert len(lab.lab.calls) == 1, "sent again"


def played(lab: Running, end: End, client: str) -> None:
    """One turn, and what it means."""
    ask = (IMPATIENT if end.impatient else ASK)[client]
    heard = ask(f"http://127.0.0.1:{lab.port}/v1", model=end.name)
    assert heard.result is None
    assert {name: getattr(heard.failure, name) for name in end.means} == end.means
    assert heard.saw_output[-1:] in ([], [end.means["after_output"]])


@pytest.mark.parametrize("client", EVERY)
def test_nobody_there_is_a_failure_in_which_nothing_was_sent(client: str) -> None:
    nowhere = Nowhere()
    heard = ASK[client](f"http://127.0.0.1:{nowhere.refusing}/v1")
    nowhere.close()
    assert heard.failure is not None
    assert (heard.failure.how, heard.failure.retryable) == (How.NOT_CONNECTED, True)


LIMITED = {"id": "resp_1", "status": "incomplete", "output": [],
           "incomplete_details": {"reason": "content_filter"}}  # fmt: skip

RESULTS = {
    "completed": (
        [*START, {"say": "All of it."}, {"completed": {}}],
        "completed",
        None,
        "All of it.",
    ),
    "without output": ([*START, {"completed": {}}], "completed", None, ""),
    "incomplete": (
        [*HALF, {"incomplete": {"reason": "max_output_tokens"}}],
        "incomplete",
        "max_output_tokens",
        "Half",
    ),
    "completed that is incomplete": (
        [*HALF, event("response.completed", response=LIMITED)],
        "incomplete",
        "content_filter",
        "Half",
    ),
    "nothing after its end counts": (
        [*START, {"completed": {}}, {"failed": "server_error"}],
        "completed",
        None,
        "",
    ),
    "the body need not end": ([*START, {"completed": {}}, "silence"], "completed", None, ""),
}


@pytest.mark.parametrize("client", EVERY)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_told_with_its_reason(name: str, client: str) -> None:
    steps, status, reason, text = RESULTS[name]
    with running([{"events": steps}]) as lab:
        heard = ASK[client](f"http://127.0.0.1:{lab.port}/v1")
    assert heard.result is not None, heard.failure
    assert (heard.result.status, heard.result.reason) == (status, reason)
    assert heard.result.text == text
    assert heard.types[-1] in ("completed", "incomplete")
