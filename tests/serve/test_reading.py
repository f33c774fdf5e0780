"""Bytes to requests: what is one, what is none, and what may grow."""

from __future__ import annotations

from typing import Any

import pytest

from latchway.serve.incoming import Incoming
from latchway.serve.limits import HEADER_BYTES
from latchway.serve.reading import RequestReader

LIMIT = 1000


class Heard:
    """A listener that writes down what it is told. `stops`: at what it lets the reader stop."""

    def __init__(self, stops: str = "", fails: str = "") -> None:
        self.told: list[Any] = []
        self.heads: list[Incoming] = []
        self.requests: list[Incoming] = []
        self._stops, self._fails = stops, fails
        self.reader = RequestReader(self, LIMIT)

    def feed(self, *parts: bytes) -> list[Any]:
        for part in parts:
            self.reader.feed(part)
        return self.told

    def _tell(self, what: str, *more: Any) -> None:
        if what == self._fails:
            raise LookupError("a bug")
        self.told.append((what, *more) if more else what)
        if what == self._stops:
            self.reader.stopped = True

    def on_begin(self) -> None:
        self._tell("begin")

    def on_head(self, incoming: Incoming) -> None:
        self.heads.append(incoming)
        self._tell("head")

    def on_hopeless(self, incoming: Incoming) -> None:
        self._tell("hopeless")

    def on_request(self, incoming: Incoming) -> None:
        self.requests.append(incoming)
        self._tell("request")

    def on_upgrade(self, incoming: Incoming, rest: bytes) -> None:
        self._tell("upgrade", rest)

    def on_unreadable(self, code: str, message: str) -> None:
        self.reader.stopped = True
        self._tell("unreadable", code)

    def on_fault(self, fault: BaseException) -> None:
        self.reader.stopped = True
        self._tell("fault", type(fault))


POST = b"POST /v1/responses HTTP/1.1\r\nhost: g\r\n"
GET = b"GET / HTTP/1.1\r\nhost: g\r\n\r\n"
WHOLE = ["begin", "head", "request"]


def test_a_request_is_the_same_however_it_is_cut() -> None:
    data = POST + b"content-length: 5\r\nx-a: 1\r\nX-A: 2\r\n\r\nhello" + GET
    for size in range(1, len(data)):
        heard = Heard()
        told = heard.feed(*(data[at : at + size] for at in range(0, len(data), size)))
        first, second = heard.requests
        assert told == WHOLE * 2
        assert (first.method, first.path, first.body) == ("POST", "/v1/responses", b"hello")
        assert first.headers["x-a"] == "1, 2"
        assert (second.method, second.path, second.body) == ("GET", "/", b"")


@pytest.mark.parametrize(
    ("first", "served"),
    [
        (GET, True),
        (GET[:-2] + b"connection: close\r\n\r\n", False),
        (GET[:-2] + b"connection: close, upgrade\r\nupgrade: h2c\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\n\r\n", False),
        (b"GET / HTTP/1.0\r\nconnection: keep-alive\r\n\r\n", True),
    ],
)
def test_behind_a_request_that_closes_there_is_none_however_it_is_cut(
    first: bytes, served: bool
) -> None:
    data = first + b"\r\n" + GET
    for size in range(1, len(data) + 1):
        told = Heard().feed(*(data[at : at + size] for at in range(0, len(data), size)))
        assert told == [*WHOLE, *(WHOLE if served else [("unreadable", "invalid_request")])]


def test_chunks_are_joined_and_their_trailers_are_no_headers() -> None:
    heard = Heard()
    heard.feed(POST + b"transfer-encoding: chunked\r\n\r\n")
    heard.feed(b"3;name=value\r\nhel\r\n2\r\nlo\r\n0\r\nx-latchway-route: b\r\n\r\n")

    (request,) = heard.requests
    assert request.body == b"hello"
    assert "x-latchway-route" not in request.headers


SMUGGLED = b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: g\r\n\r\n"


