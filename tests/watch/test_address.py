"""An address is a base URL, or the whole of one; a credential in it is refused."""

from __future__ import annotations

import pytest

from latchway.upstreams.pool import Origin
from latchway.watch.address import address_of

TAKEN = [
    ("http://127.0.0.1:9001/v1", False, "http://127.0.0.1:9001/v1/responses"),
    ("http://h/v1/", False, "http://h/v1/responses"),
    ("https://h/v1/responses", False, "https://h/v1/responses"),
    ("https://h/v1?api-version=1", False, "https://h/v1/responses?api-version=1"),
    ("http://h/v1", True, "ws://h/v1/responses"),
    ("https://h/v1", True, "wss://h/v1/responses"),
    ("ws://h/v1", False, "ws://h/v1/responses"),
    ("wss://h:8443/v1", False, "wss://h:8443/v1/responses"),
    ("http://[::1]:9001/v1", False, "http://[::1]:9001/v1/responses"),
]


@pytest.mark.parametrize(("url", "websocket", "whole"), TAKEN)
def test_an_address_is_completed(url: str, websocket: bool, whole: str) -> None:
    address = address_of(url, websocket=websocket)

    assert str(address) == whole
    assert address.websocket is whole.startswith("ws")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://h/v1", Origin(False, "h", 80)),
        ("wss://h/v1", Origin(True, "h", 443)),
        ("https://bücher.example:8443/v1", Origin(True, "xn--bcher-kva.example", 8443)),
    ],
)
def test_it_says_where_to_connect(url: str, origin: Origin) -> None:
    assert address_of(url).origin == origin


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("h/v1", "say an address"),
        ("ftp://h/v1", "say an address"),
        ("http:///v1", "say an address"),
        ("https://user:secret@h/v1", "no credential"),
        ("http://h/a path", "escaped"),
        ("http://h:port/v1", "Port"),
        (f"http://{'x' * 70}.example/v1", "its host is no name"),
    ],
)
def test_what_is_no_address_is_refused(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        address_of(url)
