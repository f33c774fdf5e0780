"""The credential that is sent, and how it is kept out of all that is shown or saved."""

from __future__ import annotations

import json
from dataclasses import dataclass

from latchway.upstreams.responses import SCRUBBED, SCRUBBED_CHARACTERS

BLOT = "*"


@dataclass(frozen=True, slots=True, repr=False)
class Credential:
    """`secret`: None, nothing is sent. A placeholder is sent, and would be found in every word."""

    secret: str | None

    def clean(self, text: str) -> str:
        """Without it, also where it stands in JSON. What is to be cut or wrapped is cleaned first,
        for half of it would not be found."""
        for form in self._forms():
            text = text.replace(form, SCRUBBED.decode())
        return text

    def blot(self, data: bytes) -> bytes:
        """The same, without moving a byte."""
        for form in self._forms():
            data = data.replace(form.encode(), (BLOT * len(form)).encode())
        return data

    def _forms(self) -> tuple[str, ...]:
        if self.secret is None or len(self.secret) < SCRUBBED_CHARACTERS:
            return ()
        return self.secret, json.dumps(self.secret)[1:-1]
