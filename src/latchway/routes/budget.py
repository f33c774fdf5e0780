"""How many replays may be in flight, so that a dead route does not drown the other one (R10)."""

from __future__ import annotations

from latchway.settings import ReplaySettings


class Budget:
    """Counts the active turns of a process, and those of them that are being replayed."""

    def __init__(self, settings: ReplaySettings) -> None:
        self._settings = settings
        self.turns = 0
        self.replays = 0

    @property
    def room(self) -> bool:
        """May one more replay begin? The turn that asks is one of the active ones."""
        return self.replays < max(self._settings.min, self._settings.max_share * self.turns)

    def turn_began(self) -> None:
        self.turns += 1

    def replay_began(self) -> None:
        self.replays += 1
        assert self.replays <= self.turns, "a replay is one of the active turns"

    def turn_ended(self, replayed: bool) -> None:
        self.turns -= 1
        self.replays -= replayed
        assert 0 <= self.replays <= self.turns, "a turn ended that had not begun"
