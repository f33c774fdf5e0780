"""Responses asked for by their ids: passed to the server that made them, and to no other (R3)."""

from __future__ import annotations

import http.client
from dataclasses import dataclass

from servers.stage import KEY, Stage
from servers.told import Told, of_body
from servers.vias import SECONDS

OWN, UNKNOWN = "`GET` one of its responses", "`GET` a response that nobody knows"
NOT_FOUND = "response_not_found"
"""The gateway's own code: nobody was asked."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came of one `GET`. `wrong`: what was not as it should be."""

    what: str
    told: Told
    wrong: tuple[str, ...]


def fetch_all(stage: Stage, own_id: str) -> list[Fetched]:
    """Its own, whose answer must be the server's to the byte, and one that was never made."""
    own, unknown = _get(stage, own_id), _get(stage, "resp_0")
    calls = [(call.status, call.answer) for call in stage.taps[0].calls(own_id)]
    wanted = [(own.status, own.wire[0])]
    wrong = [] if calls[-1:] == wanted else [f"{own}, but the server said {calls}"]
    if (own.status == 200) != stage.server.keeps:
        wrong.append(f"status {own.status}")
    asked = [*stage.taps[0].calls("resp_0"), *stage.taps[1].calls("resp_0")]
    ours = unknown.code == NOT_FOUND and not asked
    return [
        Fetched(OWN, own, tuple(wrong)),
        Fetched(UNKNOWN, unknown, () if ours else (f"{unknown}, {len(asked)} calls",)),
    ]


def _get(stage: Stage, response_id: str) -> Told:
    host, _, path = stage.gateway.url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(host, timeout=SECONDS)
    headers = {"Authorization": f"Bearer {stage.gateway.key(KEY)}"}
    connection.request("GET", f"/{path}/responses/{response_id}", headers=headers)
    answer = connection.getresponse()
    told = of_body(answer.status, answer.read())
    connection.close()
    return told
