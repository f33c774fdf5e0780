"""A turn in the application's hands: left early, looked at early, asked for its calls."""

from __future__ import annotations

import asyncio

import pytest

from lab.harness import running
from latchway_client import (
    AsyncSseClient,
    AsyncWebSocketClient,
    SseClient,
    TurnFailed,
    WebSocketClient,
)
from library.asking import asked

CALL = {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": "{}"}
CALLED = {"event": {"type": "response.output_item.done", "item": CALL}}
TALKS = [{"events": ["created", CALLED, "silence"]}]

SYNC = {"sse": SseClient, "websocket": WebSocketClient}
ASYNC = {"async sse": AsyncSseClient, "async websocket": AsyncWebSocketClient}


@pytest.mark.parametrize("kind", SYNC)
def test_a_turn_that_is_left_is_ended(kind: str) -> None:
    with running(TALKS) as lab, SYNC[kind](f"http://127.0.0.1:{lab.port}/v1", "key") as client:
        with client.stream(**asked({})) as turn:
            for _ in turn:
                if turn.saw_output:
                    break
        assert lab.over().outcome == "left"


@pytest.mark.parametrize("kind", ASYNC)
def test_an_async_turn_that_is_left_is_ended(kind: str) -> None:
    async def leave(url: str) -> None:
        async with ASYNC[kind](url, "key") as client, client.stream(**asked({})) as turn:
            async for _ in turn:
                if turn.saw_output:
                    break

    with running(TALKS) as lab:
        asyncio.run(leave(f"http://127.0.0.1:{lab.port}/v1"))
        assert lab.over().outcome == "left"


def test_a_turn_tells_what_it_knows_at_any_moment() -> None:
    with (
        running(TALKS) as lab,
        SseClient(f"http://127.0.0.1:{lab.port}/v1", "key") as client,
        client.stream(**asked({})) as turn,
    ):
        events = iter(turn)
        next(events)
        assert (turn.saw_output, turn.text, turn.calls.begun) == (False, "", ())
        assert turn.response_id is not None
        next(events)
        assert turn.saw_output
        assert [call.name for call in turn.calls.hand_out()] == ["run"]
        assert turn.request_ids == ()
        with pytest.raises(RuntimeError, match="no result yet"):
            _ = turn.result


def test_a_turn_that_is_over_stays_as_it_ended() -> None:
    with (
        running([{"events": ["created", {"completed": {}}, {"failed": "late"}]}]) as lab,
        SseClient(f"http://127.0.0.1:{lab.port}/v1", "key") as client,
        client.stream(**asked({})) as turn,
    ):
        assert len(list(turn)) == 2
        assert list(turn) == []
        assert turn.result.completed


def test_a_turn_that_failed_has_no_result_but_its_failure() -> None:
    with (
        running([{"events": ["created", {"failed": "server_error"}]}]) as lab,
        SseClient(f"http://127.0.0.1:{lab.port}/v1", "key") as client,
        client.stream(**asked({})) as turn,
    ):
        with pytest.raises(TurnFailed):
            list(turn)
        with pytest.raises(TurnFailed) as again:
            _ = turn.result
    assert again.value.code == "server_error"