@pytest.mark.parametrize(
    "data",
    {
        "two lengths": POST + b"content-length: 5\r\ncontent-length: 6\r\n\r\nhello!",
        "the same length twice": POST + b"content-length: 5\r\ncontent-length: 5\r\n\r\nhello",
        "a list of lengths": POST + b"content-length: 5, 5\r\n\r\nhello",
        "a signed length": POST + b"content-length: +5\r\n\r\nhello",
        "a hexadecimal length": POST + b"content-length: 0x5\r\n\r\nhello",
        "a length beyond all bounds": POST + b"content-length: %d\r\n\r\n" % 10**30,
        "length and chunks": POST + b"content-length: 6\r\ntransfer-encoding: chunked\r\n\r\n",
        "chunks and length": POST + b"transfer-encoding: chunked\r\ncontent-length: 6\r\n\r\n",
        "chunked is not the last coding": POST + b"transfer-encoding: chunked, gzip\r\n\r\n",
        "a coding that looks like chunked": POST + b"transfer-encoding: xchunked\r\n\r\n",
        "a space before the colon": POST + b"content-length : 5\r\n\r\nhello",
        "a folded header": POST + b"x-a: b\r\n c\r\n\r\n",
        "a folded length": POST + b"content-length:\r\n 5\r\n\r\nhello",
        "a bare line feed in the head": b"GET / HTTP/1.1\nhost: g\n\n",
        "a bare carriage return in a value": POST + b"x-a: b\rc\r\n\r\n",
        "NUL in a value": POST + b"x-a: b\0c\r\n\r\n",
        "a chunk size of no number": POST + b"transfer-encoding: chunked\r\n\r\nzz\r\n",
        "a negative chunk size": POST + b"transfer-encoding: chunked\r\n\r\n-1\r\n",
        "a chunk size beyond all bounds": POST
        + b"transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        "a chunk that does not end where it says": POST
        + b"transfer-encoding: chunked\r\n\r\n3\r\nhello\r\n"
        + SMUGGLED,
        "a chunk that ends in a bare line feed": POST
        + b"transfer-encoding: chunked\r\n\r\n5\nhello\r\n"
        + SMUGGLED,
        "no method": b" / HTTP/1.1\r\n\r\n",
        "a method in small letters": b"get / HTTP/1.1\r\nhost: g\r\n\r\n",
        "a space in the path": b"GET /a b HTTP/1.1\r\nhost: g\r\n\r\n",
        "HTTP/2's opening words": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    }.items(),
    ids=lambda item: item[0],
)
def test_what_could_be_read_in_two_ways_is_no_request(data: tuple[str, bytes]) -> None:
    heard = Heard()
    told = heard.feed(data[1], GET)

    assert heard.requests == []
    assert told[-1] == ("unreadable", "invalid_request")


LINES = b"a: %s\r\n" % (b"b" * 100) * 1000


