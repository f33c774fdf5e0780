"""One request as it comes in: its head, and its body within a limit."""

from __future__ import annotations

from dataclasses import dataclass, field

from latchway.ports import Key
from latchway.serve import limits
from latchway.wire.request import RequestFault

VERSIONS = frozenset({"1.0", "1.1"})

REFUSED_BODY_FACTOR = 2
"""A refused body is read to its end, but only up to so many times the limit of a body."""


@dataclass(slots=True)
class Incoming:
    """A request under way. `refusal`: why it is not served; its body is then only read away."""

    limit_bytes: int
    url: bytes = b""
    path: str = ""
    """Without the query; known once the head is whole."""
    method: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    keep_alive: bool = True
    http11: bool = True
    upgrade: bool = False
    """It asks for a WebSocket."""
    unframed: bool = False
    """Where it ends cannot be told for sure: nothing behind its head may be read as a request."""
    key: Key | None = None
    refusal: RequestFault | None = None
    allowed: tuple[str, ...] = ()
    """Methods that its path takes, if its own is none of them."""
    head_done: bool = False
    called: bool = False
    """An upstream was asked to change something, so that a failure may have left it behind."""
    invited: bool = False
    """The client was told to send the body on."""
    received: int = 0
    checks: int = 0
    hopeless: bool = False
    """The body is so long that the connection closes rather than reads it."""
    _head_bytes: int = 0
    _hosts: int = 0
    _parts: list[bytes] = field(default_factory=list)

    def on_url(self, url: bytes) -> None:
        self.url += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; several of one name are joined as RFC 9110 5.3 says. A trailer is none: it
        comes behind the body, where nobody has looked at it before (RFC 9110 6.5.1)."""
        self._count(len(name) + len(value) + 4)
        if self.head_done or self._head_bytes > limits.HEADER_BYTES:
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text
        self._hosts += key == "host"

    def on_head(self, method: str, version: str, *, keep_alive: bool, upgrade: bool) -> None:
        """The head is whole. `upgrade`: it asks for another protocol, and says so as it must;
        HTTP/1.0 cannot (RFC 9110 7.8)."""
        self.head_done = True
        self.path = self.url.partition(b"?")[0].decode("latin-1")
        self.method, self.keep_alive, self.http11 = method, keep_alive, version == "1.1"
        asked = self.headers.get("upgrade", "").lower() if upgrade and self.http11 else ""
        self.upgrade = method == "GET" and asked == "websocket"
        for wrong, message in self._faults(version):
            if wrong:
                self.refuse("invalid_request", message)
                self.unframed = True

    def _faults(self, version: str) -> tuple[tuple[bool, str], ...]:
        """What RFC 9112 refuses and the parser lets pass (2.3, 3.2, 6.1); and a WebSocket's
        handshake with a body, behind which nobody can tell where its frames begin."""
        coded = self.headers.get("transfer-encoding", "chunked").strip().lower()
        return (
            (self.upgrade and self.has_body, "Send no body with a WebSocket's handshake."),
            (version not in VERSIONS, "The gateway speaks HTTP/1.1 and HTTP/1.0."),
            (self.method == "CONNECT", "The gateway is no proxy."),
            (self.http11 and self._hosts != 1, "Send one Host header."),
            (coded != "chunked", "Send the body chunked, or with its length."),
            (
                not self.http11 and "transfer-encoding" in self.headers,
                "HTTP/1.0 has no transfer codings; send the body with its length.",
            ),
        )

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > limits.HEADER_BYTES:
            self.headers.clear()
            self.unframed = True
            self.refuse("request_too_large", f"The head is over {limits.HEADER_BYTES} bytes.")

    def on_body(self, part: bytes) -> None:
        self.received += len(part)
        if self.received > self.limit_bytes:
            self._parts.clear()
            self.refuse("request_too_large", f"The body is over {self.limit_bytes} bytes.")
            self.hopeless = self.received > REFUSED_BODY_FACTOR * self.limit_bytes
        elif self.refusal is None:
            self._parts.append(part)

    def refuse(self, code: str, message: str | None = None, param: str | None = None) -> None:
        """Say once why the request is not served."""
        if self.refusal is None:
            self.refusal = RequestFault(code, message or "", param)

    @property
    def has_body(self) -> bool:
        """Does one follow the head? A length may have zeros before it, and blanks behind it."""
        length = self.headers.get("content-length", "").strip("0 \t")
        return "transfer-encoding" in self.headers or length != ""

    @property
    def framing(self) -> bytes:
        """The fields of its head that say where it ends, and what may follow."""
        name = "transfer-encoding" if "transfer-encoding" in self.headers else "content-length"
        connection = "keep-alive" if self.keep_alive else "close"
        return f"{name}: {self.headers[name]}\r\nconnection: {connection}\r\n".encode("latin-1")

    @property
    def body(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    @property
    def kept_bytes(self) -> int:
        """Of its body, in memory."""
        return 0 if self.refusal is not None else self.received

    @property
    def query(self) -> str:
        return self.url.partition(b"?")[2].decode("latin-1")

    @property
    def bearer(self) -> str:
        """The secret in `Authorization: Bearer …`; empty if there is none."""
        scheme, _, secret = self.headers.get("authorization", "").partition(" ")
        return secret.strip() if scheme.lower() == "bearer" else ""

    @property
    def expects_continue(self) -> bool:
        return self.http11 and self.headers.get("expect", "").lower() == "100-continue"
