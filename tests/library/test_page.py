"""The library's page has every reason, every way to end and every code, as the code has them."""

from __future__ import annotations

from dataclasses import fields

import latchway_client
from latchway_client import How, Limits, Reason, Result
from latchway_client.limits import EVENT_TIMEOUT_SECONDS, EXCERPT_CHARACTERS, TIMEOUT_SECONDS
from latchway_client.retryable import (
    AGAIN,
    CLOSE_CODES,
    NEVER_ENDS,
    NEVER_PARTS,
    NEVER_STARTS,
    STATUSES,
)
from repo.tree import ROOT, text_of

PAGE = text_of(ROOT / "docs" / "client.md")


def test_the_reasons_stand_in_their_rank() -> None:
    places = [PAGE.index(f"| `{reason}` |") for reason in Reason]
    assert places == sorted(places)


def test_every_way_to_end_is_there() -> None:
    assert [how for how in How if f"| `{how}` |" not in PAGE] == []


def test_every_field_of_a_result_is_there() -> None:
    assert [each.name for each in fields(Result) if f"`{each.name}`" not in PAGE] == []


def test_every_client_is_there() -> None:
    clients = [name for name in latchway_client.__all__ if name.endswith("Client")]
    assert len(clients) == 4
    assert [name for name in clients if f"`{name}`" not in PAGE] == []


def test_the_table_of_codes_and_statuses_is_the_code() -> None:
    table = PAGE.split("### What is retryable")[1].split("## Agent loops")[0]
    codes = [code for code in AGAIN if f"`{code}`" not in table]
    starts = [each for each in NEVER_STARTS if f"`{each}…`" not in table]
    ends = [each for each in (*NEVER_ENDS, *NEVER_PARTS) if f"`…{each}" not in table]
    numbers = [str(number) for number in {*CLOSE_CODES, *STATUSES} if str(number) not in table]
    assert codes + starts + ends + numbers == []


def test_the_figures_are_those_of_the_code() -> None:
    assert f"timeout={TIMEOUT_SECONDS}, event_timeout={EVENT_TIMEOUT_SECONDS}" in PAGE
    assert f"{Limits().longest_wait:.0f} s if not said" in PAGE
    assert f"`Limits.resends`, {Limits().resends} if not said" in PAGE
    assert f"first {EXCERPT_CHARACTERS} characters" in PAGE
