"""What comes slowly over HTTP, what is taken slowly, and what is too long."""

from __future__ import annotations

import pytest

from harness.gateway import Gateway, body
from harness.http import HttpPeer
from harness.upstreams import completed, created, text
from latchway.serve import limits
from latchway.settings import LimitSettings

LIVE = b"GET /health/live HTTP/1.1\r\nhost: g\r\n\r\n"


def post(gateway: Gateway, size: int, *more: str) -> bytes:
    """The head of a turn with a sound key."""
    lines = ["POST /v1/responses HTTP/1.1", "host: g", f"authorization: Bearer {gateway.secret}"]
    return "\r\n".join([*lines, f"content-length: {size}", *more, "", ""]).encode()


def codes(peer: HttpPeer) -> list[str]:
    return [answer.code if answer.status >= 400 else "" for answer in peer.answers]


# ---- bodies


def test_a_body_is_asked_for_with_100_continue() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.send(post(gateway, len(body()), "expect: 100-continue"))
    assert bytes(peer.transport.taken) == b"HTTP/1.1 100 Continue\r\n\r\n"

    peer.send(body())
    assert len(gateway.upstreams.calls) == 1


def test_a_body_that_came_at_once_is_not_asked_for() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    data = post(gateway, len(body()), "expect: 100-continue") + body()
    peer.send(data)
    gateway.finish()
    assert peer.answer.whole


def test_a_client_that_waits_for_100_continue_is_refused_before_it_sends() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.post(b"", authorization=None, expect="100-continue", content_length="1000")

    assert peer.answer.code == "invalid_api_key"
    assert peer.answer.headers["connection"] == "close"


@pytest.mark.parametrize("framing", ["declared", "chunked"])
def test_a_body_that_is_too_long_is_read_to_its_end(framing: str) -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.connect()
    if framing == "declared":
        peer.send(post(gateway, 1500))
        data = b"x" * 1500
    else:
        head = post(gateway, 0).replace(b"content-length: 0", b"transfer-encoding: chunked")
        peer.send(head)
        data = b"5dc\r\n" + b"x" * 1500 + b"\r\n0\r\n\r\n"
    peer.send(data[:-1])
    assert not peer.answers
    peer.send(data[-1:] + LIVE)

    assert codes(peer) == ["request_too_large", ""]
    assert peer.answers[0].status == 413


def test_a_body_that_is_twice_too_long_is_given_up() -> None:
    gateway = Gateway(limits=LimitSettings(request_bytes=1000))
    peer = gateway.connect()
    peer.send(post(gateway, 10**6))
    peer.send(b"x" * 2001)

    assert codes(peer) == ["request_too_large"]
    assert peer.transport.eof_written


# ---- clocks


@pytest.mark.parametrize("sent", [b"", b"P", b"POST /v1/responses HTTP/1.1\r\nhost: g\r\na: "])
def test_a_head_that_does_not_come_is_not_waited_for(sent: bytes) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    if sent:
        peer.send(sent)
    gateway.clock.advance(limits.HEADER_SECONDS - 0.1)
    assert not peer.transport.lost
    gateway.clock.advance(0.2)
    assert peer.closed


def test_a_head_that_comes_byte_by_byte_has_no_more_time() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    for number in range(10):
        assert not peer.transport.lost
        peer.send(LIVE[number : number + 1])
        gateway.clock.advance(limits.HEADER_SECONDS / 10)
    assert peer.closed
    assert not peer.answers


def test_an_idle_connection_is_kept_for_a_while() -> None:
    gateway = Gateway()
    peer = gateway.connect()
    peer.send(LIVE)
    gateway.clock.advance(limits.IDLE_SECONDS - 0.1)
    peer.send(LIVE)
    gateway.clock.advance(limits.IDLE_SECONDS - 0.1)
    assert not peer.transport.lost
    gateway.clock.advance(0.2)
    assert peer.closed


