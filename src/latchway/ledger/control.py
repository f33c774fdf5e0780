"""How the commands write: through the gateway that owns the database, or, if none runs, alone.

A gateway listens on a Unix socket beside its database, for its own user only. A request is one line
of JSON (`orders`), and so is its answer: `{"fault": null}`, or why it was not done.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sqlite3
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Protocol

import msgspec

from latchway.ledger import keys, orders
from latchway.ledger.database import LedgerFault, Lock, beside, open_writer
from latchway.ledger.keys import KeyFault
from latchway.ledger.sqlite import Book
from latchway.ports import Unavailable

LINE_BYTES = 16 << 10
"""Of an order: names are at most 128 characters."""
ORDER_SECONDS = 5.0
"""For an order to come, and for its answer."""
SOCKET_NAME_MOST = 80
"""Bytes of the socket's file name. An address holds 108, and the folder's handle needs some."""
STORE_SECONDS = 10.0
"""How long a command tries to reach whoever owns the database: a gateway that starts has the lock
before it listens, another command has it for some milliseconds."""
TRY_SECONDS = 0.02

NOT_KNOWN = "the ledger is not available: {}; `latchway keys list` shows whether it was done"
"""A disk that hangs may yet write an order that was given up, and credit can be added twice."""

NO_ANSWER = "the gateway did not answer; `latchway keys list` shows whether it was done"


class Answer(msgspec.Struct, frozen=True):
    fault: str | None


_orders: msgspec.json.Decoder[orders.Order] = msgspec.json.Decoder(orders.Order)
_answers = msgspec.json.Decoder(Answer)


class TakesOrders(Protocol):
    """Who carries out what a command asks: it holds for the next turn before `done` is called."""

    def order(self, order: orders.Order, done: orders.Done) -> None: ...


class Control:
    """The gateway's end."""

    def __init__(self, writer: TakesOrders, path: Path) -> None:
        self._writer, self._path = writer, beside(path, ".sock")
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen. A socket file that is there belongs to a dead gateway, for we have the lock."""
        with suppress(FileNotFoundError):
            self._path.unlink()
        self._server = await asyncio.start_unix_server(
            self._serve, sock=_listener(self._path), limit=LINE_BYTES
        )

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            with suppress(FileNotFoundError):
                self._path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(ORDER_SECONDS):
                answer = Answer(await self._carry_out(await self._line(reader)))
                writer.write(msgspec.json.encode(answer) + b"\n")
                await writer.drain()
        writer.close()

    async def _line(self, reader: asyncio.StreamReader) -> bytes:
        """A line, or nothing if it is too long; that is no order then."""
        try:
            return await reader.readline()
        except ValueError:
            return b""

    async def _carry_out(self, line: bytes) -> str | None:
        try:
            order = _orders.decode(line)
        except msgspec.DecodeError as error:
            return f"not an order: {error}"
        told: asyncio.Future[orders.Outcome] = asyncio.get_running_loop().create_future()

        def tell(answer: orders.Outcome) -> None:
            if not told.done():
                told.set_result(answer)

        self._writer.order(order, tell)
        answer = await told
        if isinstance(answer, Unavailable):
            return NOT_KNOWN.format(answer.reason)
        return str(answer) if isinstance(answer, KeyFault) else None


def _listener(path: Path) -> socket.socket:
    """A socket that its owner alone may connect to, from the moment it is there."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with ExitStack() as unless_bound:
        unless_bound.callback(listener.close)
        os.fchmod(listener.fileno(), 0o600)
        try:
            with _address(path) as address:
                listener.bind(address)
        except OSError as error:
            raise LedgerFault(f"cannot listen on {path}: {error.strerror}") from None
        unless_bound.pop_all()
    return listener


@contextmanager
def _address(path: Path) -> Iterator[str]:
    """A socket's address, however deep its folder is: through a handle of the folder."""
    if len(os.fsencode(path.name)) > SOCKET_NAME_MOST:
        raise LedgerFault(f"the name {path.name!r} is over {SOCKET_NAME_MOST} bytes: shorten it")
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


class Store:
    """The commands' end: what `latchway keys`, `requests` and `ledger` do to a database."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @classmethod
    def open(cls, path: Path) -> Store:
        """Nothing is opened or made yet: each call below finds out who owns the database."""
        return cls(path)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is held between two calls."""

    def create(
        self, name: str, owner: str | None = None, credit: int = 0, *, unlimited: bool = False
    ) -> str:
        """Make a key and return its secret, which is nowhere else. `credit`: nano-USD.

        KeyFault: the name is taken or is none. LedgerFault: the database cannot be written.
        """
        secret, public_id = keys.mint()
        digest = keys.digest(secret).hex()
        self._do(
            orders.CreateKey(name, name if owner is None else owner, public_id, digest, credit,
                             unlimited)
        )  # fmt: skip
        return secret

    def revoke(self, name: str) -> None:
        """KeyFault: there is no such key. LedgerFault, as above."""
        self._do(orders.RevokeKey(name))

    def credit(self, name: str, amount: int) -> None:
        """Add nano-USD to a key. KeyFault: no such key, or the amount is none."""
        self._do(orders.CreditKey(name, amount))

    def _do(self, order: orders.Order) -> None:
        until = time.monotonic() + STORE_SECONDS
        lock = Lock(self._path)
        while True:
            if lock.take():
                return self._write(order, lock)
            with suppress(FileNotFoundError, ConnectionRefusedError, BlockingIOError):
                return self._send(order)
            if time.monotonic() > until:
                raise LedgerFault(
                    f"{self._path} is owned by a process that does not answer on its socket"
                )
            time.sleep(TRY_SECONDS)

    def _write(self, order: orders.Order, lock: Lock) -> None:
        try:
            connection = open_writer(self._path)
            try:
                book = Book(connection)
                with book.transaction():
                    orders.carry_out(book, order)
            except sqlite3.Error as error:
                raise LedgerFault(f"cannot write to {self._path}: {error}") from None
            finally:
                connection.close()
        finally:
            lock.release()

    def _send(self, order: orders.Order) -> None:
        """KeyFault: what the gateway answered, which does not know it or has not done it. It has
        carried out the order otherwise."""
        with (
            socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link,
            _address(beside(self._path, ".sock")) as address,
        ):
            link.settimeout(ORDER_SECONDS)
            link.connect(address)
            line = _exchange(link, msgspec.json.encode(order) + b"\n")
        try:
            answer = _answers.decode(line)
        except msgspec.DecodeError:
            raise LedgerFault(NO_ANSWER) from None
        if answer.fault is not None:
            raise KeyFault(answer.fault)


def _exchange(link: socket.socket, order: bytes) -> bytes:
    """The line that answers it, or what of it came before the link ended."""
    parts = bytearray()
    with suppress(OSError):
        link.sendall(order)
        while not parts.endswith(b"\n") and len(parts) < LINE_BYTES:
            part = link.recv(LINE_BYTES)
            if not part:
                break
            parts += part
    return bytes(parts)
