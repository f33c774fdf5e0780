"""A request's head: what is kept of it, and what of it is refused."""

from __future__ import annotations

import pytest

from latchway.serve.incoming import Incoming
from latchway.serve.limits import HEADER_BYTES


def headed(
    *headers: tuple[str, str], method: str = "POST", version: str = "1.1", upgrade: bool = False
) -> Incoming:
    incoming = Incoming(limit_bytes=10)
    for name, value in headers:
        incoming.on_header(name.encode("latin-1"), value.encode("latin-1"))
    incoming.on_head(method, version, keep_alive=True, upgrade=upgrade)
    return incoming


HOST = ("Host", "gateway")
WEBSOCKET = ("Upgrade", "WebSocket")


@pytest.mark.parametrize(
    "incoming",
    [
        headed(),
        headed(HOST, HOST),
        headed(HOST, ("host", "other")),
        headed(HOST, ("transfer-encoding", "gzip, chunked")),
        headed(HOST, ("transfer-encoding", "chunked, chunked")),
        headed(HOST, ("transfer-encoding", "chunked"), version="1.0"),
        headed(HOST, version="2.0"),
        headed(HOST, version="0.9"),
        headed(HOST, method="CONNECT"),
        headed(HOST, WEBSOCKET, ("content-length", "5"), method="GET", upgrade=True),
        headed(HOST, WEBSOCKET, ("transfer-encoding", "chunked"), method="GET", upgrade=True),
    ],
    ids=[
        "no host", "two hosts", "two names", "coded", "chunked twice", "chunked 1.0", "2.0", "0.9",
        "connect", "a handshake with a length", "a handshake with chunks",
    ],
)  # fmt: skip
def test_what_the_parser_lets_pass_and_the_standard_does_not(incoming: Incoming) -> None:
    assert incoming.refusal is not None
    assert incoming.refusal.code == "invalid_request"
    assert incoming.unframed


@pytest.mark.parametrize(
    "incoming",
    [
        headed(HOST),
        headed(HOST, ("transfer-encoding", "Chunked")),
        headed(HOST, ("content-length", "5")),
        headed(version="1.0"),
        headed(HOST, WEBSOCKET, ("content-length", "0"), method="GET", upgrade=True),
        headed(HOST, ("upgrade", "h2c"), ("content-length", "5"), upgrade=True),
    ],
    ids=["plain", "chunked", "sized", "HTTP/1.0 needs no host", "a handshake", "h2c with a body"],
)
def test_what_is_sound(incoming: Incoming) -> None:
    assert incoming.refusal is None
    assert not incoming.unframed


@pytest.mark.parametrize(
    ("incoming", "asked"),
    [
        (headed(HOST, WEBSOCKET, method="GET", upgrade=True), True),
        (headed(HOST, WEBSOCKET, method="POST", upgrade=True), False),
        (headed(HOST, WEBSOCKET, method="GET", upgrade=False), False),
        (headed(HOST, ("Upgrade", "h2c"), method="GET", upgrade=True), False),
        (headed(HOST, WEBSOCKET, method="GET", version="1.0", upgrade=True), False),
    ],
)
def test_a_websocket_is_asked_for_by_a_get_of_1_1_alone(incoming: Incoming, asked: bool) -> None:
    assert incoming.upgrade is asked


def test_headers_of_one_name_are_joined_whatever_their_case() -> None:
    assert headed(HOST, ("X-A", "1"), ("x-a", "2")).headers["x-a"] == "1, 2"


def test_a_trailer_is_no_header() -> None:
    incoming = headed(HOST)
    incoming.on_header(b"authorization", b"Bearer stolen")
    incoming.on_header(b"host", b"other")
    assert incoming.headers == {"host": "gateway"}


@pytest.mark.parametrize("over", [False, True])
def test_a_head_has_a_bound(over: bool) -> None:
    incoming = Incoming(limit_bytes=10)
    incoming.on_url(b"/")
    incoming.on_header(b"a", b"x" * (HEADER_BYTES - 6 + over))
    assert (incoming.refusal is not None) is over
    assert bool(incoming.headers) is not over
    assert incoming.unframed is over


@pytest.mark.parametrize(
    ("size", "refused", "hopeless"), [(10, False, False), (11, True, False), (21, True, True)]
)
def test_a_body_has_a_bound(size: int, refused: bool, hopeless: bool) -> None:
    incoming = headed(HOST)
    for _ in range(size):
        incoming.on_body(b"x")

    assert (incoming.refusal is not None) is refused
    assert incoming.hopeless is hopeless
    assert incoming.body == (b"" if refused else b"x" * size)
    assert incoming.kept_bytes == len(incoming.body)


def test_of_a_refused_request_nothing_is_kept() -> None:
    incoming = headed(HOST)
    incoming.refuse("invalid_api_key")
    incoming.on_body(b"secret")
    assert (incoming.body, incoming.kept_bytes) == (b"", 0)


def test_the_first_refusal_stands() -> None:
    incoming = headed(HOST)
    incoming.refuse("invalid_api_key")
    incoming.refuse("request_too_large")
    assert incoming.refusal is not None
    assert incoming.refusal.code == "invalid_api_key"


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ("Bearer abc", "abc"), ("bearer  abc ", "abc"), ("Basic abc", ""), ("abc", ""), ("", ""),
        ("Bearer", ""), ("Bearer a, Bearer b", "a, Bearer b"),
    ],
)  # fmt: skip
def test_the_bearer_of_a_secret(value: str, secret: str) -> None:
    assert headed(HOST, ("Authorization", value)).bearer == secret


@pytest.mark.parametrize(
    ("value", "version", "expects"),
    [("100-continue", "1.1", True), ("100-Continue", "1.1", True), ("100-continue", "1.0", False),
     ("something", "1.1", False)],
)  # fmt: skip
def test_who_waits_for_100_continue(value: str, version: str, expects: bool) -> None:
    assert headed(HOST, ("Expect", value), version=version).expects_continue is expects


def test_path_and_query_are_taken_as_they_came() -> None:
    incoming = Incoming(limit_bytes=10)
    incoming.on_url(b"/v1/Models")
    incoming.on_url(b"/a%2Fb?x=1?y")
    incoming.on_head("GET", "1.1", keep_alive=True, upgrade=False)
    assert (incoming.path, incoming.query) == ("/v1/Models/a%2Fb", "x=1?y")
