"""One connection: what has arrived is told first, a slow peer is waited for, a leaver is silent."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from latchway.turn.events import Answered, Arrived, Sent
from latchway.upstreams.responses import Attempt, ResponsesUpstreams
from upstreams.scripted import (
    COMPLETED,
    CREATED,
    DELTA,
    JSON_ERROR,
    LINGER_NOT,
    LOOPS,
    PLACE,
    STREAM,
    Ear,
    Side,
    head,
    play,
    request,
    settings_for,
    stream,
    turns_of_the_loop,
    whole,
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
        first = Ear()
        upstreams.open(1, PLACE, request(), first.tell)
        await first.until("connected")
        server, _ = listener.accept()
        receive_request(server)
        server.sendall(stream(STREAM))
        await first.over()

        second = Ear()
        upstreams.open(1, PLACE, request(), second.tell)
        server.sendall(whole(JSON_ERROR, "503 Busy"))
        reset(server)
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
def test_a_long_request_is_sent_once_the_server_has_taken_it(loop: Any) -> None:
    reading = asyncio.Event()
    asked = request(input="x" * BUFFERS)

    async def script(side: Side) -> None:
        await reading.wait()
        _, body = await side.request()
        assert len(body) > BUFFERS
        side.writer.write(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(asked)
            await ear.until("connected")
            await turns_of_the_loop()
            assert ear.lines == ["connected"]
            reading.set()
            assert (await ear.over())[:3] == ["connected", "sent", "headed 200"]

    play(main, loop)


@both_loops
def test_two_mebibytes_go_up_whole(loop: Any) -> None:
    text = "".join(f"{number:08d}" for number in range((2 << 20) // 8))

    async def script(side: Side) -> None:
        _, body = await side.request()
        assert text.encode() in body
        side.writer.write(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(request(input=text))
            assert (await ear.over())[-1] == "response.completed"

    play(main, loop)


@both_loops
def test_a_refusal_before_the_request_is_sent_is_the_answer(loop: Any) -> None:
    async def script(side: Side) -> None:
        await side.reader.readuntil(b"\r\n\r\n")
        side.writer.write(whole(JSON_ERROR, "413 Big", connection="close"))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(request(input="x" * BUFFERS))
            lines = await ear.over()
            assert lines == ["connected", "headed 413", "answered 413 server_is_overloaded"]

    play(main, loop)


@both_loops
def test_a_stream_may_begin_before_the_request_is_sent(loop: Any) -> None:
    async def script(side: Side) -> None:
        side.writer.write(stream(CREATED, last=False))
        await side.answer(stream(COMPLETED).partition(b"\r\n\r\n")[2])

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(request(input="x" * BUFFERS))
            await ear.over()
            kinds = [type(event) for event in ear.events]
            assert kinds.index(Arrived) < kinds.index(Sent)
            assert ear.lines[-1] == "response.completed"

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
def test_nothing_is_told_from_within_open(loop: Any) -> None:
    async def script(side: Side) -> None:
        for _ in range(2):
            await side.answer(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            for _ in range(2):
                ear, _ = here.call()
                assert ear.lines == []
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