@pytest.mark.parametrize("enough", [True, False])
def test_a_body_must_come_at_a_least_rate(enough: bool) -> None:
    gateway = Gateway()
    peer = gateway.connect()
    window = int(limits.BODY_GRACE_SECONDS * limits.BODY_BYTES_PER_SECOND)
    peer.send(post(gateway, 10 * window))
    for _ in range(3):
        peer.send(b"x" * (window if enough else window // 2 - 1))
        gateway.clock.advance(limits.BODY_GRACE_SECONDS)

    assert peer.transport.lost is not enough


def test_nothing_is_timed_but_the_turn_while_it_runs() -> None:
    gateway = Gateway()
    peer = gateway.ask()
    gateway.call.heads()
    for number in range(100):
        gateway.call.sends(text(number=number))
        gateway.clock.advance(100)
    assert not peer.transport.lost


# ---- slow clients


BIG = text("x" * (1 << 20))


def test_a_slow_client_slows_its_upstream() -> None:
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    peer.post(body())
    gateway.call.heads()
    gateway.call.sends(created(), BIG)
    assert gateway.call.paused
    gateway.clock.advance(110)
    peer.transport.take()
    assert not gateway.call.paused

    gateway.finish()
    peer.transport.take()
    assert peer.answer.types[-1] == "response.completed"


def test_the_upstream_of_the_next_turn_is_slowed_too() -> None:
    """Writing is paused once, however many turns are written into it."""
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    turn = post(gateway, len(body())) + body()
    peer.send(turn * 2)
    gateway.call.heads()
    gateway.call.sends(created(), BIG, completed())
    gateway.clock.advance()
    assert len(gateway.upstreams.calls) == 2

    gateway.call.heads()
    gateway.call.sends(created("resp_2"))
    assert not gateway.call.paused, "what may yet decide on a replay is read as it arrives"
    gateway.call.sends(text())
    assert gateway.call.paused
    peer.transport.take()
    assert not gateway.call.paused


def test_a_client_that_takes_nothing_is_gone() -> None:
    gateway = Gateway(limits=LimitSettings(write_stall_seconds=120))
    peer = gateway.connect(slow=True)
    peer.post(body())
    gateway.call.heads()
    gateway.call.sends(created(), BIG)
    for _ in range(10):
        gateway.clock.advance(60)
        peer.transport.take(1000)
    assert not peer.transport.lost

    gateway.clock.advance(150)
    assert peer.transport.reset
    assert gateway.record["outcome"] == "client_disconnected"
    assert gateway.record["billing"]["usage_source"] == "estimated"


def test_a_closed_connection_is_not_kept_for_a_client_that_takes_nothing() -> None:
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    peer.post(body(), connection="close")
    gateway.finish()
    assert not peer.transport.lost
    gateway.clock.advance(150)
    assert peer.transport.lost
    assert gateway.record["outcome"] == "completed"


def test_nor_for_one_that_has_said_all_and_takes_nothing() -> None:
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    peer.post(body())
    gateway.finish()
    peer.transport.finish()
    gateway.clock.advance(100)
    assert not peer.transport.lost
    gateway.clock.advance(50)
    assert peer.transport.lost
    assert not gateway.app.connections


def test_nor_for_one_that_takes_all_but_a_little() -> None:
    """What it takes lets writing go on, but there is nothing more to be written."""
    gateway = Gateway()
    peer = gateway.connect(slow=True)
    peer.post(body())
    gateway.call.heads()
    gateway.call.sends(created(), BIG, completed())
    peer.transport.finish()
    peer.transport.take(peer.transport.get_write_buffer_size() - 10)
    gateway.clock.advance(150)
    assert peer.transport.lost
    assert not gateway.app.connections


# ---- our own faults


def test_a_bug_ends_one_connection_and_says_so(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway = Gateway()

    def broken(*_: object) -> None:
        raise LookupError("a bug")

    monkeypatch.setattr(gateway.app, "look", broken)
    peer = gateway.connect()
    peer.send(LIVE)

    assert codes(peer) == ["internal_error"]
    assert peer.transport.eof_written
    assert "a bug" in caplog.text