@pytest.mark.parametrize(
    ("opening", "flood"),
    [
        (b"GET /", b"a" * 100),
        (b"GET / HTTP/1.1\r\na", b"a" * 100),
        (b"GET / HTTP/1.1\r\na: ", b"a" * 100),
        (POST + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\na: ", b"a" * 100),
        (POST + b"transfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n", b"a: b\r\n" * 20),
        (POST + b"transfer-encoding: chunked\r\n\r\n1;", b"a" * 100),
    ],
    ids=["path", "name", "value", "trailer", "trailers", "extension"],
)
def test_what_is_no_body_does_not_grow_for_ever(opening: bytes, flood: bytes) -> None:
    heard = Heard()
    heard.feed(opening, *[flood] * (HEADER_BYTES // len(flood)))
    assert "unreadable" not in str(heard.told)

    heard.feed(flood, flood)
    assert heard.told[-1] == ("unreadable", "request_too_large")
    assert heard.requests == []


def test_a_long_head_that_is_whole_is_refused_by_name_not_by_silence() -> None:
    heard = Heard()
    heard.feed(b"GET / HTTP/1.1\r\nhost: g\r\n" + LINES + b"\r\n")

    (request,) = heard.requests
    assert request.refusal is not None
    assert request.refusal.code == "request_too_large"


def test_the_end_of_a_large_body_does_not_count_against_the_next_head() -> None:
    heard = Heard()
    heard.reader = RequestReader(heard, 10 * HEADER_BYTES)
    size = 2 * HEADER_BYTES
    heard.feed(POST + b"content-length: %d\r\n\r\n" % size)
    told = heard.feed(b"x" * size + GET[:10], GET[10:])

    assert told == WHOLE * 2


def test_a_body_that_comes_byte_by_byte_is_no_head() -> None:
    heard = Heard()
    heard.reader = RequestReader(heard, 10 * HEADER_BYTES)
    size = 2 * HEADER_BYTES
    heard.feed(POST + b"content-length: %d\r\n\r\n" % size, *[b"x"] * size)

    assert len(heard.requests[0].body) == size


def test_a_body_that_is_far_too_long_is_not_read_to_its_end() -> None:
    heard = Heard(stops="hopeless")
    told = heard.feed(POST + b"content-length: 999999\r\n\r\n", b"x" * 2 * LIMIT, b"x", GET)

    assert told == ["begin", "head", "hopeless"]


def test_nothing_is_told_once_the_reader_is_stopped() -> None:
    heard = Heard(stops="head")
    told = heard.feed(POST + b"content-length: 5\r\n\r\nhello" + GET, GET)

    assert told == ["begin", "head"]


HANDSHAKE = (
    b"GET /v1/responses HTTP/1.1\r\nhost: g\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
)


def test_a_websocket_ends_the_requests() -> None:
    told = Heard().feed(HANDSHAKE + b"\r\n\x81\x00" + GET)

    assert told == ["begin", "head", ("upgrade", b"\x81\x00" + GET)]


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.1\r\nhost: g\r\nconnection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\n\r\n",
        POST + b"connection: upgrade\r\nupgrade: websocket\r\n\r\n",
        POST + b"connection: upgrade\r\nupgrade: h2c\r\ncontent-length: 00 \r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: g\r\nupgrade: websocket\r\n\r\n",
        b"GET / HTTP/1.1\r\nhost: g\r\nconnection: upgrade\r\n\r\n",
    ],
    ids=["h2c", "posted", "of no bytes", "without connection: upgrade", "without upgrade"],
)
def test_any_other_upgrade_is_a_request_like_any_other(asked: bytes) -> None:
    heard = Heard()
    assert heard.feed(asked + GET) == WHOLE * 2
    assert not heard.requests[0].upgrade


UPGRADES = {
    "curl": b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABk\r\n",
    "posted": b"connection: upgrade\r\nupgrade: websocket\r\n",
}
BODIES = {
    "sized": b"content-length: %d\r\n\r\n%b" % (len(GET), GET),
    "chunked": b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n" % (len(GET), GET),
}


@pytest.mark.parametrize("framed", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("upgrade", UPGRADES.values(), ids=UPGRADES)
def test_the_body_behind_an_upgrade_that_is_not_taken_is_read_however_it_is_cut(
    upgrade: bytes, framed: bytes
) -> None:
    data = POST + upgrade + framed + GET
    for size in range(1, len(data) + 1):
        heard = Heard()
        told = heard.feed(*(data[at : at + size] for at in range(0, len(data), size)))
        assert told == WHOLE * 2
        assert [request.body for request in heard.requests] == [GET, b""]


def test_behind_a_body_behind_an_upgrade_that_closes_there_is_no_request() -> None:
    data = POST + b"connection: close, upgrade\r\nupgrade: h2c\r\n" + BODIES["sized"] + GET
    for size in range(1, len(data) + 1):
        told = Heard().feed(*(data[at : at + size] for at in range(0, len(data), size)))
        assert told == [*WHOLE, ("unreadable", "invalid_request")]


@pytest.mark.parametrize("upgrade", ["", *UPGRADES])
def test_a_framing_that_cannot_be_read_is_refused_behind_an_upgrade_too(upgrade: str) -> None:
    """The parser looks at the tab behind the coding's name only if it is to read the body."""
    framing = b"transfer-encoding: chunked\t\r\n" + UPGRADES.get(upgrade, b"")
    heard = Heard()

    assert heard.feed(POST + framing + b"\r\n0\r\n\r\n" + GET, GET)[-1:] == [
        ("unreadable", "invalid_request")
    ]
    assert not heard.requests


@pytest.mark.parametrize("framed", BODIES.values(), ids=BODIES)
def test_the_body_of_a_handshake_is_never_a_request(framed: bytes) -> None:
    """It is refused by its head, so what follows that must not be read at all."""
    heard = Heard(stops="head")
    told = heard.feed(HANDSHAKE + framed + GET, GET)

    assert told == ["begin", "head"]
    assert heard.heads[0].unframed


def test_thousands_of_upgrades_in_one_read_are_one_after_another() -> None:
    asked = b"GET / HTTP/1.1\r\nhost: g\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"
    assert Heard().feed(asked * 5000) == WHOLE * 5000


@pytest.mark.parametrize("where", ["begin", "head", "request"])
def test_a_bug_of_ours_is_told_as_one_and_not_blamed_on_the_client(where: str) -> None:
    told = Heard(fails=where).feed(GET)

    assert told[-1] == ("fault", LookupError)
