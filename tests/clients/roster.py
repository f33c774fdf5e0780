"""The clients that are tried: a program, one of its modes, and how it reads what it is sent."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

from clients import environments
from clients.outcome import Outcome, Wire, as_body, over_http, over_websocket
from clients.readers import (
    NODE,
    PYTHON,
    Sdk,
    Seen,
    as_it_is,
    by_example,
    by_helper,
    by_library,
    by_sdk,
)


@dataclass(frozen=True, slots=True)
class Client:
    """`program` runs in the environment of that name."""

    name: str
    environment: str
    program: str
    mode: str
    wire: Callable[[Outcome], Wire]
    reads: Callable[[Wire, Sdk], Seen]
    sdk: Sdk = PYTHON
    max_retries: int = 0
    """Of the SDK's own."""
    adds_nothing: bool = False
    """Its request has a model and an input, and cannot have more."""

    @property
    def key(self) -> str:
        """The name of its key, by which its turns are found in the log."""
        return self.name.replace(", ", "/").replace(" ", "-")

    @property
    def whole(self) -> bool:
        """Does it ask for one JSON body?"""
        return self.wire is as_body

    @property
    def over_socket(self) -> bool:
        return self.wire is over_websocket

    def expected(self, outcome: Outcome) -> Seen:
        """What it must see of this outcome."""
        return self.reads(self.wire(outcome), self.sdk)


Mode = tuple[str, Callable[[Outcome], Wire], Callable[[Wire, Sdk], Seen]]

HTTP_MODES: tuple[Mode, ...] = (
    ("stream", over_http, by_sdk),
    ("helper", over_http, by_helper),
    ("body", as_body, by_sdk),
)
ASYNC_MODES = tuple((f"async {mode}", wire, reads) for mode, wire, reads in HTTP_MODES)
SOCKET: Mode = ("socket", over_websocket, as_it_is)
KEPT_SOCKET: Mode = ("kept socket", over_websocket, as_it_is)
ASYNC_SOCKET: Mode = ("async socket", over_websocket, as_it_is)
LIBRARY_MODES: tuple[Mode, ...] = (
    ("sse", over_http, by_library),
    ("async sse", over_http, by_library),
    ("websocket", over_websocket, by_library),
    ("async websocket", over_websocket, by_library),
)
EXAMPLE_SSE: Mode = ("sse", over_http, by_example)
EXAMPLE_SOCKET: Mode = ("websocket", over_websocket, by_example)


def _of(
    name: str,
    environment: str,
    program: str,
    modes: tuple[Mode, ...],
    sdk: Sdk = PYTHON,
) -> list[Client]:
    return [
        Client(f"{name}, {mode}", environment, program, mode, wire, reads, sdk)
        for mode, wire, reads in modes
    ]


OLD, NEW, HERE = "openai-2.15.0", "openai-3.57.0", "here"
"""HERE: the environment of the tests themselves."""

OF_THIS_PLACE = (
    *_of("latchway_client", HERE, "library.py", (LIBRARY_MODES[0], LIBRARY_MODES[3])),
    *_of("example", HERE, "examples.py", (EXAMPLE_SSE, EXAMPLE_SOCKET)),
)
"""With the versions that the tests stand on, each transport and each way to wait once;
tests/library plays them."""

OF_THE_LIBRARY = (
    *OF_THIS_PLACE,
    *_of("latchway_client, all old", OLD, "library.py", LIBRARY_MODES),
    *_of("latchway_client, all new", NEW, "library.py", LIBRARY_MODES),
    *_of("example, openai 2.15.0", OLD, "examples.py", (EXAMPLE_SSE,)),
    *_of("example, websockets 16.0", OLD, "examples.py", (EXAMPLE_SOCKET,)),
    *_of("example, websockets 17.4", NEW, "examples.py", (EXAMPLE_SOCKET,)),
)
"""What this repository itself gives to people who write clients."""

CLIENTS = (
    *_of("openai-python 2.15.0", OLD, "openai_python.py", HTTP_MODES + ASYNC_MODES),
    Client(
        "openai-python 2.15.0, the loop unchanged",
        OLD,
        "unchanged.py",
        "stream",
        over_http,
        by_sdk,
        adds_nothing=True,
    ),
    *_of("openai-python 3.57.0", NEW, "openai_python.py", HTTP_MODES + ASYNC_MODES),
    *_of("openai-python 3.57.0", NEW, "openai_python.py", (SOCKET, ASYNC_SOCKET)),
    Client(
        "openai-python 3.57.0, stream, max_retries 2",
        NEW,
        "openai_python.py",
        "stream",
        over_http,
        by_sdk,
        max_retries=2,
    ),
    *_of("openai-node 7.59.0", "node", "openai_node.mjs", (*HTTP_MODES, SOCKET), NODE),
    *_of("websockets 16.0", OLD, "plain_websocket.py", (SOCKET, KEPT_SOCKET)),
    *_of("websockets 17.4", NEW, "plain_websocket.py", (SOCKET, KEPT_SOCKET)),
    *_of("curl", "curl", "curl.py", (("stream", over_http, as_it_is), ("body", as_body, as_it_is))),
    *OF_THE_LIBRARY,
)
"""Those of one environment stand together."""


def command(client: Client) -> list[str]:
    """The client's program, ready to be started. Raises environments.Unavailable."""
    program = str(environments.PROGRAMS / client.program)
    if client.environment == "node":
        node, folder = environments.node()
        return [node, program, str(folder)]
    if client.environment == "curl":
        return [sys.executable, program, environments.curl()]
    if client.environment == HERE:
        return [sys.executable, program]
    return [environments.python(client.environment), program]
