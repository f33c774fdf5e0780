"""A random history of turns on one balance, beside a model of it that a child could check."""

from __future__ import annotations

import random
from contextlib import suppress

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from latchway.ledger import keys, report
from latchway.ledger.sqlite import Book
from latchway.ledger.verify import verify
from latchway.ports import Granted, Refused
from ledger.parts import add_key, closing, figures, in_memory, opening, refund


class Money(RuleBasedStateMachine):
    """A plain model of the balance beside the real book: the same answers, the same figures."""

    @initialize(credit=st.integers(0, 500))
    def begin(self, credit: int) -> None:
        self.book: Book = in_memory()
        add_key(self.book, credit=credit)
        self.granted, self.charged, self.lost, self.made = credit, 0, 0, 0
        self.open: dict[str, int] = {}
        self.closed: dict[str, int] = {}

    @property
    def available(self) -> int:
        return self.granted - self.charged - sum(self.open.values())

    @rule(amount=st.integers(0, 300))
    def reserve(self, amount: int) -> None:
        self.made += 1
        name = f"req_{self.made}"
        with self.book.transaction():
            answer = self.book.reserve(opening(name, amount=amount))
        if amount <= self.available:
            assert answer == Granted()
            self.open[name] = amount
        else:
            assert answer == Refused(needed=amount, available=self.available)

    @rule(share=st.floats(0, 1), loss=st.integers(0, 3), pick=st.randoms(use_true_random=False))
    def close(self, share: float, loss: int, pick: random.Random) -> None:
        names = [*self.open, *self.closed]
        if not names:
            return
        name = pick.choice(names)
        charge = int(self.open.get(name, 300) * share) // 2 * 2
        usage = {"input_tokens": charge // 2, "output_tokens": 0}
        with self.book.transaction():
            self.book.close(closing(name, charge=charge, loss=loss, usage=usage))
        if name in self.open:
            del self.open[name]
            self.closed[name] = charge
            self.charged += charge
            self.lost += loss

    @rule(pick=st.randoms(use_true_random=False))
    def fail(self, pick: random.Random) -> None:
        """A batch that breaks leaves nothing behind."""
        with suppress(ZeroDivisionError), self.book.transaction():
            self.book.reserve(opening(f"broken_{self.made}", amount=0))
            for name in list(self.open)[: pick.randint(0, 2)]:
                self.book.close(refund(name))
            raise ZeroDivisionError

    @rule(amount=st.integers(1, 200))
    def credit(self, amount: int) -> None:
        with self.book.transaction():
            keys.credit(self.book, "alice", amount)
        self.granted += amount

    @invariant()
    def agrees(self) -> None:
        assert figures(self.book) == (self.granted, self.charged, sum(self.open.values()))

    def teardown(self) -> None:
        for name in self.open:
            with self.book.transaction():
                self.book.close(refund(name))
        assert verify(self.book.connection) == []
        losses = report.ledger(self.book.connection)["losses"]
        assert int(losses.replace(".", "")) == self.lost
        self.book.connection.close()


TestMoney = Money.TestCase
TestMoney.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
