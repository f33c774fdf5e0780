"""What goes up in a request, and what of an answer goes down."""

from __future__ import annotations

import json
import weakref

import pytest

from harness.garbage import leftovers
from latchway.turn.events import Answered, Arrived, Headed
from latchway.upstreams.responses import ResponsesUpstreams
from latchway.values import replace
from upstreams.said import COMPACTION, COMPLETED, JSON_ERROR, RESULT, STREAM, head, stream, whole
from upstreams.scripted import (
    KEY,
    PLACE,
    Ear,
    Side,
    always,
    play,
    request,
    settings_for,
    turns_of_the_loop,
    world,
)

OPENED = ["connected", "sent"]


def test_a_refusal_whose_body_does_not_end_is_an_answer_all_the_same() -> None:
    async def script(side: Side) -> None:
        await side.answer(head("503 Busy", content_length="999") + JSON_ERROR)
        await side.left()

    async def main() -> None:
        async with world(script, answer_seconds=0.01) as here:
            lines = await here.turn()
            assert lines == [*OPENED, "headed 503", "answered 503 server_is_overloaded"]

    play(main)


@pytest.mark.parametrize("answer", [stream(COMPLETED), whole(JSON_ERROR, "503 Busy"), b"HTP"])
def test_an_attempt_that_is_over_leaves_the_collector_nothing(answer: bytes) -> None:
    async def main() -> None:
        async with world(always(answer)) as here:
            with leftovers() as left:
                ear = Ear()
                here.upstreams.open(1, PLACE, request(), ear.tell)
                await ear.over()
                gone = weakref.ref(ear)
                del ear
                await turns_of_the_loop()
                assert gone() is None
            assert left == []

    play(main)


def test_an_attempt_that_is_left_while_it_connects_leaves_the_collector_nothing() -> None:
    async def main() -> None:
        async with world(always(stream(COMPLETED))) as here:
            with leftovers() as left:
                here.upstreams.open(1, PLACE, request(), Ear().tell).drop()
                await turns_of_the_loop()
            assert left == []

    play(main)


def test_an_answer_carries_what_may_reach_the_client_and_no_more() -> None:
    body = b'{"error":{"code":401,"message":"wrong key: %b"}}' % KEY.encode()
    fields = {
        "retry_after": "7",
        "x_request_id": "req-up",
        "set_cookie": "a=b",
        "openai_organization": "operator",
        "x_ratelimit_remaining_tokens": "5",
    }

    async def script(side: Side) -> None:
        await side.answer(whole(body, "401 No", **fields))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call()
            await ear.over()
            headed, answered = ear.events[-2:]
            assert isinstance(headed, Headed)
            assert isinstance(answered, Answered)
            assert headed.request_id == "req-up"
            assert headed.headers == answered.answer.headers == (("retry-after", "7"),)
            assert answered.answer.content_type == "application/json"
            assert answered.answer.note.retry_after == 7.0
            assert answered.answer.body == body.replace(KEY.encode(), b"(credential)")
            assert KEY not in repr(answered)

    play(main)


def test_the_events_of_one_read_are_told_at_once() -> None:
    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call()
            await ear.over()
            assert sum(isinstance(event, Arrived) for event in ear.events) == 1

    play(main)


def test_the_request_holds_what_is_listed_and_no_more() -> None:
    client = (
        ("OpenAI-Beta", "x=1"),
        ("traceparent", "00-1"),
        ("tracestate", "a\tb\n"),
        ("cookie", "c"),
        ("authorization", "Bearer client"),
        ("host", "elsewhere"),
        ("x-forwarded-for", "1.2.3.4"),
    )
    asked = replace(request(store=False), client_headers=client)
    heads: list[str] = []

    async def script(side: Side) -> None:
        text, body = await side.request()
        heads.append(text)
        assert json.loads(body) == {**json.loads(asked.body), "model": "upstream-m"}
        side.writer.write(stream(COMPLETED))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(asked)
            assert (await ear.over())[-1] == "response.completed"
            assert "127.0.0.1:" in heads[0]

    play(main)
    line, *fields = heads[0].strip().split("\r\n")
    assert line == "POST /v1/responses HTTP/1.1"
    assert {field.partition(": ")[0] for field in fields if not field.startswith("host")} == {
        "content-type", "accept", "accept-encoding", "content-length", "user-agent",
        "openai-beta", "traceparent", "authorization",
    }  # fmt: skip
    assert f"authorization: Bearer {KEY}" in fields
    assert "accept: text/event-stream" in fields
    assert "accept-encoding: identity" in fields


def test_without_a_key_no_credential_is_sent() -> None:
    async def script(side: Side) -> None:
        text, _ = await side.request()
        assert "authorization" not in text
        assert "accept: application/json\r\n" in text
        side.writer.write(whole(RESULT))

    async def main() -> None:
        async with world(script, key=None) as here:
            assert (await here.turn(streamed=False))[-1] == "response"

    play(main)


def test_the_environment_names_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")

    async def script(side: Side) -> None:
        await side.answer(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            assert (await here.turn())[-1] == "response.completed"

    play(main)


@pytest.mark.parametrize(
    ("base_url", "key", "fault"),
    [
        ("ftp://host/v1", None, "providers.p.base_url"),
        ("http:///v1", None, "providers.p.base_url"),
        ("http://host/a b", None, "providers.p.base_url"),
        ("http://host:99999/v1", None, "providers.p.base_url"),
        (f"http://{'x' * 64}.test/v1", None, "providers.p.base_url"),
        ("http://host/v1", "sk\r\nx: y", "providers.p.api_key"),
    ],
)
def test_what_cannot_be_sent_is_refused_at_the_start(
    base_url: str, key: str | None, fault: str
) -> None:
    with pytest.raises(ValueError, match=fault) as caught:
        ResponsesUpstreams(settings_for(base_url, key))
    assert key is None or key not in str(caught.value)


def test_a_compaction_has_a_path_of_its_own() -> None:
    heads: list[str] = []

    async def script(side: Side) -> None:
        text, _ = await side.request()
        heads.append(text)
        side.writer.write(whole(COMPACTION))

    async def main() -> None:
        async with world(script) as here:
            ear, _ = here.call(replace(request(streamed=False), compacts=True))
            assert (await ear.over())[-1] == "response.compaction"

    play(main)
    assert heads[0].startswith("POST /v1/responses/compact HTTP/1.1\r\n")


def test_a_stored_response_is_asked_for_as_a_stream() -> None:
    heads: list[str] = []

    async def script(side: Side) -> None:
        text, body = await side.request()
        heads.append(text)
        assert body == b""
        side.writer.write(stream(STREAM))

    async def main() -> None:
        async with world(script) as here:
            ear = Ear()
            route = settings_for(f"http://127.0.0.1:{here.port}/v1").models["m"].routes[0]
            here.upstreams.retell(route, "/responses/resp_1?stream=true", ear.tell)
            assert (await ear.over())[-1] == "response.completed"

    play(main)
    assert heads[0].startswith("GET /v1/responses/resp_1?stream=true HTTP/1.1\r\n")
    assert "accept: text/event-stream\r\n" in heads[0]
    assert f"authorization: Bearer {KEY}\r\n" in heads[0]
