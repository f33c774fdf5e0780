"""Over a WebSocket every way of ending is named, and what is recorded is played back."""

from __future__ import annotations

import re
import socket
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from websockets.utils import accept_key

from lab.harness import running
from latchway.lab.checked import load
from latchway.lab.script import Raw
from watch.watching import WORDS, Watched, played, recorded, watched

DONE = {"completed": {"input": 3, "output": 2}}
BUSY = {"error": {"code": "server_is_overloaded", "message": "Busy."}}

ENDS: list[tuple[dict[str, Any], str, str | None, str | None, str | None]] = [
    # the reply; outcome, failure, its rule, verdict
    ({"events": ["created", {"text": "Hi"}, DONE]}, "completed", None, None, None),
    ({"events": ["created", {"failed": "slow_down"}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"error": "slow_down"}, {"failed": "slow_down"}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"error": {"code": "server_error", "status": 500}}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"error": "nobody_knows"}]},
     "failed", "deterministic", "R2.9", "failure_final"),
    ({"events": ["created", {"error": {"code": "nobody_knows", "status": 503}}]},
     "failed", "retryable_event", "R2.1", "replay"),
    ({"events": ["created", {"close": 1000}]}, "failed", "read_error", "R2.12", "failure_final"),
    ({"events": [{"close": 1000}]}, "failed", "read_error", "R2.2", "replay"),
    ({"events": ["created", {"close": 1009}]},
     "failed", "deterministic", "R2.9", "failure_final"),
    ({"events": ["created", {"text": "Half"}, {"end": "cut"}]},
     "failed", "read_error", "R2.12", "output_delivered"),
    ({"events": ["created", "reset"]}, "failed", "read_error", "R2.12", "failure_final"),
    ({"status": 503, "body": BUSY}, "failed", "retryable_event", "R2.1", "replay"),
    ({"status": 401}, "failed", "route_refused", "R2.1", "replay"),
    ({"no_head": True, "events": [{"raw": "SSH-2.0"}]}, "failed", "read_error", "R2.2", "replay"),
    ({"no_head": True, "events": ["reset"]}, "failed", "read_error", "R2.2", "replay"),
]  # fmt: skip


@pytest.mark.parametrize(("reply", "outcome", "failure", "rule", "verdict"), ENDS)
def test_an_end_is_named(
    reply: dict[str, Any],
    outcome: str,
    failure: str | None,
    rule: str | None,
    verdict: str | None,
) -> None:
    found = played([reply], "ws")

    end = found.end
    assert (end["outcome"], end["failure"]) == (outcome, failure)
    assert (end["rule"], end["verdict"]) == (rule, verdict)
    assert found.status == (1 if failure else 0)


def test_the_request_is_a_create_on_a_socket_of_its_own() -> None:
    with running([{"events": [DONE]}]) as lab:
        found = watched(f"http://127.0.0.1:{lab.port}/v1", *WORDS, "--websocket")
        call = lab.over()
        lab.until(lambda: call.left)

    assert call.json["type"] == "response.create"
    assert found.end["status"] == 101
    assert call.left == "close 1000"


def test_a_ping_is_answered_and_a_binary_message_is_a_remark() -> None:
    found = played([{"events": ["created", "ping", {"binary": "x"}, {"text": "Hi"}, DONE]}], "ws")

    assert found.notes == ["a binary message, which is no event"]
    assert found.fates == ["held", "passed", "passed"]


def test_nobody_there_is_a_failure() -> None:
    with running([{"events": []}]) as lab:
        port = lab.port
    found = watched(f"ws://127.0.0.1:{port}/v1")

    assert (found.status, found.end["failure"], found.end["status"]) == (1, "read_error", None)


KEY = re.compile(rb"sec-websocket-key: (\S+)", re.IGNORECASE)
ACCEPT = "HTTP/1.1 101 Yes\r\nupgrade: websocket\r\nconnection: upgrade\r\n{}\r\n\r\n"
FIRST, SECOND = b'{"type": "response.', b'completed", "response": {}}'
FRAGMENTS = bytes([0x01, len(FIRST)]) + FIRST + bytes([0x80, len(SECOND)]) + SECOND


def said_by_hand(accept: str, frames: bytes) -> Watched:
    """Watch a server that accepts as `accept` says, and sends these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            client, _ = server.accept()
            with client:
                key = KEY.search(client.recv(65536))
                assert key
                said = accept.format(accept_key(key[1].decode()))
                client.sendall(ACCEPT.format(f"sec-websocket-accept: {said}").encode())
                client.recv(65536)
                client.sendall(frames)
                while client.recv(65536):
                    pass

        thread = Thread(target=serve)
        thread.start()
        found = watched(f"ws://127.0.0.1:{server.getsockname()[1]}/v1")
        thread.join()
    return found


@pytest.mark.parametrize(
    ("accept", "frames", "ended"),
    [
        ("{}", FRAGMENTS, "completed"),
        ("{}", b"\xff\x00", "failed: read_error, what came is no WebSocket message: "),
        ("nobody", b"", "failed: read_error, the handshake failed: "),
    ],
)
def test_what_a_server_says_by_hand_is_read_or_named(
    accept: str, frames: bytes, ended: str
) -> None:
    assert said_by_hand(accept, frames).end["ended"].startswith(ended)


ROUND_TRIPS: list[Any] = [
    load("healthy"),
    load("breaks-after-text"),
    load("error-then-failed"),
    [{"split": 3, "events": ["created", "ping", {"text": "ünï 😀\u2028"}, DONE]}],
    [{"events": ["created", {"binary": {"base64": "/wD+"}}, {"text": "x"}, {"end": "cut"}]}],
    [{"events": ["created", {"close": {"code": 1011, "reason": "of it"}}]}],
    [{"status": 429, "headers": {"retry-after": 3}, "body": BUSY}],
]


@pytest.mark.parametrize("script", ROUND_TRIPS)
def test_what_is_recorded_is_played_back_byte_for_byte(script: Any, tmp_path: Path) -> None:
    first = recorded(script, "ws", tmp_path / "a.yaml")
    again = recorded(load(tmp_path / "a.yaml"), "ws", tmp_path / "b.yaml")

    assert again.timeless == first.timeless
    assert (again.status, again.notes) == (first.status, first.notes)
    ended = ("outcome", "ended", "failure", "rule", "code", "status", "response_id")
    assert [again.end[name] for name in ended] == [first.end[name] for name in ended]
    assert _messages(tmp_path / "b.yaml") == _messages(tmp_path / "a.yaml")


def _messages(file: Path) -> list[Raw]:
    steps = load(file).branches[0].replies[0].steps
    return [step for step in steps if isinstance(step, Raw)]
