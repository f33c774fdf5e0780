"""A request that fits in no socket buffer: when it is sent, and what may come before that."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from latchway.turn.events import Arrived, Sent
from upstreams.said import COMPLETED, CREATED, JSON_ERROR, STREAM, stream, whole
from upstreams.scripted import LOOPS, Side, play, request, turns_of_the_loop, world

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])
BUFFERS = 16 << 20
"""Bytes that fit in no pair of socket buffers."""


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
def test_after_a_refusal_no_more_of_the_request_is_sent(loop: Any) -> None:
    refused, told = asyncio.Event(), asyncio.Event()

    async def script(side: Side) -> None:
        await side.reader.readuntil(b"\r\n\r\n")
        answer = whole(JSON_ERROR, "413 Big")
        side.writer.write(answer[:-1])
        await refused.wait()
        reading = asyncio.ensure_future(side.left())
        await told.wait()
        side.writer.write(answer[-1:])
        await reading

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(request(input="x" * BUFFERS))
            await ear.until("headed 413")
            refused.set()
            for _ in range(100):
                await turns_of_the_loop()
            told.set()
            lines = await ear.over()
            assert lines == ["connected", "headed 413", "answered 413 server_is_overloaded"]

    play(main, loop)


@both_loops
def test_an_answer_before_the_request_is_sent_leaves_no_connection_to_use(loop: Any) -> None:
    async def script(side: Side) -> None:
        await side.reader.readuntil(b"\r\n\r\n")
        side.writer.write(stream(STREAM))
        await side.left()

    async def main() -> None:
        async with world(script) as here:
            for _ in range(2):
                ear, _ = here.call(request(input="x" * BUFFERS))
                assert (await ear.over())[-1] == "response.completed"
            assert here.server.connections == 2

    play(main, loop)
