"""How names are found: one lookup for all who wait, and the others are not disturbed by it."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import pytest

from harness.garbage import leftovers
from latchway.upstreams.limits import Limits
from latchway.upstreams.lookup import Addresses, Lookups, resolve
from latchway.upstreams.pool import Origin, Pool, client_context
from upstreams.said import STREAM, head, stream
from upstreams.scripted import (
    LOOPS,
    PATIENCE,
    Listener,
    Side,
    always,
    play,
    turns_of_the_loop,
    world,
)
from upstreams.test_tls import server_context, trusting

both_loops = pytest.mark.parametrize("loop", LOOPS, ids=["asyncio", "uvloop"])

HERE = "127.0.0.1"
REFUSES = "127.0.0.2"
"""Nobody listens there."""
UNREACHABLE = "255.255.255.255"
"""No address of a single host."""

UNKNOWN = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
UNRESOLVED = "the upstream's name could not be resolved"

LEAVES = """
import asyncio, sys, threading, uvloop
from latchway.upstreams.lookup import Lookups

async def main():
    asked = asyncio.Event()
    loop = asyncio.get_running_loop()

    def never(host):
        loop.call_soon_threadsafe(asked.set)
        threading.Event().wait()

    waiting = loop.create_task(Lookups(never).find("dead.test"))
    await asked.wait()
    waiting.cancel()

with asyncio.Runner(loop_factory=getattr(sys.modules[sys.argv[1]], "new_event_loop")) as runner:
    runner.run(main())
"""


class Resolver:
    """Stands in for the system's: a name is found when the test says where."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.answers: dict[str, Future[Addresses]] = {name: Future() for name in names}
        self.asked: list[str] = []

    def __call__(self, host: str) -> Addresses:
        self.asked.append(host)
        return self.answers[host].result()

    def finds(self, host: str, *addresses: str) -> None:
        self.answers[host].set_result(addresses)


@contextmanager
def resolving(*names: str) -> Iterator[Resolver]:
    """No lookup outlives the test."""
    resolver = Resolver(names)
    try:
        yield resolver
    finally:
        for answer in resolver.answers.values():
            if not answer.done():
                answer.set_result(())


class Dials:
    """Connections that are made to names on one port."""

    def __init__(self, resolver: Resolver, port: int, tls: Any = None) -> None:
        self._pool = Pool(Limits(), tls or client_context(), Lookups(resolver).find)
        self._secure, self._port = tls is not None, port
        self._made: list[Any] = []

    def dial(self, host: str) -> Listener:
        """`connected_` and `broke_` tell what came of it."""
        heard = Listener()
        origin = Origin(self._secure, host, self._port)
        self._made.append(self._pool.start(origin, heard, b"", b""))
        return heard

    def give_up(self, number: int) -> None:
        self._made[number].abort()

    def close(self) -> None:
        for connection in self._made:
            connection.close()


# ---- one lookup


