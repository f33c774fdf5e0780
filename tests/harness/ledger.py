"""The real ledger without its thread: SQLite in memory, answers in the clock's next round."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any

from harness.clock import VirtualClock
from latchway.ledger import keys, made, report
from latchway.ledger.database import make_tables
from latchway.ledger.keys import Keys, NewKey
from latchway.ledger.recovery import refund
from latchway.ledger.sqlite import Book
from latchway.log import store
from latchway.ports import Closing, Granted, Opening, Refused, Unavailable

Done = Callable[[Any], None]


class InlineLedger:
    """`ports.Ledger` and `ports.Log` over one connection.

    `fails`: steps that the disk refuses now (reserve | replay | close | remember). `asked`: the
    steps, in order. While `holds`, answers wait; `answer` gives them.
    """

    def __init__(self, clock: VirtualClock) -> None:
        self._clock = clock
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA foreign_keys=ON")
        make_tables(self.connection)
        self.book = Book(self.connection, lambda: round(clock.time() * 1000))
        with self.book.transaction():
            self.book.begin_epoch("host/1")
        self.keys: Keys = keys.load(self.connection)
        self.fails: set[str] = set()
        self.holds = False
        self.asked: list[str] = []
        self._held: list[Callable[[], None]] = []

    # ---- what a test does and sees

    def add_key(self, name: str = "alice", owner: str | None = None, credit: int = 10**12) -> str:
        """A key with `credit` nano-USD; returns its secret."""
        secret, public_id = keys.mint()
        new = NewKey(name, owner or name, public_id, keys.digest(secret), credit)
        with self.book.transaction():
            self.keys.put(keys.create(self.book, new))
        return secret

    def revoke(self, name: str = "alice") -> None:
        with self.book.transaction():
            self.keys.put(keys.revoke(self.book, name))

    def answer(self) -> None:
        """Give the answers that were held."""
        self.holds = False
        held, self._held = self._held, []
        for tell in held:
            self._clock.soon(tell)
        self._clock.advance()

    def figures(self, key: str = "alice") -> tuple[int, int]:
        """What is charged to the key, and what is reserved, in nano-USD."""
        account = self.book.account(key)
        assert account is not None
        tail = self.book.tail(account)
        return tail.charged, tail.reserved

    def entries(self) -> list[str]:
        """Kinds of all entries of turns, in order."""
        rows = self.connection.execute(
            "SELECT kind FROM entry WHERE turn IS NOT NULL ORDER BY account, number, part"
        )
        return [kind for (kind,) in rows]

    def states(self) -> list[str]:
        """open | settled | void, of each turn that was reserved."""
        return [
            state for (state,) in self.connection.execute("SELECT state FROM turn ORDER BY turn")
        ]

    @property
    def records(self) -> list[dict[str, Any]]:
        """The log, oldest first."""
        return store.newest(self.connection, 1000)[::-1]

    # ---- ports.Ledger

    def reserve(self, opening: Opening, done: Done) -> None:
        self._do("reserve", lambda: self.book.reserve(opening), done)

    def record_replay(self, request_id: str, route: str, done: Done) -> None:
        self._do("replay", lambda: self.book.record_replay(request_id, route), done)

    def close(self, closing: Closing, done: Done) -> None:
        """What cannot be made durable is refunded (`Writer.close`)."""
        if "close" in self.fails:
            owed = refund(closing.request_id, closing.loss + closing.charge, "ledger_unavailable")
            with self.book.transaction():
                self.book.close(owed)
        self._do("close", lambda: self.book.close(closing), done)

    def remember(self, owner: str, route: str, marks: Sequence[bytes], done: Done) -> None:
        """Answered at once: no virtual time passes while a page is made."""
        answer: Granted | Unavailable = Unavailable("no disk")
        if "remember" not in self.fails:
            with self.book.transaction():
                answer = self.book.remember(owner, route, marks)
        done(answer)

    def maker(self, owner: str, marks: Sequence[bytes]) -> str | None:
        return made.find(self.connection, owner, marks, 0)

    def is_anothers(self, owner: str, marks: Sequence[bytes]) -> bool:
        return made.is_anothers(self.connection, owner, marks, 0)

    def _do(self, step: str, work: Callable[[], Granted | Refused], done: Done) -> None:
        self.asked.append(step)
        answer: Granted | Refused | Unavailable = Unavailable("no disk")
        if step not in self.fails:
            with self.book.transaction():
                answer = work()
        if self.holds:
            self._held.append(lambda: done(answer))
        else:
            self._clock.soon(lambda: done(answer))

    # ---- ports.Log

    def record(self, record: dict[str, Any]) -> None:
        with self.book.transaction():
            store.put(self.connection, record)


class InlineReader:
    """`plain.Reader` over the same connection."""

    def __init__(self, ledger: InlineLedger) -> None:
        self._ledger, self._connection = ledger, ledger.connection

    def request(self, request_id: str, key: str | None) -> dict[str, Any] | None:
        return store.find(self._connection, request_id, key)

    def requests(self, limit: int) -> list[dict[str, Any]]:
        return store.newest(self._connection, limit)

    def keys(self) -> list[dict[str, Any]]:
        return report.keys(self._connection)

    def ledger(self) -> dict[str, Any]:
        return report.ledger(self._connection)

    def healthy(self) -> bool:
        return not self._ledger.fails
