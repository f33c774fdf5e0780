"""What is special over a WebSocket: when the socket is kept for the next turn, and when not."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from lab.harness import Running, running
from latchway_client import AsyncWebSocketClient, TurnFailed, WebSocketClient
from library.asking import asked

WHOLE: dict[str, Any] = {"events": ["created", {"completed": {}}]}
FAILED: dict[str, Any] = {"events": ["created", {"failed": "server_error"}]}
LIMITED: dict[str, Any] = {"events": ["created", {"incomplete": {"reason": "x"}}]}
CLOSES: dict[str, Any] = {"events": ["created", {"completed": {}}, {"close": 1001}]}

KEPT = {
    "after a result": (WHOLE, 1),
    "after an incomplete one": (LIMITED, 1),
    "after a failure": (FAILED, 2),
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


def test_a_secure_address_stays_secure() -> None:
    assert WebSocketClient("https://127.0.0.1/v1/", "key")._url == "wss://127.0.0.1/v1/responses"
