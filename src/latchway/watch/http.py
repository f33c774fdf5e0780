"""A turn over HTTP: the gateway's connection, its readers, and every byte of the body."""

from __future__ import annotations

import ssl
from collections.abc import Callable, Sequence

from latchway.turn import events as on
from latchway.upstreams.answers import Reader, reader_for
from latchway.upstreams.connection import Connection
from latchway.upstreams.faults import EARLY_END, TORN
from latchway.upstreams.headers import answer_fields, request_fields, request_id
from latchway.upstreams.http1 import Head, request_head
from latchway.upstreams.limits import Limits
from latchway.upstreams.pool import Pool
from latchway.watch.address import Address
from latchway.watch.asking import SETTINGS, Asking
from latchway.watch.credential import Credential
from latchway.watch.recording import Ending, Recording
from latchway.watch.watcher import Watcher

LIMITS = Limits()

EVENT_BYTES = SETTINGS.limits.event_bytes


class HttpCall:
    """One exchange (`upstreams.http1.Exchange`). `changed`: called after each event."""

    def __init__(
        self,
        asking: Asking,
        credential: Credential,
        watcher: Watcher,
        recording: Recording,
        changed: Callable[[], None],
    ) -> None:
        self.ended_by_itself = False
        self._asking, self._credential = asking, credential
        self._watcher, self._recording, self._changed = watcher, recording, changed
        self._reader: Reader | None = None
        self._pool: Pool | None = None
        self._connection: Connection | None = None

    def start(self, address: Address, tls: ssl.SSLContext) -> None:
        """Send the request; once."""
        body = self._asking.body
        fields = request_fields(
            host=address.host, streamed=self._asking.streamed, length=len(body), client=()
        )
        if self._credential.secret is not None:
            fields.append(("authorization", f"Bearer {self._credential.secret}"))
        self._pool = Pool(LIMITS, tls)
        head = request_head(address.path, fields)
        self._connection = self._pool.start(address.origin, self, head, body)

    def close(self) -> None:
        """Nothing more is wanted."""
        if self._connection is not None and not self.ended_by_itself:
            self._connection.abort()
            self._recording.end(Ending.SILENCE)
        if self._pool is not None:
            self._pool.close()

    # ---- Exchange

    def connected(self) -> None:
        self._recording.begin()
        self._hear([on.Connected(1)])

    def sent(self) -> None:
        self._recording.begin()
        self._hear([on.Sent(1)])

    def head(self, head: Head) -> None:
        self._recording.head(head)
        self._watcher.report.content_type = head.content_type or None
        self._reader = reader_for(
            head,
            attempt=1,
            streamed=self._asking.streamed,
            event_bytes=EVENT_BYTES,
            limits=LIMITS,
            scrub=lambda text: text,
        )
        headed = on.Headed(1, head.status, request_id(head.headers), answer_fields(head.headers))
        self._hear([headed, *self._reader.begin()])

    def body(self, data: bytes) -> None:
        self._recording.piece(data)
        if self._watcher.over:
            self._watcher.report.behind += len(data)
        elif self._reader is not None:
            self._hear(self._reader.feed(data))

    def ended(self) -> None:
        self._over(Ending.CLEAN, None)

    def broke(self, reason: str) -> None:
        self._over(Ending.CUT if reason in (TORN, EARLY_END) else Ending.RESET, reason)

    def _over(self, how: Ending, torn: str | None) -> None:
        self.ended_by_itself = True
        self._recording.end(how)
        if self._reader is not None:
            self._hear(self._reader.end(torn))
        elif torn is not None:
            self._hear([on.Broke(1, torn)])

    def _hear(self, events: Sequence[on.UpstreamEvent]) -> None:
        for event in events:
            if not self._watcher.over:
                self._watcher.hear(event)
        self._changed()
