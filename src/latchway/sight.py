"""First sight of a background response: who made it is noted before its client sees its id.

Such a response is retrieved and cancelled while its turn runs, and as soon as `response.created` is
there. Any other's id is of use from the turn's end on, and is noted with that. Only what goes out
waits: to the turn, what has arrived has arrived (law 6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from latchway.ports import Client, Granted, Unavailable, Written
from latchway.turn import commands as do
from latchway.wire.frame import Frame
from latchway.wire.marks import mark

Remember = Callable[[Sequence[bytes], Written], None]


class Sight:
    """`ports.Client` of a background turn: its client, for which whatever is told behind the first
    id waits, in order, until that is noted. The ledger answers in time, and before it closes the
    turn, so nothing waits when the turn is over."""

    def __init__(self, remember: Remember, client: Client) -> None:
        self._remember, self._client = remember, client
        self._seen = False
        self._waiting: list[Callable[[], None]] | None = None

    def deliver(self, command: do.Deliver) -> None:
        found = None if self._seen else _response_id(command.frames)
        if found is not None:
            self._seen, self._waiting = True, []
        self._tell(partial(self._client.deliver, command))
        if found is not None:
            self._remember([mark(found)], self._noted)

    def upstream_headers(self, headers: tuple[tuple[str, str], ...]) -> None:
        self._tell(partial(self._client.upstream_headers, headers))

    def send_head(self, command: do.SendHead) -> None:
        self._tell(partial(self._client.send_head, command))

    def comment(self) -> None:
        self._tell(self._client.comment)

    def pass_answer(self, command: do.PassAnswer) -> None:
        self._tell(partial(self._client.pass_answer, command))

    def fail(self, command: do.Fail) -> None:
        self._tell(partial(self._client.fail, command))

    def end(self) -> None:
        self._tell(self._client.end)

    def _tell(self, told: Callable[[], None]) -> None:
        if self._waiting is None:
            told()
        else:
            self._waiting.append(told)

    def _noted(self, answer: Granted | Unavailable) -> None:
        """Or not: it is noted once more when the turn ends."""
        waiting, self._waiting = self._waiting, None
        for told in waiting or ():
            told()


def _response_id(frames: Sequence[Frame]) -> str | None:
    ids = (frame.note.response_id for frame in frames if frame.note is not None)
    return next((found for found in ids if found is not None), None)
