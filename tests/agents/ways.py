"""How a program keeps a conversation: what it tells its upstream to store, and what it sends back.

That decides what ties a turn to one place (R3), and so whether it may be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agents.stage import FIRSTS, NAMES, Model

ALWAYS = tuple(FIRSTS)
AT_THE_FIRST = tuple(word for word, first in FIRSTS.items() if not first.anywhere)
BEGUN_ELSEWHERE = ("healthy", "failed")

REFERENCE = "`item_reference`"
SEALED = "encrypted reasoning"
BY_ID = "reasoning ids"
PREVIOUS = "`previous_response_id`"
COMPARED = "`comparison_response_id`"


@dataclass(frozen=True, slots=True)
class Way:
    """`mode`: what a program's job calls it."""

    mode: str
    told: str
    words: tuple[str, ...] = ALWAYS
    """Keys of FIRSTS that it is tried against."""
    keeps: bool = True
    """Do the routes store a request that does not say?"""
    tells: bool = False
    """Is the model one that tells its reasoning by an id, also where it is not stored?"""
    stored: bool = False
    """Are its turns stored?"""
    sends: frozenset[str] = frozenset()
    """Of these it sends one back; empty: nothing that ties a turn to a place."""
    begins: str = NAMES[0]
    """The route of the first turn: the first, or one that the first question pins."""

    @property
    def models(self) -> tuple[Model, ...]:
        return tuple(Model(word, self.keeps, self.tells) for word in self.words)

    @property
    def headers(self) -> dict[str, str]:
        """Of the first question's turns."""
        return {} if self.begins == NAMES[0] else {"x-latchway-route": self.begins}


IDS = frozenset({REFERENCE, SEALED, BY_ID})

SEALED_WAY = Way("sealed", "`store: false`, encrypted reasoning", sends=frozenset({SEALED}))
PLAIN = Way("whole", "nothing said, routes that store nothing", keeps=False)
LOST = Way(
    "whole",
    "the same, a model that reasons",
    ("healthy",),
    keeps=False,
    tells=True,
)
CHAINED = Way(
    "chained",
    "stored, `previous_response_id`",
    AT_THE_FIRST,
    stored=True,
    sends=frozenset({PREVIOUS}),
)
WHOLE = Way("whole", "stored, the whole history", AT_THE_FIRST, stored=True, sends=IDS)
CHAINED_ELSEWHERE = Way(
    "chained",
    "the same, begun at the second route",
    BEGUN_ELSEWHERE,
    stored=True,
    sends=CHAINED.sends,
    begins=NAMES[1],
)
WHOLE_ELSEWHERE = Way(
    "whole",
    "the same, begun at the second route",
    BEGUN_ELSEWHERE,
    stored=True,
    sends=IDS,
    begins=NAMES[1],
)


def sent_back(request: dict[str, Any]) -> set[str]:
    """What in a request stands for something that its maker has kept or sealed."""
    found = {PREVIOUS} if request.get("previous_response_id") else set()
    if (request.get("prompt_cache_options") or {}).get("comparison_response_id"):
        found.add(COMPARED)
    items = request["input"] if isinstance(request["input"], list) else []
    for item in items:
        if item.get("encrypted_content"):
            found.add(SEALED)
        elif item.get("type") == "reasoning":
            found.add(BY_ID)
        elif item.get("type", REFERENCE) == "item_reference" or set(item) == {"id"}:
            found.add(REFERENCE)
    return found
