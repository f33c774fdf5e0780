"""The printed reference has every field of every table, with its default."""

from __future__ import annotations

import pytest

from latchway.config import reference
from latchway.config.kinds import Section
from latchway.config.schema import FILE_SCHEMA, MODEL, PRICES, PROVIDER, ROUTE


@pytest.mark.parametrize("section", [FILE_SCHEMA, MODEL, PRICES, PROVIDER, ROUTE])
def test_every_field_has_a_row(section: Section) -> None:
    for field in section.fields:
        assert f"\n| `{field.name}` | " in reference()


@pytest.mark.parametrize(
    "row",
    [
        "| `listen` | host:port, an IPv6 address in brackets, such as [::1]:8787 |"
        " 127.0.0.1:8787 | the address to serve at |",
        "| `failures` | a whole number of failures, 1 to 1000000 | 5 |"
        " in a row, to be set aside (R10) |",
        "| `enabled` | true or false | true | are failing routes set aside? |",
        "| `provider` | a name | required | the provider's name in `providers` |",
        "| `store_when_omitted` | provider \\| false \\| stateless | provider |"
        " omitted `store`: as the route has it; sent as `false`; not stored (R3) |",
    ],
)
def test_a_row_says_kind_default_and_meaning(row: str) -> None:
    assert f"\n{row}\n" in reference()


def test_sections_stand_under_their_paths() -> None:
    titles = [line for line in reference().splitlines() if line.startswith("## ")]
    assert titles[:6] == [
        "## The file",
        "## `tls`",
        "## `providers.NAME`",
        "## `models.NAME`",
        "## `models.NAME.price`",
        "## `models.NAME.routes[]`",
    ]


def test_no_default_is_a_python_word() -> None:
    assert not {"None", "True", "False"} & set(reference().replace("|", " ").split())
