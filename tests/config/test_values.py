"""Each kind of single value, both sides of each bound."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latchway.config import values as v
from latchway.config.kinds import Value, Wrong
from latchway.settings import Secret

SECONDS = v.number(0.001, 86_400)
BYTES = v.whole(1024, 2048, "bytes")
WORDS = v.one_of("http", "file", unbuilt="websocket")

RIGHT: list[tuple[Value, str, Any]] = [
    (SECONDS, "0.001", 0.001),
    (SECONDS, "86400", 86_400.0),
    (SECONDS, ".5", 0.5),
    (SECONDS, "1e1", 10.0),
    (BYTES, "1024", 1024),
    (BYTES, "2048", 2048),
    (WORDS, "file", "file"),
    (v.FLAG, "true", True),
    (v.FLAG, "false", False),
    (v.PRICE, "2.50", 2_500_000_000),
    (v.PRICE, "0.000000001", 1),
    (v.PRICE, "1e-9", 1),
    (v.PRICE, "0", 0),
    (v.PRICE, "1000000", 10**15),
    (v.PRICE, "0.1", 100_000_000),
    (v.LISTEN_ADDRESS, "127.0.0.1:8787", ("127.0.0.1", 8787)),
    (v.LISTEN_ADDRESS, "localhost:0", ("localhost", 0)),
    (v.LISTEN_ADDRESS, "[::1]:65535", ("::1", 65535)),
    (v.DATABASE, "sqlite:///latchway.db", Path("latchway.db")),
    (v.DATABASE, "sqlite:////var/lib/latchway.db", Path("/var/lib/latchway.db")),
    (v.FILE, "cert.pem", Path("cert.pem")),
    (v.BASE_URL, "https://api.openai.com/v1", "https://api.openai.com/v1"),
    (v.BASE_URL, "http://[::1]:9002/v1/", "http://[::1]:9002/v1"),
]

WRONG: list[tuple[Value, str, str]] = [
    (SECONDS, "0.0009", ""),
    (SECONDS, "86400.1", ""),
    (SECONDS, "-1", ""),
    (SECONDS, "nan", ""),
    (SECONDS, "inf", ""),
    (SECONDS, "5m", ""),
    (SECONDS, "1" * 5000, ""),
    (SECONDS, "٣", ""),
    (BYTES, "1023", ""),
    (BYTES, "2049", ""),
    (BYTES, "1024.0", ""),
    (BYTES, "0x400", ""),
    (WORDS, "ftp", ""),
    (WORDS, "websocket", "`websocket` is not built yet; use `http`"),
    (v.FLAG, "yes", ""),
    (v.PRICE, "-1", ""),
    (v.PRICE, "1000000.01", ""),
    (v.PRICE, "0.0000000001", "more than 9 places"),
    (v.PRICE, "$2", ""),
    (v.TOKEN, "", "must have 8 characters"),
    (v.TOKEN, "1234567", "must have 8 characters"),
    (v.TOKEN, "1234567 8", "cannot stand in a header"),
    (v.CREDENTIAL, "", "is empty"),
    (v.CREDENTIAL, "sk-1\n", "cannot stand in a header"),
    (v.CREDENTIAL, "schlüssel", "cannot stand in a header"),
    (v.LISTEN_ADDRESS, "8787", ""),
    (v.LISTEN_ADDRESS, "127.0.0.1", ""),
    (v.LISTEN_ADDRESS, "127.0.0.1:65536", ""),
    (v.LISTEN_ADDRESS, "::1:8787", ""),
    (v.LISTEN_ADDRESS, "[localhost]:1", "no IPv6 address"),
    (v.LISTEN_ADDRESS, "http://a:1", ""),
    (v.DATABASE, "latchway.db", ""),
    (v.DATABASE, "sqlite://latchway.db", ""),
    (v.DATABASE, "sqlite:///", "must name a file"),
    (v.DATABASE, "sqlite:///folder/", "must name a file"),
    (v.DATABASE, "sqlite:///:memory:", "must name a file"),
    (v.DATABASE, "sqlite:///a?mode=ro", "no parameters"),
    (v.DATABASE, "postgresql://u:p@h/n", "PostgreSQL is not built yet"),
    (v.FILE, "", ""),
    (v.BASE_URL, "api.openai.com/v1", ""),
    (v.BASE_URL, "ftp://h/v1", ""),
    (v.BASE_URL, "https:///v1", ""),
    (v.BASE_URL, "https://u:p@h/v1", "no user or password"),
    (v.BASE_URL, "https://h/v1?key=1", "no query"),
    (v.BASE_URL, "https://h/v1#x", "no fragment"),
    (v.BASE_URL, "https://h/v1/responses", "before /responses"),
    (v.BASE_URL, "https://h:99999/v1", "host or port"),
    (v.BASE_URL, "https://h:0/v1", "host or port"),
    (v.BASE_URL, "https://[::1/v1", "host or port"),
    (v.BASE_URL, "https://h /v1", "no space"),
    (v.BASE_URL, "https://hö/v1", "no space"),
]


@pytest.mark.parametrize(("kind", "text", "value"), RIGHT)
def test_what_a_kind_takes(kind: Value, text: str, value: Any) -> None:
    assert kind.take(text) == value


@pytest.mark.parametrize(("kind", "text", "message"), WRONG)
def test_what_a_kind_refuses(kind: Value, text: str, message: str) -> None:
    with pytest.raises(Wrong) as refused:
        kind.take(text)
    assert bool(message) == bool(str(refused.value)), "an empty message means the kind's own words"
    assert message in str(refused.value)


@pytest.mark.parametrize(("kind", "text"), [(v.TOKEN, "12345678"), (v.CREDENTIAL, "k")])
def test_a_credential_is_kept_as_a_secret(kind: Value, text: str) -> None:
    secret = kind.take(text)
    assert isinstance(secret, Secret)
    assert secret.reveal() == text


@given(st.integers(0, v.MAX_PRICE * 10**9))
def test_a_price_is_exact(nano: int) -> None:
    assert v.PRICE.take(f"{nano // 10**9}.{nano % 10**9:09d}") == nano


@given(st.sampled_from(sorted({id(kind): kind for kind, _, _ in WRONG}.items())), st.text())
def test_no_text_raises_anything_else(kind: tuple[int, Value], text: str) -> None:
    with contextlib.suppress(Wrong):
        assert kind[1].take(text) is not None
