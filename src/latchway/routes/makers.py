"""Which route made what a client may send back and only that route's origin can read (R3).

Kept in memory, by digest and owner: after a restart it is not known, and such a request goes to
the first route, as it does when somebody else made it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

KNOWN_MAX = 50_000
"""Things that are remembered, about 150 bytes each: some hours of a busy process. The one that was
not used for the longest time is forgotten first."""


class Makers:
    """From an owner's thing to the name of the route that made it."""

    def __init__(self, known_max: int = KNOWN_MAX) -> None:
        self._known_max = known_max
        self._routes: OrderedDict[tuple[str, bytes], str] = OrderedDict()

    def note(self, owner: str, route: str, marks: Iterable[bytes]) -> None:
        """`route` made these things for `owner`. `marks`: see wire/marks.py."""
        for mark in marks:
            self._routes[owner, mark] = route
            self._routes.move_to_end((owner, mark))
        while len(self._routes) > self._known_max:
            self._routes.popitem(last=False)

    def of(self, owner: str, marks: Sequence[bytes]) -> str | None:
        """The route that made the last of these things that is known; None: none is."""
        for mark in reversed(marks):
            route = self._routes.get((owner, mark))
            if route is not None:
                self._routes.move_to_end((owner, mark))
                return route
        return None
