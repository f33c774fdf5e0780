"""Client keys: how a secret is made and checked, and what the commands do to an account.

A secret is `lw_<public id>_<256 random bits>`. The database holds the SHA-256 of it, never the
secret: it is as random as its digest, so neither salt nor a slow hash would add anything. It is
found by its public id and compared in constant time.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import sqlite3
from dataclasses import dataclass

from latchway.ledger.chain import Link
from latchway.ledger.prices import MOST_USD, NANO_PER_USD, format_usd
from latchway.ledger.sqlite import Account, Book
from latchway.ports import Key

PUBLIC_ID_BYTES = 8
SECRET_BYTES = 32
SECRET_FORM = re.compile(r"lw_([0-9a-f]{16})_[0-9a-f]{64}", re.ASCII)
NAME_FORM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,127}", re.ASCII)

NEW_ACCOUNT = (
    "INSERT INTO account (key, owner, public_id, digest, unlimited, created_ms)"
    " VALUES (?, ?, ?, ?, ?, ?)"
)
REVOKE = "UPDATE account SET revoked_ms = ? WHERE account = ? AND revoked_ms IS NULL"
ROWS = "SELECT key, owner, public_id, digest, revoked_ms IS NOT NULL FROM account"
ROW = f"{ROWS} WHERE account = ?"


class KeyFault(Exception):
    """What a command asked of a key cannot be done. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class KeyRow:
    """An account as the key table sees it."""

    key: Key
    public_id: str
    digest: bytes
    revoked: bool = False


@dataclass(frozen=True, slots=True)
class NewKey:
    """What `keys create` asks for. `credit`: nano-USD. The digest stands for the secret, which
    stays with who made it."""

    name: str
    owner: str
    public_id: str
    digest: bytes
    credit: int = 0
    unlimited: bool = False


def mint() -> tuple[str, str]:
    """A new secret and the public id in it."""
    public_id = secrets.token_hex(PUBLIC_ID_BYTES)
    return f"lw_{public_id}_{secrets.token_hex(SECRET_BYTES)}", public_id


def digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


class Keys:
    """The keys of a process that serves, in memory: a check never waits for a disk.

    It changes on the loop's thread, after the commit that holds the change, so that what a command
    did holds for the next turn, on open sockets too.
    """

    def __init__(self) -> None:
        self._by_public_id: dict[str, KeyRow] = {}
        self._by_name: dict[str, KeyRow] = {}

    def put(self, row: KeyRow) -> None:
        self._by_public_id[row.public_id] = row
        self._by_name[row.key.name] = row

    def rows(self) -> list[KeyRow]:
        return list(self._by_name.values())

    def check(self, secret: str) -> Key | None:
        """The key that this secret opens, if it is valid now."""
        form = SECRET_FORM.fullmatch(secret)
        row = self._by_public_id.get(form[1]) if form else None
        if row is None or not hmac.compare_digest(digest(secret), row.digest):
            return None
        return None if row.revoked else row.key

    def valid(self, name: str) -> bool:
        """For each turn on a socket that was opened with this key."""
        row = self._by_name.get(name)
        return row is not None and not row.revoked


def load(connection: sqlite3.Connection) -> Keys:
    """The table as the database has it."""
    keys = Keys()
    for row in connection.execute(ROWS):
        keys.put(_row(*row))
    return keys


def _row(name: str, owner: str, public_id: str, stored: bytes, revoked: int) -> KeyRow:
    return KeyRow(Key(name, owner), public_id, stored, bool(revoked))


def create(book: Book, new: NewKey) -> KeyRow:
    """Open an account with a first grant, be it of 0. KeyFault: the name is taken or is none."""
    _check_name("name", new.name)
    _check_name("owner", new.owner)
    _check_amount(new.credit)
    if book.account(new.name) is not None:
        raise KeyFault(f"there is a key {new.name!r} already: choose another name")
    book.connection.execute(
        NEW_ACCOUNT,
        (new.name, new.owner, new.public_id, new.digest, new.unlimited, book.now_ms()),
    )
    book.append(_account(book, new.name), None, Link(None, "grant", new.credit, book.now_ms()))
    return KeyRow(Key(new.name, new.owner), new.public_id, new.digest)


def revoke(book: Book, name: str) -> KeyRow:
    """End a key. Its account stays; revoking it again changes nothing. KeyFault: no such key."""
    account = _account(book, name).id
    book.connection.execute(REVOKE, (book.now_ms(), account))
    return _row(*book.connection.execute(ROW, (account,)).fetchone())


def credit(book: Book, name: str, amount: int) -> None:
    """Add `amount` nano-USD to what the key may spend. KeyFault: no such key, or too much."""
    account = _account(book, name)
    if account.unlimited:
        raise KeyFault(f"key {name!r} is unlimited: credit would change nothing")
    if amount == 0:
        raise KeyFault("the credit is 0: say an amount such as 5.00")
    _check_amount(amount)
    _check_amount(book.tail(account).granted + amount)
    book.append(account, None, Link(None, "grant", amount, book.now_ms()))


def _account(book: Book, name: str) -> Account:
    account = book.account(name)
    if account is None:
        raise KeyFault(f"there is no key {name!r}: `latchway keys list` shows them")
    return account


def _check_name(what: str, name: str) -> None:
    if NAME_FORM.fullmatch(name) is None:
        raise KeyFault(
            f"{what} {name!r}: use 1 to 128 letters, digits and . _ : @ + / - , a letter or a"
            " digit first"
        )


def _check_amount(nano: int) -> None:
    if not 0 <= nano <= MOST_USD * NANO_PER_USD:
        raise KeyFault(
            f"the credit would be over the limit of {format_usd(MOST_USD * NANO_PER_USD)}"
        )
