"""A watcher on a clock that a test moves, and what it has told."""

from __future__ import annotations

from latchway.watch.asking import Asking, asking, in_words
from latchway.watch.seen import Noted, Seen
from latchway.watch.watcher import Watcher


def asked() -> Asking:
    """A turn that stores nothing, over HTTP."""
    return asking(in_words("m", "hi"), model=None, websocket=False, silence=None)


class Watching:
    """A watcher; `now` is the time, `told` all that it has told."""

    def __init__(self, asking_: Asking | None = None) -> None:
        self.now = 0.0
        self.told: list[Seen | Noted] = []
        self.watcher = Watcher(asking_ or asked(), self.told.append, lambda: self.now)

    @property
    def seen(self) -> list[Seen]:
        return [it for it in self.told if isinstance(it, Seen)]

    @property
    def notes(self) -> list[str]:
        return [it.text for it in self.told if isinstance(it, Noted)]
