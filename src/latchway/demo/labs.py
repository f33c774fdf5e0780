"""Two scripted upstreams, in a thread of their own: the gateway's loop stays the gateway's."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future

from latchway.lab.checked import load
from latchway.lab.server import Lab

SCRIPTS = ("fails-before-output", "healthy")

START_SECONDS = 10.0
"""Two listening sockets take milliseconds; longer means that they never come."""


class ScriptedPair:
    """Runs from its making to `close`."""

    what = ("fails before its first word, every time", "answers")
    prompt = "Say hello."

    def __init__(self) -> None:
        self._ports: Future[tuple[int, int]] = Future()
        self._loop = asyncio.new_event_loop()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="demo upstreams", daemon=True)
        self._thread.start()
        self.ports = self._ports.result(START_SECONDS)

    @property
    def urls(self) -> tuple[str, str]:
        first, second = self.ports
        return f"http://127.0.0.1:{first}/v1", f"http://127.0.0.1:{second}/v1"

    def turn_sent(self) -> None:
        """A script needs no help to fail."""

    def close(self) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(START_SECONDS)

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        labs = [Lab(), Lab()]
        try:
            first, second = [
                await lab.start(load(script)) for lab, script in zip(labs, SCRIPTS, strict=True)
            ]
            self._ports.set_result((first, second))
            await self._stop.wait()
        except OSError as error:
            self._ports.set_exception(error)
        finally:
            for lab in labs:
                await lab.stop()
