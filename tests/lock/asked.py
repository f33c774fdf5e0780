"""What an upstream is asked, read off the bytes that it gets: a member may be missing.

A route can drop fields that its server refuses. That it did, and that the other route did not, is
a line of the recording.
"""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable

from latchway.settings import Settings
from latchway.turn.events import Place, Sent, UpstreamEvent
from latchway.wire.request import CREATE_ONLY, Request
from lock import record
from lock.seen import Say, SeenCall, SeenUpstreams


class AskedUpstreams(SeenUpstreams):
    """`asked`: the body that the attempt with this number has sent."""

    def __init__(
        self, say: Say, settings: Settings, tls: ssl.SSLContext, asked: Callable[[int], bytes]
    ) -> None:
        super().__init__(say, settings, tls)
        self._asked = asked

    def open(  # type: ignore[override]
        self, attempt: int, place: Place, request: Request, tell: Callable[[UpstreamEvent], None]
    ) -> SeenCall:
        def seen(event: UpstreamEvent) -> None:
            if isinstance(event, Sent):
                self._say_what_it_lacks(attempt, request)
            tell(event)

        return super().open(attempt, place, request, seen)

    def _say_what_it_lacks(self, attempt: int, request: Request) -> None:
        """Members of the request that were not sent, but for those that no body has."""
        sent = json.loads(self._asked(attempt))
        for field in sorted(request.fields.keys() - sent.keys() - set(CREATE_ONLY)):
            self._say(record.lacking(attempt, field))
