"""What a killed gateway left behind: its open turns are refunded, and every turn gets its record.

A turn that is open in an older epoch has lost the process that served it. Nothing of it was durably
settled, so nothing of it is charged: what it cost is the operator's loss, of an amount that nobody
knows any more. It runs before the first new turn (I-B3); for a worker, as soon as it is gone.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from latchway.ledger.prices import format_usd
from latchway.ledger.sqlite import Book
from latchway.log import store
from latchway.ports import Closing

KILLED = "gateway_killed"
"""The code of a turn whose end the gateway did not live to see. No client is ever told it."""

UNLOGGED_AMONG = 10_000
"""The log is written behind the turns, at most a batch or two and `rounds.RIDE_SECONDS`: a turn
without a record is looked for among the last so many, and among all since the oldest that was
open."""
MOST_TURNS = 2**63 - 1
"""The greatest number that SQLite has: no turn was open."""

OLDER, ONE = "epoch < ?1", "epoch = ?1"
"""Whose turns: every process before this one, or one worker."""

ORPHANS = "SELECT turn, request_id FROM turn WHERE state = 'open' AND {} ORDER BY turn"
UNLOGGED = (
    "SELECT turn.*, key, owner, served_by, (SELECT coalesce(sum(amount), 0) FROM chain"
    " WHERE chain.turn = turn.turn AND kind = 'adjust') AS given_back"
    " FROM turn JOIN account USING (account) JOIN epoch USING (epoch)"
    " WHERE turn > min((SELECT max(turn) FROM turn) - ?2, ?3) AND {}"
    " AND opened_ms >= ?4 AND NOT EXISTS (SELECT 1 FROM log WHERE log.request_id = turn.request_id)"
)


def recover(book: Book, keep_ms: int) -> int:
    """Close what older epochs left open and log what they left unlogged, in one transaction.

    Turns older than `keep_ms` are not logged: their records were deleted on purpose. Returns the
    number of turns that were refunded.
    """
    with book.transaction():
        refunded, unlogged = _close(book, OLDER, book.epoch, keep_ms)
        _log(book, unlogged)
    return refunded


def recover_epoch(book: Book, epoch: int, keep_ms: int) -> int:
    """The same for one worker that is gone, within the transaction that the caller has begun.

    Its records come to us as soon as a turn is told its end. So what has none was settled, but its
    client did not hear of it, and its charge is given back.
    """
    refunded, unlogged = _close(book, ONE, epoch, keep_ms)
    for turn in unlogged:
        book.give_back(turn["request_id"])
        turn["given_back"] = turn["charged"]
    _log(book, unlogged)
    return refunded


def _close(book: Book, whose: str, epoch: int, keep_ms: int) -> tuple[int, list[dict[str, Any]]]:
    """The number of turns that were open and are refunded, and all that have no record."""
    orphans = book.connection.execute(ORPHANS.format(whose), (epoch,)).fetchall()
    for _, request_id in orphans:
        book.close(refund(request_id, 0, KILLED))
    before = orphans[0][0] - 1 if orphans else MOST_TURNS
    values = (epoch, UNLOGGED_AMONG, before, book.now_ms() - keep_ms)
    cursor = book.connection.execute(UNLOGGED.format(whose), values)
    names = [column[0] for column in cursor.description]
    return len(orphans), [dict(zip(names, row, strict=True)) for row in cursor]


def refund(request_id: str, loss: int, reason: str) -> Closing:
    """A closing that charges nothing."""
    return Closing(
        request_id=request_id,
        charge=0,
        loss=loss,
        loss_reason=reason,
        basis="none",
        usage=None,
        billed_attempt=None,
        response_id=None,
        route=None,
    )


def _log(book: Book, turns: list[dict[str, Any]]) -> None:
    for turn in turns:
        store.put(book.connection, _record(turn))


def _record(turn: dict[str, Any]) -> dict[str, Any]:
    """The record of a turn of which only the ledger is left; what it does not know is null."""
    return {
        "request_id": turn["request_id"],
        "response_id": turn["response_id"],
        "key": turn["key"],
        "owner": turn["owner"],
        "model": turn["model"],
        "transport": None,
        "streamed": None,
        "binding": None,
        "started_at": iso(turn["opened_ms"]),
        "first_output_ms": None,
        "duration_ms": None,
        "outcome": "failed",
        "code": KILLED,
        "delivered": None,
        "replayed": turn["second_route"] is not None,
        "served_by": turn["served_by"],
        "attempts": _attempts(turn),
        "billing": _billing(turn),
    }


def _attempts(turn: dict[str, Any]) -> list[dict[str, Any]]:
    first, second = turn["route"], turn["second_route"]
    if second is None:
        return [_attempt(1, first, turn["opened_ms"], last=True)]
    return [
        _attempt(1, first, turn["opened_ms"], last=False),
        _attempt(2, second, turn["second_began_ms"], last=True),
    ]


def _attempt(number: int, route: str, began_ms: int, *, last: bool) -> dict[str, Any]:
    """The last attempt died with the gateway; one before it had failed and was replayed."""
    return {
        "number": number,
        "route": route,
        "outcome": "failed",
        "failure": "gateway_stopped" if last else None,
        "rule": "R2.17" if last else None,
        "code": KILLED if last else None,
        "verdict": None if last else "replay",
        "reason": None,
        "http_status": None,
        "upstream_request_id": None,
        "response_id": None,
        "started_at": iso(began_ms),
        "first_event_ms": None,
        "ended_ms": None,
        "usage": None,
        "cost": format_usd(0),
    }


def _billing(turn: dict[str, Any]) -> dict[str, Any]:
    """What was given back was not charged: it is the operator's loss."""
    charged = turn["charged"] - turn["given_back"]
    return {
        "currency": "USD",
        "reserved": format_usd(turn["reserved"]),
        "charged": format_usd(charged),
        "refunded": format_usd(turn["reserved"] - charged),
        "usage_source": turn["basis"],
        "operator_loss": format_usd(turn["loss"] + turn["given_back"]),
    }


def iso(unix_ms: int) -> str:
    """`2026-11-29T12:00:00.000Z`; as text, later times are greater."""
    when = datetime.fromtimestamp(unix_ms / 1000, UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%S.") + f"{unix_ms % 1000:03d}Z"