@both_loops
def test_a_dead_name_is_looked_up_once_and_holds_up_no_other(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            dials = Dials(resolver, here.port)
            dead = [dials.dial("dead.test") for _ in range(100)]
            resolver.finds("alive.test", HERE)
            await dials.dial("alive.test").connected_.wait()
            assert resolver.asked == ["dead.test", "alive.test"]
            assert not any(each.connected_.is_set() or each.broke_.is_set() for each in dead)
            dials.close()

    with resolving("dead.test", "alive.test") as resolver:
        play(main, loop)


@both_loops
def test_who_gives_up_leaves_the_others_waiting(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            dials = Dials(resolver, here.port)
            first, second = dials.dial("slow.test"), dials.dial("slow.test")
            await turns_of_the_loop()
            dials.give_up(0)
            third = dials.dial("slow.test")
            await turns_of_the_loop()
            resolver.finds("slow.test", HERE)
            await second.connected_.wait()
            await third.connected_.wait()
            assert resolver.asked == ["slow.test"]
            assert not first.connected_.is_set()
            dials.close()

    with resolving("slow.test") as resolver:
        play(main, loop)


@both_loops
def test_all_who_wait_hear_that_there_is_no_such_name(loop: Any) -> None:
    async def main() -> None:
        dials = Dials(resolver, 9)
        waiting = [dials.dial("no.test") for _ in range(3)]
        await turns_of_the_loop()
        resolver.answers["no.test"].set_exception(UNKNOWN)
        for each in waiting:
            await each.broke_.wait()
        assert {each.reason for each in waiting} == {UNRESOLVED}
        assert resolver.asked == ["no.test"]

    with resolving("no.test") as resolver:
        play(main, loop)


def test_nothing_is_kept() -> None:
    async def main() -> None:
        lookups = Lookups(resolver)
        resolver.finds("a.test", HERE, REFUSES)
        assert await lookups.find("a.test") == (HERE, REFUSES)
        assert await lookups.find("a.test") == (HERE, REFUSES)
        assert resolver.asked == ["a.test", "a.test"]

    with resolving("a.test") as resolver:
        play(main)


@pytest.mark.parametrize("address", [HERE, "::1", "fe80::1%lo"])
def test_an_address_is_not_looked_up(address: str) -> None:
    async def main() -> None:
        assert await Lookups(resolver).find(address) == (address,)
        assert resolver.asked == []

    with resolving() as resolver:
        play(main)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_process_that_leaves_waits_for_no_lookup(loop: str) -> None:
    leaves = [sys.executable, "-c", LEAVES, loop]
    assert subprocess.run(leaves, timeout=PATIENCE, check=True, capture_output=True).stderr == b""


# ---- what it finds


@both_loops
def test_the_second_address_is_tried_when_the_first_refuses(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            dials = Dials(resolver, here.port)
            resolver.finds("two.test", REFUSES, HERE)
            await dials.dial("two.test").connected_.wait()
            dials.close()

    with resolving("two.test") as resolver:
        play(main, loop)


@both_loops
@pytest.mark.parametrize(
    ("addresses", "reason"),
    [
        ((REFUSES, UNREACHABLE), "the upstream refused the connection (ECONNREFUSED)"),
        ((UNREACHABLE, REFUSES), "there is no connection to the upstream (ENETUNREACH)"),
    ],
)
def test_the_fault_of_the_address_that_the_system_prefers_is_told(
    addresses: Addresses, reason: str, loop: Any
) -> None:
    async def main() -> None:
        heard = Dials(resolver, 9).dial("two.test")
        resolver.finds("two.test", *addresses)
        await heard.broke_.wait()
        assert heard.reason == reason

    with resolving("two.test") as resolver:
        play(main, loop)


@both_loops
def test_a_certificate_is_for_the_name(loop: Any) -> None:
    async def main() -> None:
        tls = server_context("provider.test")
        async with world(always(stream(STREAM)), server_tls=tls) as here:
            dials = Dials(resolver, here.port, trusting())
            resolver.finds("provider.test", HERE)
            await dials.dial("provider.test").connected_.wait()
            resolver.finds("another.test", REFUSES, HERE, UNREACHABLE)
            other = dials.dial("another.test")
            await other.broke_.wait()
            assert other.reason.startswith("the upstream's certificate was refused")
            dials.close()

    with resolving("provider.test", "another.test") as resolver:
        play(main, loop)


@both_loops
def test_a_server_that_fails_at_tls_is_not_asked_again_at_another_address(loop: Any) -> None:
    async def in_clear_text(side: Side) -> None:
        await side.reader.read(1)
        side.writer.write(head("400 Bad", content_length="0"))

    async def main() -> None:
        async with world(in_clear_text) as here:
            dials = Dials(resolver, here.port, trusting())
            resolver.finds("clear.test", HERE, HERE)
            heard = dials.dial("clear.test")
            await heard.broke_.wait()
            assert here.server.connections == 1

    with resolving("clear.test") as resolver:
        play(main, loop)


@pytest.mark.parametrize("addresses", [(), (REFUSES, REFUSES)])
def test_a_dial_that_fails_leaves_the_collector_nothing(addresses: Addresses) -> None:
    """Nor does its fault, which knows the frames that it came through."""

    def find(host: str) -> Addresses:
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return addresses

    async def main() -> None:
        pool = Pool(Limits(), client_context(), Lookups(find).find)
        with leftovers() as left:
            heard = Listener()
            pool.start(Origin(False, "no.test", 9), heard, b"", b"")
            await heard.broke_.wait()
            await turns_of_the_loop()
        assert left == []

    play(main)


# ---- the system's


@both_loops
def test_a_real_name_is_found(loop: Any) -> None:
    async def main() -> None:
        async with world(always(stream(STREAM))) as here:
            pool = Pool(Limits(), client_context())
            heard = Listener()
            connection = pool.start(Origin(False, "localhost", here.port), heard, b"", b"")
            await heard.connected_.wait()
            connection.close()

    play(main, loop)


def test_the_system_is_asked_for_addresses_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scope belongs to its address."""
    told = [("fe80::1", 0, 0, 1), ("192.0.2.1", 0)]
    found = [(0, socket.SOCK_STREAM, 6, "", address) for address in told]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert resolve("a.test") == ("fe80::1%lo", "192.0.2.1")
