"""The generator reads what it is sent, in any pieces; upstream and generator understand each other.

They are C: without a compiler there is nothing to test. One turn is no load.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import pytest
from websockets.sync.server import ServerConnection, serve

from repo.tree import ROOT

CC = shutil.which("cc")
pytestmark = pytest.mark.skipif(CC is None, reason="no C compiler")

HERE = Path(__file__).parent
SECONDS = 20.0
"""For a compiler, or a turn; on a busy machine."""


def compiled(source: Path, into: Path) -> str:
    program = into / source.stem
    flags = ["-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'bench'}"]
    command = [str(CC), *flags, "-o", str(program), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    return str(program)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(HERE / "print_events.c", tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(ROOT / "bench" / "load.c", tmp_path_factory.mktemp("load"))


HEAD = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
LONG = b'{"text":"' + 200 * b"x" + b'"}'
LONGER = b'{"text":"' + 70_000 * b"y" + b'"}'


def told(data: bytes) -> str:
    return f"event {data.decode()}\n"


SENT: dict[str, tuple[bytes, str]] = {
    "an event in a chunk": (
        HEAD + b'18\r\nevent: a\ndata: {"n":1}\n\n\r\n0\r\n\r\n',
        'head 200\nevent {"n":1}\nend\n',
    ),
    "an event across chunks": (
        HEAD + b'8\r\ndata: {"\r\n6\r\nn":1}\n\r\n1\r\n\n\r\n0\r\n\r\n',
        'head 200\nevent {"n":1}\nend\n',
    ),
    "sizes in capitals, an extension, a trailer": (
        HEAD + b'D;a=b\r\ndata: {"n":1}\r\n2\r\n\n\n\r\n0\r\nServer: x\r\n\r\n',
        'head 200\nevent {"n":1}\nend\n',
    ),
    "comments and [DONE] are no events": (
        HEAD + b"e\r\n: keep-alive\n\n\r\ne\r\ndata: [DONE]\n\n\r\n0\r\n\r\n",
        "head 200\nend\n",
    ),
    "two answers on one connection": (
        2 * (HEAD + b'f\r\ndata: {"n":1}\n\n\r\n0\r\n\r\n'),
        2 * 'head 200\nevent {"n":1}\nend\n',
    ),
    "an answer that is not chunked": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "head 0\n",
    ),
    "frames of all three lengths": (
        SWITCH
        + b'\x81\x07{"n":1}'
        + (b"\x81\x7e" + len(LONG).to_bytes(2, "big") + LONG)
        + (b"\x81\x7f" + len(LONGER).to_bytes(8, "big") + LONGER),
        'head 101\nevent {"n":1}\n' + told(LONG) + told(LONGER),
    ),
    "a message in fragments, a ping between them": (
        SWITCH + b'\x01\x03{"n' + b"\x89\x02hi" + b'\x80\x04":1}',
        'head 101\nevent {"n":1}\n',
    ),
}


@pytest.mark.parametrize("piece", [1, 2, 3, 7, 1 << 20])
@pytest.mark.parametrize("name", SENT)
def test_what_comes_is_cut_into_events(reader: str, name: str, piece: int) -> None:
    sent, expected = SENT[name]
    done = subprocess.run([reader, str(piece)], input=sent, capture_output=True, timeout=SECONDS)
    assert done.stdout.decode() == expected


@pytest.fixture(scope="module")
def upstream(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Its port."""
    program = compiled(ROOT / "bench" / "upstream.c", tmp_path_factory.mktemp("upstream"))
    with subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.terminate()


def run(load: str, port: int, *more: str) -> tuple[int, list[str], str]:
    command = [load, "-p", str(port), "-t", "1", "-s", "0", *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    return done.returncode, done.stdout.splitlines(), done.stderr


@pytest.mark.parametrize("model", ["bench-9-0", "bench-508-0", "bench-12-1", "bench-9-1"])
def test_a_turn_from_the_upstream(load: str, upstream: int, model: str) -> None:
    status, said, errors = run(load, upstream, "-m", model)
    assert (status, said[0], json.loads(said[1])["failed"], errors) == (0, "begin", 0, "")


@pytest.mark.parametrize("cut", ["bytes", "events"])
def test_turns_through_the_relay(load: str, upstream: int, cut: str) -> None:
    relay = [sys.executable, str(ROOT / "bench" / "relay.py"), "0", str(upstream), cut]
    with subprocess.Popen(relay, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        for model in ("bench-508-0", "bench-9-1"):  # the second on a connection that was used
            status, said, errors = run(load, port, "-m", model)
            assert (status, json.loads(said[1])["failed"], errors) == (0, 0, "")
        process.terminate()


def test_what_the_upstream_refuses_is_told(load: str, upstream: int) -> None:
    status, said, errors = run(load, upstream, "-m", "bench-8-0")
    assert (status, json.loads(said[1])["failed"]) == (0, 1)
    assert "the connection was closed" in errors


def test_a_turn_over_a_websocket(load: str) -> None:
    asked: list[str | bytes] = []

    def answer(client: ServerConnection) -> None:
        asked.append(client.recv())
        client.send('{"type":"response.completed"}')
        for _ in client:  # until the generator leaves
            raise AssertionError("one turn was asked for")

    with serve(answer, "127.0.0.1", 0) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        status, said, errors = run(load, server.socket.getsockname()[1], "-W", "-k", "secret")
        server.shutdown()
        thread.join(SECONDS)
    assert (status, json.loads(said[1])["failed"], errors) == (0, 0, "")
    assert json.loads(asked[0])["type"] == "response.create"
