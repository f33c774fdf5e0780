"""One request as it comes in: its head, and its body within a limit."""

from __future__ import annotations

from dataclasses import dataclass, field

from latchway.ports import Key
from latchway.serve import limits
from latchway.wire.request import RequestFault

REFUSED_BODY_FACTOR = 2
"""A refused body is read to its end, but only up to so many times the limit of a body."""


@dataclass(slots=True)
class Incoming:
    """A request under way. `refusal`: why it is not served; its body is then only read away."""

    limit_bytes: int
    url: bytes = b""
    method: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    keep_alive: bool = True
    http11: bool = True
    key: Key | None = None
    refusal: RequestFault | None = None
    head_done: bool = False
    received: int = 0
    checks: int = 0
    hopeless: bool = False
    """The body is so long that the connection closes rather than reads it."""
    _head_bytes: int = 0
    _parts: list[bytes] = field(default_factory=list)

    def on_url(self, url: bytes) -> None:
        self.url += url
        self._count(len(url))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; several of one name are joined as RFC 9110 5.3 says."""
        self._count(len(name) + len(value) + 4)
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > limits.HEADER_BYTES:
            self.headers.clear()
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
    def body(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    @property
    def path(self) -> str:
        return self.url.partition(b"?")[0].decode("latin-1")

    @property
    def query(self) -> str:
        return self.url.partition(b"?")[2].decode("latin-1")

    @property
    def upgrade(self) -> bool:
        return self.headers.get("upgrade", "").lower() == "websocket" and self.method == "GET"

    @property
    def expects_continue(self) -> bool:
        return self.headers.get("expect", "").lower() == "100-continue"
