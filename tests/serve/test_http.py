"""A client's connection over HTTP/1.1: what comes on it, in which order, and how it ends."""

from __future__ import annotations

import pytest

from harness.gateway import COST, Gateway, body
from harness.http import HttpPeer
from latchway.serve import limits
from latchway.settings import LimitSettings

LIVE = b"GET /health/live HTTP/1.1\r\nhost: g\r\n\r\n"


def post(gateway: Gateway, size: int, *more: str) -> bytes:
    """The head of a turn with a sound key."""
    lines = ["POST /v1/responses HTTP/1.1", "host: g", f"authorization: Bearer {gateway.secret}"]
    return "\r\n".join([*lines, f"content-length: {size}", *more, "", ""]).encode()


def codes(peer: HttpPeer) -> list[str]:
    return [answer.code if answer.status >= 400 else "" for answer in peer.answers]


# ---- one after another


def test_a_connection_is_kept_for_the_next_request() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.finish("resp_1")
    peer.post(body())
    gateway.finish("resp_2")

    assert [answer.events[0]["response"]["id"] for answer in peer.answers] == ["resp_1", "resp_2"]
    assert all(answer.whole for answer in peer.answers)
    assert not peer.transport.lost
    assert gateway.ledger.figures() == (2 * COST, 0)


def test_requests_that_were_sent_ahead_are_answered_in_their_order() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    turn = post(gateway, len(body())) + body()
    peer.send(turn + LIVE + turn + LIVE)
    assert len(gateway.upstreams.calls) == 1

    gateway.finish("resp_1")
    assert len(gateway.upstreams.calls) == 2
    gateway.finish("resp_2")

    assert [answer.status for answer in peer.answers] == [200] * 4
    assert [bool(answer.events) for answer in peer.answers] == [True, False, True, False]


@pytest.mark.parametrize("sent", ["many", "much"])
def test_a_client_that_sends_too_much_ahead_is_cut_off(sent: str) -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.ask()
    ahead = LIVE if sent == "many" else post(gateway, 500) + b"x" * 500
    most = limits.PIPELINED_REQUESTS if sent == "many" else 2
    peer.send(ahead * most)
    assert not peer.transport.lost

    peer.send(ahead)
    assert peer.transport.reset
    assert gateway.call.after == "dropped"
    assert gateway.record["outcome"] == "client_disconnected"


def test_a_refused_body_that_waits_takes_no_room() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.ask()
    nobody = post(gateway, 900).replace(gateway.secret.encode(), b"lw_wrong") + b"x" * 900
    peer.send(nobody * 3)
    gateway.finish()

    assert codes(peer) == ["", *["invalid_api_key"] * 3]


def test_what_was_sent_ahead_is_dropped_when_the_client_leaves() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    peer.send(post(gateway, len(body())) + body())
    peer.transport.leave()
    gateway.clock.advance(1)

    assert len(gateway.upstreams.calls) == 1
    assert gateway.ledger.states() == ["void"]


def test_a_large_body_may_follow_a_long_turn() -> None:
    """Its clocks begin when it is its turn, not when its first byte came."""
    gateway = Gateway()
    peer = gateway.ask()
    peer.send(post(gateway, len(body()), "expect: 100-continue"))
    assert b"100 Continue" not in peer.transport.taken
    gateway.finish()
    assert peer.transport.taken.endswith(b"HTTP/1.1 100 Continue\r\n\r\n")

    gateway.clock.advance(limits.BODY_GRACE_SECONDS)
    peer.send(body())
    assert len(gateway.upstreams.calls) == 2


# ---- the end of a connection


@pytest.mark.parametrize(
    ("head", "kept"),
    [
        (b"GET /health/live HTTP/1.1\r\nhost: g\r\n\r\n", True),
        (b"GET /health/live HTTP/1.1\r\nhost: g\r\nconnection: close\r\n\r\n", False),
        (b"GET /health/live HTTP/1.1\r\nhost: g\r\nConnection: Close\r\n\r\n", False),
        (b"GET /health/live HTTP/1.0\r\n\r\n", False),
        (b"GET /health/live HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", True),
        (b"GET /nowhere HTTP/1.1\r\nhost: g\r\n\r\n", True),
        (b"GET /health/live HTTP/2.0\r\nhost: g\r\n\r\n", False),
        (b"GET /health/live HTTP/1.1\r\n\r\n", False),
        (b"CONNECT other:443 HTTP/1.1\r\nhost: other:443\r\n\r\n", False),
        (b"rubbish\r\n\r\n", False),
    ],
)
def test_who_keeps_the_connection(head: bytes, kept: bool) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.send(head)
    gateway.clock.advance(limits.CLOSE_SECONDS)

    assert peer.closed is not kept
    assert (peer.answer.headers.get("connection") == "close") is not kept
    assert peer.answer.whole


def test_behind_a_refusal_of_the_bytes_nothing_is_read_but_all_is_taken() -> None:
    """A close over unread bytes would be a reset, and the refusal might not arrive."""
    gateway = Gateway()
    peer = gateway.connect()
    peer.send(b"rubbish\r\n\r\n" + LIVE)
    assert codes(peer) == ["invalid_request"]
    assert peer.transport.eof_written
    peer.send(LIVE * 1000)
    assert not peer.transport.lost

    gateway.clock.advance(limits.CLOSE_SECONDS)
    assert codes(peer) == ["invalid_request"]
    assert peer.closed


def test_rubbish_behind_a_turn_is_refused_in_its_turn() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    peer.send(b"rubbish\r\n\r\n" + LIVE)
    gateway.finish()

    assert codes(peer) == ["", "invalid_request"]
    assert peer.answers[0].whole
    assert gateway.record["outcome"] == "completed"


def test_an_upgrade_behind_a_turn_does_not_break_into_it() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    peer.send(
        f"GET /v1/responses HTTP/1.1\r\nhost: g\r\nauthorization: Bearer {gateway.secret}\r\n"
        "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n"
        "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
    )
    gateway.finish()

    assert codes(peer) == ["", "invalid_request"]
    assert peer.answers[0].types[-1] == "response.completed"
    assert not gateway.app.sockets


def test_a_body_that_is_given_up_behind_a_turn_is_refused_in_its_turn() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.ask()
    peer.send(post(gateway, 10_000) + b"x" * 2001)
    peer.send(b"x" * 1000)
    gateway.finish()

    assert codes(peer) == ["", "request_too_large"]
    assert peer.answers[0].types[-1] == "response.completed"


def test_a_half_closed_connection_is_a_client_that_left() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    peer.transport.finish()
    gateway.clock.advance(1)

    assert gateway.call.after == "dropped"
    assert gateway.record["outcome"] == "client_disconnected"


def test_a_connection_that_is_over_leaves_nothing_behind() -> None:
    gateway = Gateway()
    idle = gateway.clock.pending
    peer = gateway.ask()
    gateway.finish()
    peer.transport.leave()
    gateway.clock.advance()

    assert not gateway.app.connections
    assert gateway.clock.pending == idle
