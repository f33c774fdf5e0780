"""What is known of a real server before it is tried: how it starts, how it must be configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from latchway.demo.llama import PASSAGE
from servers.expected import COMPLETED, Expected


@dataclass(frozen=True, slots=True)
class Server:
    """`snippet` is the configuration that a user pastes, and the one that the run uses."""

    name: str
    pins: tuple[str, Path]
    """Of its environment: the requirement file's name, and its folder."""
    distributions: tuple[str, ...]
    """Whose versions the page tells."""
    prepare: Callable[[str, Path], None]
    """Makes in a folder what the server needs there, with its environment's interpreter."""
    command: Callable[[str, int], list[str]]
    """The interpreter and a port, as a command."""
    start_seconds: float
    snippet: str
    manners: tuple[str, ...]
    """What is unusual in its events; the run must see these and no others."""
    passages: int
    """How often `PASSAGE` is in a prompt that it needs seconds to read."""
    speaks_first: bool
    """Does it send an event before it has read the prompt?"""
    cut: Expected = COMPLETED
    """Of a response that was cut at its last token."""
    differs: Mapping[str, Expected] = field(default_factory=dict)
    """By what is asked, where it ends in another way than with a result."""
    bounded: bool = True
    """Does it refuse what is longer than its context? One that does not would read on for hours."""
    keeps: bool = False
    """Can its responses be asked for by their ids?"""
    environment: Mapping[str, str] = field(default_factory=dict)
    tool_input: list[dict[str, Any]] | None = None
    """A conversation after which its model calls `weather`; None: it cannot be made to."""

    def long_prompt(self) -> str:
        """It begins with the turn's label, so that no cache has it."""
        return f"{PASSAGE * self.passages} Tell a long story about a bridge."
