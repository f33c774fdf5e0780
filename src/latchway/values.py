"""The two kinds of value of which a turn makes hundreds: words from a closed set, and records.

The standard library's own are dear in Python 3.11. An enumeration finds each of its members, and
its hash, by a call of Python; a frozen dataclass sets each of its fields by one. These two mean
the same, and cost a tenth.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import msgspec
from msgspec.structs import replace as replace


class Word(Enum):
    """One of a closed set. A member is itself alone, so its address is hash enough."""

    __hash__ = object.__hash__

    def __init_subclass__(cls, **more: Any) -> None:
        """Make each member an attribute of its class, as from Python 3.12 on it is by itself."""
        super().__init_subclass__(**more)
        for member in cls:
            type.__setattr__(cls, member.name, member)


class Value(msgspec.Struct, frozen=True, gc=False):
    """A frozen record. It holds values alone, no cycle, so the collector need not look at it."""
