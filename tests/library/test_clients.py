"""`send`: it sends again as far as the decision and the limits allow, and never after output."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from lab.harness import Running, running
from latchway_client import (
    AsyncSseClient,
    AsyncWebSocketClient,
    Calls,
    Event,
    Limits,
    Reason,
    Result,
    SseClient,
    TurnFailed,
    WebSocketClient,
)
from library.asking import EVERY, asked

BUSY = {"events": ["created", {"error": {"code": "slow_down", "retry_after": 3}}]}
ODD = {"events": ["created", {"error": "something_new"}]}
HALF = {"events": ["created", "item", {"text": "Half"}, {"failed": "server_error"}]}
WHOLE = {"events": ["created", {"say": "Done."}, {"completed": {}}]}

TWICE = Limits(resends=2)


class Sender:
    """A client whose waits are written down instead of waited. Sync or async, asked alike."""

    def __init__(self, kind: str, lab: Running) -> None:
        self.kind, self.url = kind, f"http://127.0.0.1:{lab.port}/v1"
        self.waits: list[float] = []

    def send(self, **request: Any) -> Result:
        if self.kind.startswith("async"):
            return asyncio.run(self._send_async(**asked(request)))
        make: Any = {"sse": SseClient, "websocket": WebSocketClient}[self.kind]
        with make(self.url, "key") as client:
            client.pause = self.waits.append
            result: Result = client.send(**asked(request))
            return result

    async def _send_async(self, **request: Any) -> Result:
        kinds: Any = {"async sse": AsyncSseClient, "async websocket": AsyncWebSocketClient}

        async def pause(seconds: float) -> None:
            self.waits.append(seconds)

        async with kinds[self.kind](self.url, "key") as client:
            client.pause = pause
            result: Result = await client.send(**request)
            return result


def refused(sender: Sender, **request: Any) -> TurnFailed:
    with pytest.raises(TurnFailed) as caught:
        sender.send(**request)
    return caught.value


@pytest.mark.parametrize("kind", EVERY)
def test_a_turn_that_fails_before_output_is_sent_again_within_the_limits(kind: str) -> None:
    with running([BUSY, WHOLE]) as lab:
        sender = Sender(kind, lab)
        assert sender.send(limits=TWICE).text == "Done."
        assert len(lab.lab.calls) == 2
    assert sender.waits == [3.0]


Asked = tuple[dict[str, Any], dict[str, Any], Reason, int]

REFUSED: dict[str, Asked] = {
    "no limits": (BUSY, {}, Reason.LIMIT_REACHED, 1),
    "the limit": (BUSY, {"limits": TWICE}, Reason.LIMIT_REACHED, 3),
    "a long wait": (BUSY, {"limits": Limits(2, longest_wait=2.9)}, Reason.WAIT_TOO_LONG, 1),
    "output": (HALF, {"limits": TWICE}, Reason.OUTPUT_SEEN, 1),
    "unknown": (ODD, {"limits": TWICE}, Reason.RETRYABLE_UNKNOWN, 1),
    "stored": (BUSY, {"limits": TWICE, "store": True}, Reason.STORED, 1),
    "continued": (
        BUSY,
        {"limits": TWICE, "previous_response_id": "resp_1"},
        Reason.CONTINUED,
        1,
    ),
}


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("name", REFUSED)
def test_it_is_not_sent_again(name: str, kind: str) -> None:
    reply, request, reason, calls = REFUSED[name]
    with running([reply]) as lab:
        failed = refused(Sender(kind, lab), **request)
        assert len(lab.lab.calls) == calls
    assert failed.decision is not None
    assert failed.decision.reason is reason


@pytest.mark.parametrize("kind", EVERY)
def test_a_turn_of_which_a_call_was_acted_on_is_never_sent_again(kind: str) -> None:
    """A tool can be called before its call is seen: the provider runs it, and it is ours."""
    calls = Calls()
    calls.mark("call_1")
    with running([BUSY]) as lab:
        failed = refused(Sender(kind, lab), limits=TWICE, calls=calls)
        assert len(lab.lab.calls) == 1
    assert failed.decision is not None
    assert failed.decision.reason is Reason.CALL_ACTED_ON


@pytest.mark.parametrize("kind", EVERY)
def test_every_event_is_given_those_of_a_failed_request_too(kind: str) -> None:
    events: list[Event] = []
    note: Callable[[Event], None] = events.append
    with running([BUSY, WHOLE]) as lab:
        Sender(kind, lab).send(limits=TWICE, on_event=note)
    types = [event["type"] for event in events]
    assert types.count("response.created") == 2
    assert types[-1] == "response.completed"


CLIENTS = (SseClient, AsyncSseClient, WebSocketClient, AsyncWebSocketClient)


@pytest.mark.parametrize("kind", CLIENTS)
@pytest.mark.parametrize("key", ["secret\n", " secret", "secr\u00e9t"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(
    kind: Callable[[str, str], object], key: str
) -> None:
    with pytest.raises(ValueError, match="cannot carry") as refused:
        kind("http://127.0.0.1:1/v1", key)
    assert "secr" not in str(refused.value)
