"""What has ended is freed at once: a process that serves for weeks leaves its collector nothing."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Callable

import pytest

from harness.garbage import leftovers
from harness.gateway import Gateway, body
from harness.transport import MemoryTransport
from harness.upstreams import created, text
from latchway.settings import LimitSettings


def answered(gateway: Gateway) -> MemoryTransport:
    peer = gateway.ask()
    gateway.finish()
    return peer.transport


def cut_off(gateway: Gateway) -> MemoryTransport:
    return gateway.ask().transport


def upgraded(gateway: Gateway) -> MemoryTransport:
    peer = gateway.socket()
    peer.create(model="m", input="hi")
    gateway.finish()
    return peer.transport


def refused(gateway: Gateway) -> MemoryTransport:
    peer = gateway.connect()
    peer.post(b'{"model":"m","model":"m"}')
    peer.post(b"{")
    return peer.transport


def refused_on_a_socket(gateway: Gateway) -> MemoryTransport:
    peer = gateway.socket()
    peer.create(model="m", input="hi", tools="none")
    peer.create(model="m", input="x" * gateway.settings.limits.request_bytes)
    return peer.transport


@pytest.mark.parametrize("client", [answered, cut_off, upgraded, refused, refused_on_a_socket])
def test_a_connection_that_has_ended_leaves_the_collector_nothing(
    client: Callable[[Gateway], MemoryTransport],
) -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    serve_and_part(gateway, client)  # what is made once is made now
    with leftovers() as left:
        serve_and_part(gateway, client)
    assert left == []


def serve_and_part(gateway: Gateway, client: Callable[[Gateway], MemoryTransport]) -> None:
    transport = client(gateway)
    transport.leave()
    transport.set_protocol(asyncio.Protocol())  # as a real transport lets go of it
    gateway.clock.advance()
    gateway.upstreams.calls.clear()


PAGES = {
    "made at once": ("/v1/models/none", "GET", None, "model_not_found"),
    "made beside the loop": ("/v1/requests/none", "GET", None, "not_found"),
    "asked of a route": ("/v1/responses/input_tokens", "POST", body(), "stream_read_error"),
}


@pytest.mark.parametrize(("path", "method", "sent", "code"), PAGES.values(), ids=PAGES)
def test_why_there_is_no_page_is_not_left_to_the_collector(
    path: str, method: str, sent: bytes | None, code: str
) -> None:
    gateway = Gateway()
    gateway.upstreams.kept = "reset"
    with leftovers() as left:
        answer = gateway.page(path, method, sent)
    assert answer.code == code
    assert not {"RequestFault", "Incoming", "HttpConnection"} & set(left)


def test_a_page_that_nobody_waits_for_any_more_leaves_the_collector_nothing() -> None:
    async def ask_and_leave(gateway: Gateway) -> None:
        peer = gateway.connect()
        peer.request("POST", "/v1/responses/input_tokens", body())
        peer.transport.leave()
        await asyncio.wait(asyncio.all_tasks() - {asyncio.current_task()})
        peer.transport.set_protocol(asyncio.Protocol())

    async def main() -> list[str]:
        gateway = Gateway()
        await ask_and_leave(gateway)
        with leftovers() as left:
            await ask_and_leave(gateway)
        return left

    assert asyncio.run(main()) == []


LARGE = 1 << 20


def posted(gateway: Gateway) -> None:
    gateway.ask(input="x" * LARGE)


def created_on_a_socket(gateway: Gateway) -> None:
    gateway.socket().create(model="m", input="x" * LARGE)


@pytest.mark.parametrize("ask", [posted, created_on_a_socket])
def test_a_request_is_not_kept_while_its_answer_streams(ask: Callable[[Gateway], None]) -> None:
    gateway = Gateway()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        ask(gateway)
        del gateway.call.request
        asked, _ = tracemalloc.get_traced_memory()
        gateway.call.heads()
        gateway.call.sends(created(), text())
        streaming, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert asked - before > LARGE
    assert streaming - before < LARGE // 2
