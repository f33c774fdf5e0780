"""One connection: what has arrived is told first, a slow peer is waited for, a leaver is silent."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from latchway.turn.events import Answered
from latchway.upstreams.connection import Connection
from latchway.upstreams.limits import Limits
from latchway.upstreams.responses import Attempt, ResponsesUpstreams
from upstreams.said import COMPLETED, CREATED, DELTA, JSON_ERROR, STREAM, head, stream, whole
from upstreams.scripted import (
    LINGER_NOT,
    LOOPS,
    PLACE,
    Ear,
    Listener,
    Side,
    play,
    request,
    settings_for,
    turns_of_the_loop,
    world,
)

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])
BUFFERS = 16 << 20
"""Bytes that fit in no pair of socket buffers."""


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server without a loop: what it does has happened before the gateway's loop runs on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)
        yield listener


def calling(listener: socket.socket) -> ResponsesUpstreams:
    return ResponsesUpstreams(settings_for(f"http://127.0.0.1:{listener.getsockname()[1]}/v1"))


@both_loops
def test_who_wants_to_know_is_told_of_each_new_connection(
    loop: Any, listener: socket.socket
) -> None:
    made: list[int] = []

    def told(transport: asyncio.BaseTransport) -> None:
        made.append(transport.get_extra_info("socket").fileno())

    async def main() -> None:
        settings = settings_for(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")
        upstreams = ResponsesUpstreams(settings, made=told)
        server = await a_first_turn(upstreams, listener)
        upstreams.open(1, PLACE, request(), Ear().tell)  # on the same one
        await turns_of_the_loop()
        server.close()
        upstreams.close()

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(main())
    assert len(made) == 1


async def a_first_turn(upstreams: ResponsesUpstreams, listener: socket.socket) -> socket.socket:
    """One that ends well; returns the server's side of its connection, which is kept."""
    first = Ear()
    upstreams.open(1, PLACE, request(), first.tell)
    await first.until("connected")
    server, _ = listener.accept()
    receive_request(server)
    server.sendall(stream(STREAM))
    await first.over()
    return server


def receive_request(sock: socket.socket) -> None:
    got = b""
    while b'"stream":' not in got:
        got += sock.recv(65536)


def reset(sock: socket.socket) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)
    sock.close()


@both_loops
def test_a_write_that_fails_does_not_hide_the_answer_that_came_before(
    loop: Any, listener: socket.socket
) -> None:
    async def main() -> None:
        upstreams = calling(listener)
        server = await a_first_turn(upstreams, listener)

        def leave() -> None:
            server.sendall(whole(JSON_ERROR, "503 Busy"))
            reset(server)

        second = Ear()
        second.then["connected"] = leave
        upstreams.open(1, PLACE, request(), second.tell)
        lines = await second.over()
        assert lines[-2:] == ["headed 503", "answered 503 server_is_overloaded"]
        assert "sent" not in lines

    play(main, loop)


@both_loops
def test_a_write_that_fails_without_an_answer_is_a_reset(
    loop: Any, listener: socket.socket
) -> None:
    async def main() -> None:
        upstreams = calling(listener)
        ear = Ear()
        ear.then["connected"] = lambda: reset(listener.accept()[0])
        upstreams.open(1, PLACE, request(input="x" * BUFFERS), ear.tell)
        lines = await ear.over()
        assert lines[0] == "connected"
        assert lines[1].startswith("broke: the upstream reset the connection")

    play(main, loop)


@both_loops
def test_a_paused_attempt_slows_the_server(loop: Any) -> None:
    paused, blocked = asyncio.Event(), asyncio.Event()
    frames = 2 * BUFFERS // 2048

    async def script(side: Side) -> None:
        await side.answer(stream(CREATED, last=False))
        await paused.wait()
        block = DELTA.replace(b"hi", b"x" * 2000)
        for _ in range(frames):
            side.writer.write(b"%x\r\n%b\r\n" % (len(block), block))
            if side.writer.transport.get_write_buffer_size() > BUFFERS // 2:
                blocked.set()
                await side.writer.drain()
        side.writer.write(stream(COMPLETED).partition(b"\r\n\r\n")[2])

    async def main() -> None:
        async with world(script) as here:
            ear = Ear()
            _, call = here.call(ear=ear)
            await ear.until("response.created")
            call.pause()
            paused.set()
            await blocked.wait()
            await turns_of_the_loop()
            assert ear.lines[-1] == "response.created"
            call.resume()
            lines = await ear.over()
            assert lines.count("response.output_text.delta") == frames

    play(main, loop)


