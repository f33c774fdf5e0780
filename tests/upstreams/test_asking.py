"""A plain question: what goes up, and every way in which an answer comes or does not."""

from __future__ import annotations

import asyncio

import pytest

from latchway.settings import Route
from latchway.wire.frame import Answer
from upstreams.said import head, whole
from upstreams.scripted import KEY, Side, World, play, settings_for, world

BODY = b'{"id":"resp_1"}'


def route_to(here: World) -> Route:
    return settings_for(f"http://127.0.0.1:{here.port}/v1").models["m"].routes[0]


async def answered(here: World, method: str = "GET", body: bytes = b"") -> Answer | str:
    told: asyncio.Future[Answer | str] = asyncio.get_running_loop().create_future()
    here.upstreams.ask(route_to(here), method, "/responses/resp_1?a=b", body, told.set_result)
    return await told


@pytest.mark.parametrize(("method", "body"), [("GET", b""), ("DELETE", b""), ("POST", b"{}")])
def test_what_goes_up(method: str, body: bytes) -> None:
    heard: list[tuple[str, bytes]] = []

    async def script(side: Side) -> None:
        heard.append(await side.request())
        side.writer.write(whole(BODY))

    async def main() -> None:
        async with world(script) as here:
            answer = await answered(here, method, body)
            assert isinstance(answer, Answer)
            assert (answer.status, answer.body) == (200, BODY)

    play(main)
    ((text, sent),) = heard
    assert text.startswith(f"{method} /v1/responses/resp_1?a=b HTTP/1.1\r\n")
    assert f"authorization: Bearer {KEY}\r\n" in text
    assert sent == body


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (whole(BODY, "404 Not Found"), (404, BODY)),
        (whole(f'{{"error":"{KEY}"}}'.encode(), "403 No"), (403, b'{"error":"(credential)"}')),
        (whole(b"", "302 Found"), (302, b"")),
        (head("200 OK", content_length="20") + BODY, "closed the connection"),
        (head("200 OK", content_length="9999") + b"x" * 5000, "too large"),
        (head("200 OK", content_length="1", content_encoding="gzip") + b"x", "encoded"),
        (b"", "closed the connection"),
    ],
)
def test_how_it_is_answered(data: bytes, said: tuple[int, bytes] | str) -> None:
    async def script(side: Side) -> None:
        await side.answer(data)
        await side.writer.drain()
        side.writer.close()

    async def main() -> None:
        async with world(script) as here:
            answer = await answered(here)
            if isinstance(answer, str):
                assert isinstance(said, str)
                assert said in answer
            else:
                assert (answer.status, answer.body) == said

    play(main)


def test_who_gives_up_hears_nothing_more() -> None:
    async def script(side: Side) -> None:
        await side.request()
        await side.left()

    async def main() -> None:
        async with world(script) as here:
            told: list[Answer | str] = []
            asked = here.upstreams.ask(route_to(here), "GET", "/responses/r", b"", told.append)
            asked.give_up()
            asked.give_up()
            assert told == []

    play(main)
