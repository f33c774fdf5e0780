"""What a turn asks of the ledger, as jobs: the work, and what makes up for work that came too late.

The same whoever asks: the turns of this process, or those of a worker, through its desk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from latchway.ledger import recovery
from latchway.ledger.committer import Job
from latchway.ledger.sqlite import Book
from latchway.ports import Closing, Granted, Opening, Refused, Unavailable, Written
from latchway.values import replace


def reserve(
    opening: Opening,
    done: Callable[[Granted | Refused | Unavailable], None],
    epoch: int | None = None,
) -> Job:
    """Granted once the turn and its first attempt are durable. `epoch`: the worker's that asks."""
    return Job(
        lambda book: book.reserve(opening, epoch),
        done,
        amends=lambda book: book.close(release(opening.request_id)),
    )


def release(request_id: str) -> Closing:
    """How a reservation ends that nobody waits for any more."""
    return recovery.refund(request_id, 0, "ledger_late")


def record_replay(request_id: str, route: str, done: Written) -> Job:
    return Job(lambda book: book.record_replay(request_id, route), done)


def close(closing: Closing, done: Written) -> Job:
    """Granted once it is durable. Unavailable: nothing will have been charged."""
    return Job(
        lambda book: _end(book, closing),
        done,
        instead=lambda book: _end(book, _refund(closing)),
        amends=lambda book: book.give_back(closing.request_id),
    )


def _end(book: Book, closing: Closing) -> Granted:
    """What became durable after it was given up goes back in the commit of the refund behind it:
    the next may hold the record that says so, and the process be killed before another."""
    ended = book.close(closing)
    return book.give_back(closing.request_id) if closing.undoes else ended


def _refund(closing: Closing) -> Closing:
    """What would have been charged is the operator's loss as well."""
    loss = closing.loss + closing.charge
    refund = recovery.refund(closing.request_id, loss, "ledger_unavailable")
    return replace(refund, undoes=closing.undoes)


def give_back(request_id: str, done: Written) -> Job:
    """Return the charge of a turn whose end came too late; it is owed until it is done."""
    return Job(
        lambda book: book.give_back(request_id),
        done,
        instead=lambda book: book.give_back(request_id),
    )


def remember(owner: str, route: str, marks: Sequence[bytes], done: Written) -> Job:
    return Job(lambda book: book.remember(owner, route, marks), done)


def nobody_waits(answer: object) -> None:
    """For what is written for the ledger's own sake."""
