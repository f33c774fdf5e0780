"""TLS towards upstreams: verified always, and in no other way different."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from typing import Any

import pytest
import trustme

from latchway.upstreams.limits import Limits
from latchway.upstreams.pool import Origin, Pool, client_context
from upstreams.said import CREATED, STREAM, head, stream
from upstreams.scripted import LOOPS, Listener, Side, always, play, request, world

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])


AUTHORITY = trustme.CA()


def server_context(*names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    AUTHORITY.issue_cert(*names).configure_cert(context)
    return context


def trusting() -> ssl.SSLContext:
    context = client_context()
    AUTHORITY.configure_trust(context)
    return context


@both_loops
def test_tls_carries_turns_and_is_kept(loop: Any) -> None:
    async def main() -> None:
        server = server_context("127.0.0.1")
        async with world(always(stream(STREAM)), server_tls=server, client_tls=trusting()) as here:
            for _ in range(2):
                assert (await here.turn())[-1] == "response.completed"
            assert here.server.connections == 1

    play(main, loop)


@both_loops
def test_a_long_request_goes_up_over_tls(loop: Any) -> None:
    async def main() -> None:
        server = server_context("127.0.0.1")
        async with world(always(stream(STREAM)), server_tls=server, client_tls=trusting()) as here:
            ear, _ = here.call(request(input="x" * (4 << 20)))
            assert (await ear.over())[:3] == ["connected", "sent", "headed 200"]

    play(main, loop)


@both_loops
@pytest.mark.parametrize("end", ["closes", "resets"])
def test_a_tls_stream_that_breaks_is_a_break(end: str, loop: Any) -> None:
    async def script(side: Side) -> None:
        await side.answer(stream(CREATED, last=False))
        if end == "resets":
            side.reset()

    async def main() -> None:
        server = server_context("127.0.0.1")
        async with world(script, server_tls=server, client_tls=trusting()) as here:
            lines = await here.turn()
            assert lines[:-1] == ["connected", "sent", "headed 200", "response.created"]
            assert lines[-1].startswith("broke: ")

    play(main, loop)


@both_loops
@pytest.mark.parametrize(
    ("name", "client", "reason"),
    [
        ("127.0.0.1", client_context, "unable to get local issuer certificate"),
        ("other.test", trusting, "IP address mismatch"),
    ],
)
def test_a_certificate_that_proves_nothing_is_refused(
    name: str, client: Callable[[], ssl.SSLContext], reason: str, loop: Any
) -> None:
    async def main() -> None:
        server = server_context(name)
        async with world(always(stream(STREAM)), server_tls=server, client_tls=client()) as here:
            (line,) = await here.turn()
            assert line.startswith("broke: the upstream's certificate was refused")
            assert reason in line

    play(main, loop)


@both_loops
def test_an_old_tls_is_refused(loop: Any) -> None:
    async def main() -> None:
        server = server_context("127.0.0.1")
        server.minimum_version = ssl.TLSVersion.TLSv1
        server.maximum_version = ssl.TLSVersion.TLSv1_1
        server.set_ciphers("ALL:@SECLEVEL=0")
        async with world(always(stream(STREAM)), server_tls=server, client_tls=trusting()) as here:
            (line,) = await here.turn()
            assert line.startswith("broke: ")

    with pytest.warns(DeprecationWarning, match="TLSv1"):
        play(main, loop)


def test_the_context_verifies_always() -> None:
    context = client_context()
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname
    assert context.minimum_version is ssl.TLSVersion.TLSv1_2


def test_clear_text_where_tls_is_spoken_is_a_break() -> None:
    async def script(side: Side) -> None:
        await side.reader.read(1)
        side.writer.write(head("400 Bad", content_length="0"))

    async def main() -> None:
        async with world(script) as here:
            pool = Pool(Limits(), trusting())
            heard = Listener()
            origin = Origin(True, "127.0.0.1", here.port)
            pool.start(origin, heard, b"", b"")
            await heard.broke_.wait()
            assert heard.reason.startswith("TLS with the upstream failed")

    play(main)
