"""Clients that are none: what they send is no request, or never becomes one.

Nothing of theirs may be called, charged or kept, and no other connection may notice them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sim.clients import Client, frame_of

if TYPE_CHECKING:
    from sim.world import World

POST = b"POST /v1/responses HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\n"
UPGRADE = (
    b"GET /v1/responses HTTP/1.1\r\nhost: g\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
    b"sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)

CHUNKED = b"transfer-encoding: chunked\r\n\r\n5\r\n"

OF_HTTP = (
    b"",
    b"\x16\x03\x01\x02\x00 this is TLS",
    b"GET / HTTP/1.1\r\n",
    b"GET /nothing HTTP/1.1\r\nhost: g\r\n\r\n",
    POST + b"content-length: 9\r\n\r\n{}",
    POST + b"content-length: 2\r\ncontent-length: 3\r\n\r\n{}",
    POST + CHUNKED,
)
"""What is sent without a key."""

WITH_A_KEY = (
    POST + b"%b\r\ncontent-length: 2\r\n\r\n{}",
    POST + b"%b\r\ncontent-length: 9\r\n\r\n{broken",
    POST + b"%b\r\ncontent-length: 40000000\r\n\r\n",
    POST + b"%b\r\n" + CHUNKED + b"zz",
    UPGRADE + b"%b\r\n\r\n" + frame_of(0x82, b"binary"),
    UPGRADE + b"%b\r\n\r\n" + frame_of(0x81, b'{"type":"response.cancel"}'),
    UPGRADE + b"%b\r\n\r\n" + frame_of(0x81, b"\xff\xfe"),
    UPGRADE + b"%b\r\n\r\n" + b"\x81\x05hello",
    UPGRADE + b"%b\r\n\r\n" + frame_of(0x01, b"half a message"),
)


class RudeClient(Client):
    """It sends something, whole or cut short, and may forget to leave."""

    def __init__(self, world: World) -> None:
        super().__init__(world, [])
        random = world.random
        sent = random.choice(OF_HTTP)
        if random.random() < 0.6:
            key = b"authorization: Bearer " + world.secret("alice").encode()
            sent = random.choice(WITH_A_KEY) % key
        if random.random() < 0.2:
            sent = sent[: random.randrange(len(sent) + 1)]
        self._sent = sent

    def begin(self) -> None:
        if self._sent:
            self.send(self._sent)
        how = self.universe.random.choice(("fin", "rst", None))
        if how is not None:
            self.universe.after(self.universe.random.random() * 20, lambda: self.leave(how))

    def read(self, data: bytes) -> None:
        """Nobody looks at the refusal."""