@both_loops
@pytest.mark.parametrize("before", [0, 1])
def test_an_attempt_paused_before_it_is_sent_reads_nothing(before: int, loop: Any) -> None:
    """`before`: turns on the same connection."""
    answered = asyncio.Event()

    async def script(side: Side) -> None:
        for _ in range(before + 1):
            await side.answer(stream(STREAM))
        answered.set()
        await side.left()

    async def main() -> None:
        async with world(script) as here:
            for _ in range(before):
                await here.turn()
            ear, call = here.call()
            call.pause()
            await answered.wait()
            await turns_of_the_loop()
            assert ear.lines == ["connected", "sent"]
            call.resume()
            assert (await ear.over())[-1] == "response.completed"

    play(main, loop)


@both_loops
def test_an_attempt_left_before_its_request_is_sent_is_closed(loop: Any) -> None:
    left = asyncio.Event()

    async def script(side: Side) -> None:
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script) as here:
            ear, call = here.call()
            ear.then["connected"] = call.release
            await left.wait()
            assert ear.lines == ["connected"]

    play(main, loop)


class Forgetful:
    """Keeps no connection."""

    def made(self, transport: asyncio.BaseTransport) -> None: ...
    def keep(self, connection: Connection, said: float | None) -> None: ...
    def forget(self, connection: Connection) -> None: ...


@both_loops
def test_a_connection_that_is_made_too_late_is_closed(loop: Any, listener: socket.socket) -> None:
    """The attempt was dropped between the handshake and the news of it."""

    async def main() -> None:
        connection = Connection(Forgetful(), Limits())
        await connect_too_late(connection, listener.getsockname())
        server, _ = listener.accept()
        server.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            assert server.recv(1) == b""
        server.close()

    async def connect_too_late(connection: Connection, address: Any) -> None:
        connection.start(Listener(), b"POST / HTTP/1.1\r\n\r\n", b"")
        connection.abort()
        running = asyncio.get_running_loop()
        await running.create_connection(lambda: connection, *address)
        await turns_of_the_loop()

    play(main, loop)


@both_loops
@pytest.mark.parametrize("when", ["connected", "sent", "headed 200", "response.created"])
def test_a_dropped_attempt_is_closed_and_silent(when: str, loop: Any) -> None:
    seen, left = asyncio.Event(), asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(stream(CREATED, last=False))
        await seen.wait()
        side.writer.write(stream(DELTA).partition(b"\r\n\r\n")[2])
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script) as here:
            ear = Ear()
            _, call = here.call(ear=ear)
            ear.then[when] = call.drop
            await ear.until(when)
            seen.set()
            if when != "connected":
                await left.wait()
            await turns_of_the_loop()
            call.drop()
            call.pause()
            call.resume()
            call.release()
            assert ear.lines[-1] == when

    play(main, loop)


@both_loops
def test_an_attempt_dropped_while_connecting_calls_nobody(
    loop: Any, listener: socket.socket
) -> None:
    async def main() -> None:
        upstreams = calling(listener)
        ear = Ear()
        upstreams.open(1, PLACE, request(), ear.tell).drop()
        await turns_of_the_loop()
        assert ear.lines == []

    play(main, loop)
    listener.setblocking(False)
    try:
        server, _ = listener.accept()
    except BlockingIOError:
        return
    server.settimeout(5)
    assert server.recv(1) == b""


@both_loops
def test_only_a_connection_that_is_there_writes_and_says_so_from_within_open(loop: Any) -> None:
    async def script(side: Side) -> None:
        for _ in range(2):
            await side.answer(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            for told in ([], ["connected", "sent"]):
                ear, _ = here.call()
                assert ear.lines == told
                await ear.over()
            assert here.server.connections == 1

    play(main, loop)


def test_a_refused_connection_is_named(listener: socket.socket) -> None:
    async def main() -> None:
        upstreams = calling(listener)
        listener.close()
        ear = Ear()
        upstreams.open(1, PLACE, request(), ear.tell)
        assert await ear.over() == ["broke: the upstream refused the connection (ECONNREFUSED)"]

    play(main)


def test_the_answer_to_a_request_that_broke_carries_its_status(listener: socket.socket) -> None:
    """Read errors do not lose a status that came with its body's first half."""

    async def main() -> None:
        upstreams = calling(listener)
        ear = Ear()
        call: Attempt = upstreams.open(1, PLACE, request(), ear.tell)
        await ear.until("connected")
        server, _ = listener.accept()
        receive_request(server)
        server.sendall(head("500 Oh", content_length="99") + b'{"err')
        reset(server)
        await ear.over()
        call.drop()
        assert isinstance(ear.last, Answered)
        assert (ear.last.answer.status, ear.last.answer.body) == (500, b"")

    play(main)
