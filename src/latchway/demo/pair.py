"""What a demonstration needs of its two upstreams, whichever kind they are."""

from __future__ import annotations

from typing import Protocol


class Pair(Protocol):
    """Two upstreams that are running; the first one fails."""

    @property
    def urls(self) -> tuple[str, str]:
        """Their base addresses, `/v1` included."""

    @property
    def what(self) -> tuple[str, str]:
        """A few words about each, for the person who watches."""

    @property
    def prompt(self) -> str:
        """What the shown turn asks."""

    def turn_sent(self) -> None:
        """The shown turn is on its way; returns at once."""

    def close(self) -> None:
        """End both."""
