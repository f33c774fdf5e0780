"""The ways to ask: raw HTTP, a raw WebSocket, and openai-python, each streamed or not.

A turn is begun, may be read until its first text, and is read to its end: between the three a
server can be hurt.
"""

from __future__ import annotations

import http.client
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from clients import environments
from clients.roster import NEW
from servers.told import DELTAS, TERMINAL, Told, blocks_of, of_body, of_events, of_sdk

SECONDS = 180.0
"""For the longest turn here, on a machine that has other work."""

Request = dict[str, Any]


class Turn(Protocol):
    """One turn under way."""

    def read_text(self) -> None:
        """Until the first text has come."""

    def end(self) -> Told:
        """To its end."""


@dataclass(frozen=True, slots=True)
class Via:
    """`begin`: the gateway's URL, a key and a request are a turn under way. Raises Unavailable."""

    name: str
    begin: Callable[[str, str, Request], Turn]
    streams: bool = True
    is_sdk: bool = False
    """Then it tells what it saw at the turn's end alone."""


class OverHttp:
    """A POST, streamed or not."""

    def __init__(self, url: str, key: str, request: Request) -> None:
        host, _, path = url.removeprefix("http://").partition("/")
        self._connection = http.client.HTTPConnection(host, timeout=SECONDS)
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self._connection.request("POST", f"/{path}/responses", json.dumps(request), headers)
        self._answer: http.client.HTTPResponse | None = None
        self._read = b""

    def read_text(self) -> None:
        answer = self._begun()
        while not any(each.encode() in self._read for each in DELTAS):
            line = answer.readline()
            assert line, f"no text came: {self._read!r}"
            self._read += line

    def end(self) -> Told:
        answer = self._begun()
        self._read += answer.read()
        self._connection.close()
        if "text/event-stream" in answer.headers.get("Content-Type", ""):
            return of_events(answer.status, blocks_of(self._read), socket=False)
        return of_body(answer.status, self._read)

    def _begun(self) -> http.client.HTTPResponse:
        """The status line may be long in coming: it is not waited for when the turn begins."""
        if self._answer is None:
            self._answer = self._connection.getresponse()
        return self._answer


class OverSocket:
    """A `response.create`, on a socket of its own."""

    def __init__(self, url: str, key: str, request: Request) -> None:
        self._socket = connect(
            url.replace("http", "ws", 1) + "/responses",
            additional_headers={"Authorization": f"Bearer {key}"},
            max_size=None,
        )
        self._socket.send(json.dumps({"type": "response.create", **request}))
        self._messages = self._incoming()
        self._read: list[bytes] = []

    def read_text(self) -> None:
        for message in self._messages:
            self._read.append(message)
            if json.loads(message)["type"] in DELTAS:
                return
        raise AssertionError(f"no text came: {self._read!r}")

    def end(self) -> Told:
        self._read += self._messages
        self._socket.close()
        return of_events(None, self._read, socket=True)

    def _incoming(self) -> Iterator[bytes]:
        while True:
            try:
                message = self._socket.recv(timeout=SECONDS)
            except ConnectionClosed:
                return
            data = message.encode() if isinstance(message, str) else message
            yield data
            if json.loads(data)["type"] in TERMINAL:
                return


class OverSdk:
    """The client's program of `make clients`; it tells at its end what it saw."""

    def __init__(self, mode: str, url: str, key: str, request: Request) -> None:
        program = str(environments.PROGRAMS / "openai_python.py")
        self._process = subprocess.Popen(
            [environments.python(NEW), program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        job = {"mode": mode, "url": url, "key": key, "request": request, "max_retries": 0}
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()

    def read_text(self) -> None:
        raise NotImplementedError

    def end(self) -> Told:
        said, faults = self._process.communicate(timeout=SECONDS)
        assert self._process.returncode == 0, faults
        return of_sdk(json.loads(said))


def _streamed(url: str, key: str, request: Request) -> Turn:
    return OverHttp(url, key, {**request, "stream": True})


def _whole(url: str, key: str, request: Request) -> Turn:
    return OverHttp(url, key, _not_streamed(request))


def _sdk(mode: str) -> Callable[[str, str, Request], Turn]:
    said = _not_streamed if mode == "body" else dict
    return lambda url, key, request: OverSdk(mode, url, key, said(request))


def _not_streamed(request: Request) -> Request:
    """It says so, unless the request has `stream: None`, and thereby says nothing."""
    return {k: v for k, v in {"stream": False, **request}.items() if v is not None}


SSE = Via("SSE", _streamed)
SOCKET = Via("WebSocket", OverSocket)
BODY = Via("not streamed", _whole, streams=False)
SDK_STREAM = Via("SDK stream", _sdk("stream"), is_sdk=True)
SDK_SOCKET = Via("SDK socket", _sdk("socket"), is_sdk=True)
SDK_BODY = Via("SDK not streamed", _sdk("body"), streams=False, is_sdk=True)

RAW = (SSE, SOCKET, BODY)
EVERY = (*RAW, SDK_STREAM, SDK_SOCKET, SDK_BODY)
