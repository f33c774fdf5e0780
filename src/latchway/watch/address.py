"""From the URL that a person typed to where a turn is sent."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from latchway.upstreams.headers import sound
from latchway.upstreams.pool import Origin

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}
SECURE = frozenset({"https", "wss"})
SOCKETS = frozenset({"ws", "wss"})

RESPONSES = "/responses"


@dataclass(frozen=True, slots=True)
class Address:
    """Where, and over which transport. `path` has the query, if there is one."""

    origin: Origin
    websocket: bool
    host: str
    """Value of the `host` field."""
    path: str

    def __str__(self) -> str:
        """The whole URL, in the scheme of its transport."""
        scheme = ("http", "ws")[self.websocket] + ("", "s")[self.origin.secure]
        return f"{scheme}://{self.host}{self.path}"


def address_of(url: str, *, websocket: bool = False) -> Address:
    """A base URL with its `/v1`, or the whole URL of `…/responses`; `ws` and `wss` are sockets, and
    so is any with `websocket`. ValueError, in words, if it is none."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise ValueError("say an address such as http://127.0.0.1:9001/v1 or wss://HOST/v1")
    if parts.username is not None or parts.password is not None:
        raise ValueError("say no credential in the address: name its variable with --key-env")
    try:
        return _address(parts, websocket or parts.scheme in SOCKETS)
    except UnicodeError:
        raise ValueError("its host is no name") from None


def _address(parts: SplitResult, websocket: bool) -> Address:
    path = parts.path.rstrip("/")
    if not path.endswith(RESPONSES):
        path += RESPONSES
    if parts.query:
        path += f"?{parts.query}"
    if not sound(path) or " " in path:
        raise ValueError("its path must be escaped")
    name = (parts.hostname or "").encode("idna").decode("ascii")
    port = parts.port or DEFAULT_PORTS[parts.scheme]
    origin = Origin(parts.scheme in SECURE, name, port)
    return Address(origin, websocket, parts.netloc.encode("idna").decode("ascii"), path)
