"""When a connection carries a second request, when it must not, and how TLS is made."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from latchway.upstreams.limits import Limits
from latchway.upstreams.pool import Origin, Pool, client_context
from upstreams.said import COMPLETED, CREATED, JSON_ERROR, RESULT, STREAM, stream, whole
from upstreams.scripted import (
    LOOPS,
    Ear,
    Listener,
    Side,
    World,
    always,
    play,
    turns_of_the_loop,
    world,
)

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])

OPEN_BODY = stream(COMPLETED, last=False)
ENDING = b"0\r\n\r\n"


REUSED = {
    "chunks that ended": stream(STREAM),
    "a length that was reached": whole(RESULT),
    "an error status": whole(JSON_ERROR, "503 Busy"),
    "an error event without a result": stream(CREATED),
    "a stream said to be kept long": stream(STREAM, keep_alive="max=99, timeout=600"),
    "HTTP/1.0 that says so": whole(RESULT, connection="keep-alive").replace(b"1.1", b"1.0", 1),
}

NOT_REUSED = {
    "said to close": stream(STREAM, connection="close"),
    "HTTP/1.0": whole(RESULT).replace(b"HTTP/1.1", b"HTTP/1.0"),
    "bytes after the end": stream(STREAM) + b"HTTP/1.1 200 OK\r\n",
    "a second answer": whole(RESULT) * 2,
    "kept for too short a time": stream(STREAM, keep_alive="timeout=1"),
    "an event that was too large": stream(CREATED, b"data: " + b"x" * 9999, last=False),
    "a coding that was not asked for": stream(last=False, content_encoding="gzip"),
}  # fmt: skip


@both_loops
@pytest.mark.parametrize("what", REUSED)
def test_after_a_clean_end_the_connection_is_used_again(what: str, loop: Any) -> None:
    async def main() -> None:
        async with world(always(REUSED[what])) as here:
            first, second = await here.turn(), await here.turn()
            assert first == second
            assert here.server.connections == 1

    play(main, loop)


@both_loops
@pytest.mark.parametrize("what", NOT_REUSED)
def test_after_anything_else_it_is_not(what: str, loop: Any) -> None:
    async def main() -> None:
        async with world(always(NOT_REUSED[what])) as here:
            first, second = await here.turn(), await here.turn()
            assert first == second
            assert here.server.connections == 2

    play(main, loop)


@both_loops
def test_a_dropped_connection_is_never_used_again(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(CREATED, last=False))) as here:
            for _ in range(2):
                ear, call = here.call()
                await ear.until("response.created")
                call.drop()
            assert here.server.connections == 2

    play(main, loop)


@both_loops
def test_a_drop_after_the_clean_end_hurts_nobody(loop: Any) -> None:
    """The connection may already carry another turn."""

    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            first, call = here.call()
            await first.over()
            second, _ = here.call()
            call.drop()
            assert (await second.over())[-1] == "response.completed"
            assert here.server.connections == 1

    play(main, loop)


@both_loops
def test_a_drop_in_the_read_that_ends_the_body_keeps_the_connection(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            for _ in range(2):
                ear = Ear()
                _, call = here.call(ear=ear)
                ear.then["response.completed"] = call.drop
                await ear.over()
            assert here.server.connections == 1

    play(main, loop)


@both_loops
def test_a_pause_does_not_outlive_its_attempt(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            for _ in range(2):
                ear = Ear()
                _, call = here.call(ear=ear)
                ear.then["response.completed"] = call.pause
                await ear.over()
            assert here.server.connections == 1

    play(main, loop)


@both_loops
def test_a_released_connection_waits_for_the_end_of_its_body(loop: Any) -> None:
    released = asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(OPEN_BODY)
        await released.wait()
        side.writer.write(ENDING)
        await side.answer(OPEN_BODY)
        await side.left()

    async def main() -> None:
        async with world(script) as here:
            await here.turn()
            released.set()
            while not idle(here):
                await turns_of_the_loop()
            await here.turn()
            assert here.server.connections == 1

    play(main, loop)


@both_loops
def test_a_released_connection_whose_body_does_not_end_is_closed(loop: Any) -> None:
    left = asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(OPEN_BODY)
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script, drain_seconds=0.01) as here:
            await here.turn()
            await left.wait()

    play(main, loop)


@both_loops
def test_an_idle_connection_that_the_server_closes_is_not_used(loop: Any) -> None:
    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            await here.turn()
            assert (await here.turn())[-1] == "response.completed"
            assert here.server.connections == 2

    play(main, loop)


@both_loops
def test_an_idle_connection_on_which_something_comes_is_closed(loop: Any) -> None:
    idle_now, left = asyncio.Event(), asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))
        await idle_now.wait()
        side.writer.write(whole(RESULT))
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script) as here:
            await here.turn()
            idle_now.set()
            await left.wait()
            assert idle(here) == 0

    play(main, loop)


@both_loops
def test_an_end_that_the_loop_has_not_seen_yet_counts(loop: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(5)

        async def main() -> None:
            pool = Pool(Limits(), client_context())
            origin = Origin(False, "127.0.0.1", listener.getsockname()[1])
            first = Listener()
            pool.start(origin, first, b"POST / HTTP/1.1\r\n\r\n", b"")
            await first.connected_.wait()
            server, _ = listener.accept()
            server.sendall(whole(RESULT))
            await first.ended_.wait()
            assert pool.idle(origin) == 1
            server.close()
            again = pool.start(origin, Listener(), b"POST / HTTP/1.1\r\n\r\n", b"")
            assert pool.idle(origin) == 0
            again.abort()

        play(main, loop)
        listener.settimeout(0.0)
        with pytest.raises(BlockingIOError):
            listener.accept()


@both_loops
def test_an_idle_connection_is_closed_in_time(loop: Any) -> None:
    left = asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script, idle_seconds=0.01) as here:
            await here.turn()
            await left.wait()
            assert idle(here) == 0

    play(main, loop)


def test_idle_connections_are_few() -> None:
    async def main() -> None:
        async with world(always(stream(STREAM)), idle_connections=2) as here:
            ears = [here.call()[0] for _ in range(4)]
            for ear in ears:
                await ear.over()
            assert here.server.connections == 4
            assert idle(here) == 2

    play(main)


def test_closing_the_upstreams_closes_what_is_idle() -> None:
    left = asyncio.Event()

    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))
        await side.left()
        left.set()

    async def main() -> None:
        async with world(script) as here:
            await here.turn()
            assert idle(here) == 1
            here.upstreams.close()
            await left.wait()
            assert idle(here) == 0

    play(main)


def idle(here: World) -> int:
    """How many connections the upstreams keep."""
    return here.upstreams.pool.idle(Origin(False, "127.0.0.1", here.port))
