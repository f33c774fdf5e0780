"""The book: what a turn does to the ledger, as plain synchronous steps over one connection.

Every step leaves the rules of `schema.sql` satisfied, or raises. Who calls chooses the transaction:
the writer puts many steps into one, a test puts one. Nothing here knows of threads or loops.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from latchway.ledger import made
from latchway.ledger.chain import Link, Tail, follow
from latchway.ledger.database import LedgerFault, roll_back
from latchway.ports import Closing, Granted, Opening, Refused
from latchway.settings import Price

NEW_EPOCH = "INSERT INTO epoch VALUES (NULL, ?, ?, ?)"
TOUCH = "UPDATE epoch SET served_by = served_by WHERE epoch = ?"
ACCOUNT = "SELECT account, key, owner, unlimited FROM account WHERE key = ?"
TAIL = (
    "SELECT number, granted, charged, reserved, hash FROM chain WHERE account = ?"
    " ORDER BY number DESC LIMIT 1"
)
PRICE = (
    "SELECT price FROM price WHERE model = ? AND input = ? AND cached_input = ?"
    " AND cache_write = ? AND output = ? AND reasoning = ?"
)
NEW_PRICE = "INSERT INTO price VALUES (NULL, ?, ?, ?, ?, ?, ?, ?)"
OPEN_TURN = (
    "INSERT INTO turn (request_id, account, epoch, model, price, reserved, opened_ms, route)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
REPLAY = "UPDATE turn SET second_route = ?, second_began_ms = ? WHERE turn = ?"
LINK = "INSERT INTO chain VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
TURN = (
    "SELECT turn, state, reserved, charged, account, key, owner, unlimited"
    " FROM turn JOIN account USING (account) WHERE request_id = ?"
)
CLOSE_TURN = (
    "UPDATE turn SET state = ?, charged = ?, loss = ?, loss_reason = ?, basis = ?, billed = ?,"
    " input_tokens = ?, cached_tokens = ?, cache_write_tokens = ?, output_tokens = ?,"
    " reasoning_tokens = ?, response_id = ?, response_route = ?, closed_ms = ? WHERE turn = ?"
)
ADJUSTED = "SELECT 1 FROM chain WHERE turn = ? AND kind = 'adjust'"

USAGE_COLUMNS = (
    "input_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "output_tokens",
    "reasoning_tokens",
)


def wall_clock_ms() -> int:
    return time.time_ns() // 1_000_000


class Account(NamedTuple):
    """What never changes of an account."""

    id: int
    key: str
    owner: str
    unlimited: int


class _Turn(NamedTuple):
    id: int
    state: str
    reserved: int
    charged: int
    account: Account


class Book:
    """`now_ms`: Unix time in milliseconds."""

    def __init__(
        self, connection: sqlite3.Connection, now_ms: Callable[[], int] = wall_clock_ms
    ) -> None:
        self.connection = connection
        self.now_ms = now_ms
        self.epoch = 0
        self._prices: dict[tuple[str, Price], int] = {}
        self._accounts: dict[str, Account] = {}
        self._tails: dict[int, Tail] = {}
        self._open: dict[str, _Turn] = {}

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All of the block's steps, durable when it ends; none of them if it raises."""
        self.connection.execute("BEGIN IMMEDIATE")
        durable = False
        try:
            yield
            self.connection.execute("COMMIT")
            durable = True
        finally:
            if not durable:
                roll_back(self.connection)
                self._forget()

    def _forget(self) -> None:
        """What is remembered of rows may be of rows that were just rolled back."""
        self._prices.clear()
        self._accounts.clear()
        self._tails.clear()
        self._open.clear()

    def begin_epoch(self, served_by: str) -> None:
        """Turns opened from here on are this process's."""
        self.epoch = self.add_epoch(served_by)

    def add_epoch(self, served_by: str, under: int | None = None) -> int:
        """`under`: the epoch of the process for which this one, a worker, serves."""
        epoch = self.connection.execute(NEW_EPOCH, (served_by, self.now_ms(), under)).lastrowid
        assert epoch is not None
        return epoch

    def touch(self) -> None:
        """Write something that changes nothing, to learn whether the database can be written."""
        self.connection.execute(TOUCH, (self.epoch,))

    def reserve(self, opening: Opening, epoch: int | None = None) -> Granted | Refused:
        """Open a turn with its first attempt, if the balance allows. A refusal writes nothing.
        `epoch`: of the worker whose turn it is."""
        account = self.account(opening.key)
        if account is None:
            raise LedgerFault(f"no key {opening.key!r}")
        available = self.tail(account).available
        if opening.amount > available and not account.unlimited:
            return Refused(needed=opening.amount, available=available)
        turn = self._open_row(opening, account, self.epoch if epoch is None else epoch)
        self._open[opening.request_id] = _Turn(turn, "open", opening.amount, 0, account)
        begin = Link(opening.request_id, "reserve", opening.amount, self.now_ms())
        self.append(account, turn, begin)
        return Granted()

    def account(self, key: str) -> Account | None:
        """The account of a key, revoked or not."""
        known = self._accounts.get(key)
        if known is not None:
            return known
        row = self.connection.execute(ACCOUNT, (key,)).fetchone()
        if row is None:
            return None
        self._accounts[key] = Account(*row)
        return self._accounts[key]

    def tail(self, account: Account) -> Tail:
        """Where the account stands. It is remembered: nobody else writes to this database, and an
        link that did not follow from the last one would be refused by it."""
        known = self._tails.get(account.id)
        if known is not None:
            return known
        row = self.connection.execute(TAIL, (account.id,)).fetchone()
        return Tail(*row) if row else Tail()

    def _open_row(self, opening: Opening, account: Account, epoch: int) -> int:
        price = self._price(opening.model, opening.price)
        turn = self.connection.execute(
            OPEN_TURN,
            (
                opening.request_id,
                account.id,
                epoch,
                opening.model,
                price,
                opening.amount,
                opening.started_at_ms,
                opening.route,
            ),
        ).lastrowid
        assert turn is not None
        return turn

    def _price(self, model: str, price: Price) -> int:
        """The row that a turn keeps to its end, whatever the configuration says by then (I-B10)."""
        known = self._prices.get((model, price))
        if known is not None:
            return known
        figures = (
            model,
            price.input,
            price.cached_input,
            price.cache_write,
            price.output,
            price.reasoning,
        )
        found = self.connection.execute(PRICE, figures).fetchone()
        row = found[0] if found else self._new_price(figures)
        self._prices[model, price] = row
        return row

    def _new_price(self, figures: tuple[object, ...]) -> int:
        row = self.connection.execute(NEW_PRICE, (*figures, self.now_ms())).lastrowid
        assert row is not None
        return row

    def append(self, account: Account, turn: int | None, link: Link) -> None:
        """Add a link to the account's chain."""
        tail = follow(self.tail(account), account.key, link)
        number, *figures, digest = tail
        _, kind, amount, at_ms, *end = link
        row = (account.id, number, turn, kind, amount, *end, *figures, at_ms, digest)
        self.connection.execute(LINK, row)
        self._tails[account.id] = tail

    def record_replay(self, request_id: str, route: str) -> Granted:
        """Write down the second attempt before its call. No money moves (R6)."""
        turn = self._turn(request_id)
        self.connection.execute(REPLAY, (route, self.now_ms(), turn.id))
        return Granted()

    def close(self, closing: Closing) -> Granted:
        """Settle or void a turn, once: if it is closed already, the first outcome stands."""
        request_id = closing.request_id
        turn = self._turn(request_id)
        if turn.state != "open":
            return Granted()
        now_ms = self.now_ms()
        end = Link(request_id, "end", turn.reserved, now_ms, closing.charge, closing.loss)
        self.append(turn.account, turn.id, end)
        self._close_row(turn.id, closing, now_ms)
        self._open.pop(request_id, None)
        if closing.route is not None:
            made.put(
                self.connection, turn.account.owner, closing.route, closing.made, now_ms,
                repeated=closing.repeated,
            )  # fmt: skip
        return Granted()

    def remember(self, owner: str, route: str, marks: Sequence[bytes]) -> Granted:
        """Note who made what (`ledger.made`), by an answer that may list what a client wrote."""
        made.put(self.connection, owner, route, marks, self.now_ms(), repeated=True)
        return Granted()

    def _turn(self, request_id: str) -> _Turn:
        """Open turns are remembered, for they are about to be closed."""
        known = self._open.get(request_id)
        if known is not None:
            return known
        row = self.connection.execute(TURN, (request_id,)).fetchone()
        if row is None:
            raise LedgerFault(f"no turn {request_id!r}")
        turn, state, reserved, charged, *account = row
        return _Turn(turn, state, reserved, charged, Account(*account))

    def _close_row(self, turn: int, closing: Closing, now_ms: int) -> None:
        state = "void" if closing.basis == "none" else "settled"
        usage = closing.usage
        tokens = (
            [usage.get(name, 0) for name in USAGE_COLUMNS]
            if usage is not None
            else [None] * len(USAGE_COLUMNS)
        )
        self.connection.execute(
            CLOSE_TURN,
            (
                state,
                closing.charge,
                closing.loss,
                closing.loss_reason,
                closing.basis,
                closing.billed_attempt if state == "settled" else None,
                *tokens,
                *_delivered(closing),
                now_ms,
                turn,
            ),
        )

    def give_back(self, request_id: str) -> Granted:
        """Return the charge of a turn that settled after its client was told that it had not.

        The settlement stays as it is (it is final); the money goes back by a link of its own.
        Nothing is done if there is no such charge, or if it was given back before.
        """
        turn = self._turn(request_id)
        if turn.charged > 0 and not self._adjusted(turn.id):
            adjustment = Link(request_id, "adjust", turn.charged, self.now_ms())
            self.append(turn.account, turn.id, adjustment)
        return Granted()

    def _adjusted(self, turn: int) -> bool:
        return self.connection.execute(ADJUSTED, (turn,)).fetchone() is not None


def _delivered(closing: Closing) -> tuple[str | None, str | None]:
    """The response that the client knows and the route that made it; both, or neither."""
    if closing.response_id is None or closing.route is None:
        return None, None
    return closing.response_id, closing.route
