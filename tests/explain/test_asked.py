"""Who asks, as the ledger has it; and what stands in for it when nobody is named."""

from __future__ import annotations

from pathlib import Path

from latchway.explain.asked import Account, Assumed, account_of
from latchway.ledger.control import Store
from latchway.ledger.database import open_reader


def test_an_account_is_read_with_its_balance(tmp_path: Path) -> None:
    file = tmp_path / "l.db"
    with Store.open(file) as store:
        store.create("alice", "team", 2_500_000_000)
        store.create("bob", unlimited=True)
        store.revoke("bob")
    reader = open_reader(file)

    assert account_of(reader, "alice") == Account("alice", "team", 2_500_000_000, False, False)
    bob = account_of(reader, "bob")
    assert bob is not None
    assert (bob.unlimited, bob.revoked) == (True, True)
    assert account_of(reader, "carol") is None
    reader.close()


def test_what_is_assumed_is_told() -> None:
    assumed = Assumed("one/m")

    assert assumed.maker("", []) is None
    assert not assumed.asked
    assert assumed.maker("", [b"mark"]) == "one/m"
    assert assumed.asked
    assert not assumed.is_anothers("", [b"mark"])
