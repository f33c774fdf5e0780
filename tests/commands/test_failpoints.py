"""`latchway failpoints` lists the points that a test can arm."""

from __future__ import annotations

import json

from command import latchway
from latchway.failpoints import NAMES


def test_every_point_is_listed_with_its_place() -> None:
    done = latchway("failpoints")

    assert done.returncode == 0
    assert all(name in done.stdout and when in done.stdout for name, when in NAMES.items())


def test_as_json() -> None:
    rows = json.loads(latchway("failpoints", "--json").stdout)

    assert {row["name"]: row["when"] for row in rows} == NAMES
