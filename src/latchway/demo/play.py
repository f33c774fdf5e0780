"""The demonstration from its first line to its last: the gateway in this thread, the show beside.

The gateway runs where it runs when it is served, in the main thread, which is the one that gets
signals. The show is a client in a second thread, which starts when the gateway listens.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from latchway.demo import show
from latchway.demo.pair import Pair
from latchway.demo.stage import Stage, set_up
from latchway.serve import process
from latchway.settings import Settings

HOST = "127.0.0.1"
FAILED = 1
JOIN_SECONDS = 5.0
"""The show ends by itself soon after the gateway has."""

Act = Callable[[Stage], None]
"""What happens beside the gateway once it listens. It may raise `show.ShowFault`."""


class Run(Protocol):
    """Serves until told to leave: `process.run`, or its like with workers."""

    def __call__(self, settings: Settings, *, started: Callable[[str], None] | None) -> int: ...


def demonstrate(pair: Pair, *, once: bool) -> int:
    """Show one turn, then stay until a signal; with `once`, leave. Returns the exit code."""

    def act(stage: Stage) -> None:
        show.perform(stage, pair, sys.stdout)
        if once:
            _leave()
        else:
            show.invite(stage, sys.stdout)

    return _play(pair, act, HOST, None)


def serve(pair: Pair, *, host: str | None, port: int | None, run: Run = process.run) -> int:
    """The same stage without the show: what `latchway serve` does that has no configuration."""
    return _play(pair, lambda stage: show.invite(stage, sys.stderr), host or HOST, port, run)


def _play(pair: Pair, act: Act, host: str, port: int | None, run: Run = process.run) -> int:
    try:
        with set_up(pair, host, port) as stage:
            beside = _Beside(act, stage)
            status = run(stage.settings, started=beside.begin)
            beside.end()
    finally:
        pair.close()
    return status or (FAILED if beside.failed else 0)


class _Beside:
    """Acts in a thread of its own; a fault of the act ends the gateway."""

    def __init__(self, act: Act, stage: Stage) -> None:
        self._act, self._stage = act, stage
        self._thread: threading.Thread | None = None
        self._over = False
        self.failed = False

    def begin(self, url: str) -> None:
        """The gateway listens at `url`."""
        stage = replace(self._stage, url=f"{url}/v1")
        self._thread = threading.Thread(target=self._run, args=(stage,), name="show", daemon=True)
        self._thread.start()

    def end(self) -> None:
        """The gateway has ended; what the act may still say does not matter any more."""
        self._over = True
        if self._thread is not None:
            self._thread.join(JOIN_SECONDS)

    def _run(self, stage: Stage) -> None:
        try:
            self._act(stage)
        except show.ShowFault as fault:
            if not self._over:
                self.failed = True
                print(f"latchway: {fault}", file=sys.stderr)
                _leave()


def _leave() -> None:
    """Tell the gateway of this process to leave, as an operator would."""
    os.kill(os.getpid(), signal.SIGTERM)
