"""What the gateway takes for granted of its event loop."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import pytest
import uvloop


class Meeting(asyncio.Protocol):
    """Either end of a connection."""

    def __init__(self) -> None:
        self.made: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        end = transport.get_extra_info("socket")
        self.made.set_result(bool(end.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        transport.close()


@pytest.mark.parametrize("loop_factory", [uvloop.new_event_loop, asyncio.new_event_loop])
def test_no_connection_waits_for_more_to_send(
    loop_factory: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """An event of a stream is not kept back for the next one (TCP_NODELAY)."""

    async def meet() -> tuple[bool, bool]:
        loop = asyncio.get_running_loop()
        ours, theirs = Meeting(), Meeting()
        server = await loop.create_server(lambda: ours, "127.0.0.1", 0)
        await loop.create_connection(lambda: theirs, *server.sockets[0].getsockname())
        ends = await ours.made, await theirs.made
        server.close()
        await server.wait_closed()
        return ends

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        assert runner.run(meet()) == (True, True)
