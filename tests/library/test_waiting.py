"""How long to wait, in each way in which servers say it."""

from __future__ import annotations

from typing import Any

import pytest

from latchway_client.waiting import retry_after

DATE = "Mon, 30 Nov 2026 12:00:00 GMT"
LATER = "Mon, 30 Nov 2026 12:00:40 GMT"

SAID: list[tuple[dict[str, Any], dict[str, str], float | None]] = [
    ({}, {}, None),
    ({"retry_after": 3}, {}, 3.0),
    ({"retry_after": 0}, {"retry-after": "9"}, 0.0),
    ({"retry_after": None}, {"retry-after": "9"}, 9.0),
    ({"retry_after": "3"}, {}, None),
    ({"retry_after": True}, {}, None),
    ({"retry_after": -1}, {}, None),
    ({}, {"retry-after": "1.5"}, 1.5),
    ({}, {"retry-after": "inf"}, None),
    ({}, {"retry-after": "nan"}, None),
    ({}, {"retry-after": "soon"}, None),
    ({}, {"retry-after-ms": "250", "retry-after": "9"}, 0.25),
    ({}, {"retry-after": LATER, "date": DATE}, 40.0),
    ({}, {"retry-after": DATE, "date": LATER}, 0.0),
    ({}, {"retry-after": LATER}, None),
    ({}, {"retry-after": LATER.replace("GMT", "+" + "9" * 20), "date": DATE}, None),
    ({"retry_after": 10**400}, {}, None),
    ({"error": {"message": "Busy."}, "retry_after": 3}, {}, 3.0),
    ({}, {"retry-after": "Mon, 30 Nov 2026 12:00:40", "date": DATE}, None),
]


@pytest.mark.parametrize(("error", "headers", "seconds"), SAID)
def test_the_wait(error: dict[str, Any], headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(error, headers) == seconds
