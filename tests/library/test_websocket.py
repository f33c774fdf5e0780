"""What is special over a WebSocket: when the socket is kept for the next turn, and when not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, ConnectionClosedOK
from websockets.frames import Close

from lab.harness import Running, running
from latchway_client import AsyncWebSocketClient, How, TurnFailed, WebSocketClient
from latchway_client.websocket import broken_by
from library.asking import asked

WHOLE: dict[str, Any] = {"events": ["created", {"completed": {}}]}
FAILED: dict[str, Any] = {"events": ["created", {"failed": "server_error"}]}
HALF: dict[str, Any] = {"events": ["created", "silence"]}
LIMITED: dict[str, Any] = {"events": ["created", {"incomplete": {"reason": "x"}}]}
TWICE: dict[str, Any] = {"events": ["created", {"completed": {}}, {"completed": {}}]}
CLOSES: dict[str, Any] = {"events": ["created", {"completed": {}}, {"close": 1001}]}

KEPT = {
    "after a result": (WHOLE, 1),
    "after an incomplete one": (LIMITED, 1),
    "after a failure": (FAILED, 2),
    "after a result that came twice": (TWICE, 2),
    "after the server closed it": (CLOSES, 2),
}


def url_of(lab: Running) -> str:
    return f"http://127.0.0.1:{lab.port}/v1"


def sockets(lab: Running) -> int:
    return len({call.connection for call in lab.lab.calls})


@pytest.mark.parametrize("name", KEPT)
def test_a_socket_is_kept_after_a_result_alone(name: str) -> None:
    first, wanted = KEPT[name]
    with running([first, WHOLE]) as lab, WebSocketClient(url_of(lab), "key") as client:
        turn(client)
        if first is CLOSES and client._socket is not None:
            with pytest.raises(ConnectionClosed):
                client._socket.recv()
        if first is TWICE and client._socket is not None:
            assert client._socket.ping().wait()  # its answer comes behind all that was sent
        assert turn(client) == "completed"
        assert sockets(lab) == wanted


@pytest.mark.parametrize("name", KEPT)
def test_so_is_an_async_one(name: str) -> None:
    first, wanted = KEPT[name]

    async def two_turns(lab: Running) -> None:
        async with AsyncWebSocketClient(url_of(lab), "key") as client:
            await async_turn(client)
            if first is CLOSES and client._socket is not None:
                with pytest.raises(ConnectionClosed):
                    await client._socket.recv()
            if first is TWICE and client._socket is not None:
                await (await client._socket.ping())
            assert await async_turn(client) == "completed"

    with running([first, WHOLE]) as lab:
        asyncio.run(two_turns(lab))
        assert sockets(lab) == wanted


def turn(client: WebSocketClient) -> str:
    try:
        return client.send(**asked({})).status
    except TurnFailed as failed:
        return failed.how


async def async_turn(client: AsyncWebSocketClient) -> str:
    try:
        return (await client.send(**asked({}))).status
    except TurnFailed as failed:
        return failed.how


def test_the_handshake_has_the_key_and_the_callers_headers() -> None:
    with running([WHOLE]) as lab:
        with WebSocketClient(url_of(lab), "secret", headers={"x-mine": "1"}) as client:
            client.send(**asked({}))
        call = lab.over()
    headers = call.headers
    assert (headers["authorization"], headers["x-mine"]) == ("Bearer secret", "1")
    assert call.json["type"] == "response.create"


URLS = {
    "https://127.0.0.1/v1/": "wss://127.0.0.1/v1/responses",
    "ws://http.example/v1": "ws://http.example/v1/responses",
    "wss://http.example/v1": "wss://http.example/v1/responses",
}


@pytest.mark.parametrize("base_url", URLS)
def test_the_scheme_alone_is_changed(base_url: str) -> None:
    assert WebSocketClient(base_url, "key")._url == URLS[base_url]


def test_a_second_turn_waits_for_the_end_of_the_first() -> None:
    with running([HALF, WHOLE]) as lab, WebSocketClient(url_of(lab), "key") as client:
        with client.stream(**asked({})) as first:
            next(iter(first))
            with pytest.raises(RuntimeError, match="still open"):
                client.send(**asked({}))
        assert turn(client) == "completed"


def test_so_does_that_of_an_async_one() -> None:
    async def two_turns(url: str) -> None:
        async with AsyncWebSocketClient(url, "key") as client:
            async with client.stream(**asked({})) as first:
                await anext(aiter(first))
                with pytest.raises(RuntimeError, match="still open"):
                    await client.send(**asked({}))
            assert await async_turn(client) == "completed"

    with running([HALF, WHOLE]) as lab:
        asyncio.run(two_turns(url_of(lab)))


def test_a_turn_that_has_its_result_stands_in_nobodys_way() -> None:
    with running([WHOLE, WHOLE]) as lab, WebSocketClient(url_of(lab), "key") as client:
        with client.stream(**asked({})) as first:
            assert len(list(first)) == 2
            assert turn(client) == "completed"
        assert sockets(lab) == 1


THEIRS = ConnectionClosedOK(Close(1000, "bye"), Close(1000, ""), True)
ONE_SIDED = ConnectionClosedOK(Close(1000, "bye"), None)
ECHOED = ConnectionClosedError(Close(1007, ""), Close(1007, "no UTF-8"), False)
NO_CLOSE = ConnectionClosedError(None, None)
FAULTS: list[tuple[Exception, How, int | None]] = [
    (THEIRS, How.CLOSED, 1000),
    (ONE_SIDED, How.CLOSED, 1000),
    (ECHOED, How.BROKEN, None),
    (NO_CLOSE, How.BROKEN, None),
    (TimeoutError(), How.TIMED_OUT, None),
]


@pytest.mark.parametrize(("fault", "how", "code"), FAULTS)
def test_what_a_fault_means(fault: Exception, how: How, code: int | None) -> None:
    stop = broken_by(fault)
    assert (stop.how, stop.close_code) == (how, code)
