"""From an HTTP request to a WebSocket, or to the reason why not (RFC 6455 4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from websockets.datastructures import Headers
from websockets.http11 import Request as Handshake
from websockets.server import ServerProtocol

from latchway.serve import pages
from latchway.serve.websocket import SocketConnection

if TYPE_CHECKING:
    from latchway.serve.app import App
    from latchway.serve.http import HttpConnection
    from latchway.serve.incoming import Incoming


def open_socket(app: App, connection: HttpConnection, incoming: Incoming, rest: bytes) -> None:
    """Answer the handshake; from there on the connection is a WebSocket, `rest` its first bytes."""
    asked = Handshake(incoming.url.decode("latin-1"), Headers(incoming.headers.items()))
    response = ServerProtocol().accept(asked)
    if response.status_code != 101:
        incoming.refuse("invalid_request", f"No WebSocket handshake: {response.reason_phrase}.")
        incoming.keep_alive = False
        pages.refuse(app, connection, incoming)
        return
    response.headers["x-request-id"] = app.new_id()
    connection.write(response.serialize())
    assert connection.transport is not None
    connection.handed_over()
    SocketConnection(app, incoming, connection.transport).start(rest)
