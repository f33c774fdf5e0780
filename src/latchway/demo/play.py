"""The demonstration from its first line to its last: the gateway in this thread, the show beside.

The gateway runs where it runs when it is served, in the main thread, which is the one that gets
signals. The show is a client in a second thread.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable

from latchway.demo import show
from latchway.demo.pair import Pair
from latchway.demo.stage import Stage, set_up
from latchway.serve import process

FAILED = 1
JOIN_SECONDS = 5.0
"""The show's thread ends by itself soon after the gateway has."""


def demonstrate(pair: Pair, *, once: bool) -> int:
    """Show one turn, then stay until a signal; with `once`, leave. Returns the exit code."""

    def act(stage: Stage, leaving: Callable[[], bool]) -> None:
        show.perform(stage, pair, sys.stdout, leaving=leaving)
        if not once:
            show.invite(stage, sys.stdout)

    return _run(pair, act, once=once)


def serve(pair: Pair, *, host: str | None, port: int | None) -> int:
    """The same stage without the show: what `latchway serve` does that has no configuration."""

    def act(stage: Stage, leaving: Callable[[], bool]) -> None:
        show.wait_until_ready(stage, leaving)
        show.invite(stage, sys.stderr)

    return _run(pair, act, host=host or "127.0.0.1", port=port)


def _run(
    pair: Pair,
    act: Callable[[Stage, Callable[[], bool]], None],
    *,
    once: bool = False,
    host: str = "127.0.0.1",
    port: int | None = None,
) -> int:
    try:
        with set_up(pair, host, port) as stage:
            beside = _Beside(act, stage, leave=once)
            beside.start()
            status = process.run(stage.settings)
            beside.gateway_ended()
    finally:
        pair.close()
    return status or (FAILED if beside.failed else 0)


class _Beside(threading.Thread):
    """Acts beside the gateway; a fault of it ends the whole, and `leave` does so after the act."""

    def __init__(
        self, act: Callable[[Stage, Callable[[], bool]], None], stage: Stage, *, leave: bool
    ) -> None:
        super().__init__(name="demo show", daemon=True)
        self._act, self._stage, self._leave = act, stage, leave
        self._over = threading.Event()
        self.failed = False

    def run(self) -> None:
        try:
            self._act(self._stage, self._over.is_set)
        except show.ShowFault as fault:
            self.failed = not self._over.is_set()
            if self.failed:
                print(f"latchway: {fault}", file=sys.stderr)
        if (self._leave or self.failed) and not self._over.is_set():
            os.kill(os.getpid(), signal.SIGTERM)

    def gateway_ended(self) -> None:
        self._over.set()
        self.join(JOIN_SECONDS)
