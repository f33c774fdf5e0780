"""Keys: a secret opens one key, until it is revoked; a fault changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from latchway.ledger import keys
from latchway.ledger.keys import KeyFault, KeyRow, Keys, NewKey
from latchway.ledger.sqlite import Book
from latchway.ports import Key
from ledger.parts import add_key, figures, in_memory


@pytest.fixture
def book() -> Book:
    return in_memory()


def row_of(secret: str, name: str = "alice") -> KeyRow:
    return KeyRow(Key(name, name), secret.split("_")[1], keys.digest(secret))


def test_a_secret_has_256_bits_and_its_public_id() -> None:
    secret, public_id = keys.mint()
    mark, its_id, rest = secret.split("_")
    assert (mark, its_id) == ("lw", public_id)
    assert len(bytes.fromhex(rest)) == 32
    assert keys.mint()[0] != secret


def test_the_secret_is_not_in_the_database(book: Book) -> None:
    secret = add_key(book)
    stored = "".join(str(row) for row in book.connection.execute("SELECT * FROM account"))
    assert secret.split("_")[2] not in stored
    assert secret.split("_")[1] in stored


def test_a_secret_opens_its_key(book: Book) -> None:
    secret = add_key(book, owner="team")
    table = keys.load(book.connection)
    assert table.check(secret) == Key("alice", "team")
    assert table.valid("alice")


@pytest.mark.parametrize("spoil", [
    lambda secret: secret[:-1] + ("0" if secret[-1] != "0" else "1"),
    lambda secret: secret[:-1],
    lambda secret: secret + "0",
    lambda secret: secret.upper(),
    lambda secret: "",
    lambda secret: "lw_" + "0" * 16 + "_" + secret.split("_")[2],
    lambda secret: secret.replace("lw_", "sk_"),
    lambda secret: "lw-wrong-key",
    lambda secret: secret + "\n",
])  # fmt: skip
def test_anything_else_opens_nothing(book: Book, spoil: Callable[[str], str]) -> None:
    secret = add_key(book)
    assert keys.load(book.connection).check(spoil(secret)) is None


def test_a_secret_does_not_open_another_key() -> None:
    table = Keys()
    one, other = keys.mint()[0], keys.mint()[0]
    table.put(row_of(one, "one"))
    table.put(row_of(other, "other"))
    mixed = "_".join(["lw", one.split("_")[1], other.split("_")[2]])
    assert table.check(mixed) is None


def test_a_revoked_key_opens_nothing_from_then_on() -> None:
    table, (secret, _) = Keys(), keys.mint()
    table.put(row_of(secret))
    table.put(replace(row_of(secret), revoked=True))
    assert table.check(secret) is None
    assert not table.valid("alice")
    assert not table.valid("nobody")


def test_a_revocation_is_in_the_database(book: Book) -> None:
    secret = add_key(book)
    for _ in range(2):
        with book.transaction():
            keys.revoke(book, "alice")
    assert keys.load(book.connection).check(secret) is None


def test_credit_adds_up(book: Book) -> None:
    add_key(book, credit=5)
    with book.transaction():
        keys.credit(book, "alice", 7)
    assert figures(book) == (12, 0, 0)


FAULTS = [
    # a name that is taken, no name, an owner that is none, credit that is none
    (lambda book: keys.create(book, NewKey("alice", "alice", "x", bytes(32))), "already"),
    (lambda book: keys.create(book, NewKey("", "alice", "x", bytes(32))), "name ''"),
    (lambda book: keys.create(book, NewKey("a\nb", "alice", "x", bytes(32))), "name 'a"),
    (lambda book: keys.create(book, NewKey("a" * 129, "alice", "x", bytes(32))), "1 to 128"),
    (lambda book: keys.create(book, NewKey("bob", "", "x", bytes(32))), "owner ''"),
    (lambda book: keys.create(book, NewKey("bob", "bob", "x", bytes(32), -1)), "over the limit"),
    (lambda book: keys.credit(book, "alice", 0), "the credit is 0"),
    (lambda book: keys.credit(book, "alice", 10**18), "over the limit"),
    (lambda book: keys.credit(book, "root", 1), "unlimited"),
    (lambda book: keys.credit(book, "nobody", 1), "no key 'nobody'"),
    (lambda book: keys.revoke(book, "nobody"), "no key 'nobody'"),
]


@pytest.mark.parametrize(("step", "message"), FAULTS)
def test_a_fault_changes_nothing(book: Book, step: Callable[[Book], object], message: str) -> None:
    add_key(book, credit=5)
    add_key(book, "root", 0, unlimited=True)
    before = list(book.connection.iterdump())
    with pytest.raises(KeyFault, match=message):
        step(book)
    assert list(book.connection.iterdump()) == before
