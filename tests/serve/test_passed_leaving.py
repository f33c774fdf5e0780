"""A page that an upstream is asked for: who leaves meanwhile, what comes behind it, what breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from harness.gateway import Gateway, route, settings
from harness.http import HttpPeer
from latchway.ports import Granted
from latchway.serve import limits
from latchway.serve.passed import QUERY_CHARACTERS
from latchway.settings import Provider, TurnSettings
from latchway.upstreams.responses import ResponsesUpstreams
from latchway.wire.frame import Answer

KEPT = Answer(200, b'{"id":"resp_1","output":[{"id":"msg_1"}]}', "application/json")
RUBBISH = b"\x00\r\n\r\n"
SOON = TurnSettings(whole_answer_timeout_seconds=0.05)


@pytest.fixture
def gateway() -> Gateway:
    """One whose `alice` has had resp_1 made, and whose upstream does not answer questions."""
    gateway = Gateway(turn=SOON)
    gateway.ask(store=True)
    gateway.finish()
    return gateway


async def round_() -> None:
    """The loop's next round: what is due, happens."""
    await asyncio.get_running_loop().run_in_executor(None, lambda: None)


def played(gateway: Gateway, *acts: Callable[[HttpPeer], Any]) -> HttpPeer:
    """A client that asks for its response, and what happens then, each act in a round of its own.

    Nothing may be left behind on the loop, and nothing may have gone wrong there.
    """
    wrong: list[Any] = []

    async def play() -> HttpPeer:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: wrong.append(context))
        peer = gateway.connect()
        peer.request("GET", "/v1/responses/resp_1")
        for act in acts:
            await round_()
            act(peer)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.gather(*others, return_exceptions=True)
        return peer

    peer = asyncio.run(play())
    gateway.clock.advance()
    assert wrong == []
    return peer


@pytest.mark.parametrize(
    "leave", [lambda peer: peer.transport.leave(), lambda peer: peer.transport.finish()]
)
def test_who_has_left_is_asked_for_no_longer(
    gateway: Gateway, leave: Callable[[HttpPeer], None]
) -> None:
    """At once, and not when the upstream's time is over."""
    gateway.app.settings = replace(gateway.settings, turn=TurnSettings())
    peer = played(gateway, leave)
    assert gateway.upstreams.given_up == 1
    assert peer.answers == []
    assert peer.connection not in gateway.app.connections


def test_who_leaves_while_it_is_noted_breaks_nothing(gateway: Gateway) -> None:
    gateway.upstreams.kept = KEPT
    noted: list[Callable[[Any], None]] = []
    gateway.ledger.remember = (  # type: ignore[method-assign]
        lambda owner, route, marks, done: noted.append(done)
    )
    peer = played(
        gateway, lambda _: None, lambda peer: peer.transport.leave(), lambda _: noted[0](Granted())
    )
    assert len(noted) == 1
    assert peer.answers == []


def test_what_was_asked_behind_it_is_answered_behind_it(gateway: Gateway) -> None:
    peer = played(gateway, lambda peer: peer.request("GET", "/v1/models"))
    assert [answer.status for answer in peer.answers] == [504, 200]
    assert not peer.transport.lost


def test_what_was_asked_behind_it_is_not_begun_for_who_has_left(gateway: Gateway) -> None:
    def ask_and_leave(peer: HttpPeer) -> None:
        peer.post(b'{"model":"m","input":"hi","stream":true}')
        peer.transport.leave()

    calls = len(gateway.upstreams.calls)
    played(gateway, ask_and_leave)
    assert len(gateway.upstreams.calls) == calls


def test_rubbish_behind_it_is_refused_behind_it(gateway: Gateway) -> None:
    peer = played(gateway, lambda peer: peer.send(RUBBISH))
    assert [answer.code for answer in peer.answers] == ["first_event_timeout", "invalid_request"]


@pytest.mark.parametrize("behind", [None, RUBBISH])
def test_a_fault_of_ours_ends_its_connection_alone(
    gateway: Gateway, behind: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def faulty() -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(gateway.upstreams, "give_up", faulty)
    peer = played(gateway, *([] if behind is None else [lambda peer: peer.send(behind)]))
    assert [answer.code for answer in peer.answers] == ["internal_error"]
    gateway.clock.advance(limits.CLOSE_SECONDS)
    assert peer.transport.lost
    assert peer.connection not in gateway.app.connections


def test_a_drain_lets_it_be_answered(gateway: Gateway) -> None:
    peer = played(gateway, lambda _: gateway.app.drain())
    assert [answer.status for answer in peer.answers] == [504]
    assert peer.transport.lost


# ---- what is passed on fits into a head


@pytest.mark.parametrize(("size", "status"), [(QUERY_CHARACTERS, 200), (QUERY_CHARACTERS + 1, 400)])
def test_a_query_has_a_bound(gateway: Gateway, size: int, status: int) -> None:
    gateway.upstreams.kept = KEPT
    page = gateway.page(f"/v1/responses/resp_1?{'x' * size}")
    assert page.status == status


def test_the_longest_path_can_be_asked_for() -> None:
    long = Provider("p", "http://127.0.0.1:1/" + "v" * 1000, None)
    where = replace(route("a"), provider=long)
    path = f"/conversations/{'c' * 200}/items/{'i' * 200}?{'x' * QUERY_CHARACTERS}"
    told: list[Any] = []

    async def ask() -> None:
        upstreams = ResponsesUpstreams(settings(where))
        upstreams.ask(where, "GET", path, b"", told.append).give_up()
        upstreams.close()

    asyncio.run(ask())
    assert told == []
