"""Where agents are tried: two origins, and a gateway with a model for each way to fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agents.origin import Behaviour, Origin
from clients.gateway import Gateway
from clients.upstreams import Labs
from clients.way import FIRST_CHARGE, SECOND_CHARGE, START, Reply, events, refusal
from latchway.lab.calls import Call

FAILED: Reply = events(*START, {"failed": "server_is_overloaded"})
BUSY = refusal(503, "server_is_overloaded")
RESET: Reply = events({"comment": "hi"}, "reset")


@dataclass(frozen=True, slots=True)
class First:
    """What a turn meets at its first attempt, on every turn; always before output."""

    told: str
    fails: Reply | None = None
    rule: str = ""
    """The row that says it is replayed."""
    anywhere: bool = False
    """Does a turn meet it whichever route it begins at? Else only at the first route."""


FIRSTS = {
    "healthy": First("healthy"),
    "failed": First("`response.failed`", FAILED, "R2.1"),
    "503": First("503", BUSY, "R2.1"),
    "reset": First("reset", RESET, "R2.2"),
    "each-failed": First("`response.failed`, either route", FAILED, "R2.1", anywhere=True),
    "each-503": First("503, either route", BUSY, "R2.1", anywhere=True),
    "each-reset": First("reset, either route", RESET, "R2.2", anywhere=True),
}
"""By the word for it in a model's name. A turn that is bound to the second route does not meet a
failure of the first, so that there are failures which follow the turn."""

NAMES = ("first", "second")
"""Of the routes."""

SEAL = "gAAAA-of-one-origin-"
USAGES = ({"input_tokens": 10, "output_tokens": 5}, {"input_tokens": 11, "output_tokens": 7})
"""Of each answer at the first origin and at the second: a bill tells who answered."""
CHARGES = dict(zip(NAMES, (FIRST_CHARGE, SECOND_CHARGE), strict=True))
"""For them, by route."""

NO_SCRIPT: dict[str, Any] = {"calls": [{"echo": True}]}
"""An origin answers by what came before."""


@dataclass(frozen=True, slots=True)
class Model:
    """One model of the gateway's, with a route to each origin. `word`: a key of FIRSTS."""

    word: str
    keeps: bool
    """Do both origins store what does not say that it shall not be stored?"""
    tells: bool = False
    """Do both tell their reasoning by an id, also where it is not stored?"""

    @property
    def first(self) -> First:
        return FIRSTS[self.word]

    @property
    def name(self) -> str:
        """It begins as those of OpenAI do: programs choose by it what they send."""
        kind = "keeps" if self.keeps else "forgets"
        return f"gpt-5.6-{self.word}-{kind}{'-but-tells' if self.tells else ''}"


FORGETFUL = Model("healthy", keeps=False, tells=True)
MODELS = (*(Model(word, keeps) for word in FIRSTS for keeps in (True, False)), FORGETFUL)


class Stage:
    """The running parts."""

    def __init__(self, labs: Labs, folder: Path) -> None:
        self._labs = labs
        self._conversations = 0
        self.folder = folder
        self.gateway = Gateway(folder, _configuration(labs.ports))

    def next_number(self) -> int:
        """Of a conversation, from 1."""
        self._conversations += 1
        return self._conversations

    def calls(self) -> tuple[list[Call], list[Call]]:
        """So far, at the first origin and at the second."""
        return self._labs.calls("")


@contextmanager
def set_up(folder: Path) -> Iterator[Stage]:
    """Origins and a gateway that run; afterwards nothing does."""
    tried: set[bytes] = set()
    labs = Labs(NO_SCRIPT, NO_SCRIPT, (_origin(0, tried), _origin(1, tried)))
    stage = None
    try:
        stage = Stage(labs, folder)
        yield stage
    finally:
        if stage is not None:
            stage.gateway.stop()
        labs.close()


def _origin(number: int, tried: set[bytes]) -> Origin:
    behaviours = {model.name: _behaviour(model, number) for model in MODELS}
    return Origin(SEAL, _usage(**USAGES[number]), behaviours, tried)


def _behaviour(model: Model, number: int) -> Behaviour:
    first = model.first
    fails = first.fails if number == 0 or first.anywhere else None
    return Behaviour(fails, first.anywhere, model.keeps, model.tells)


def _usage(input_tokens: int, output_tokens: int) -> dict[str, Any]:
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input_tokens + output_tokens,
    }


def _configuration(ports: tuple[int, ...]) -> str:
    """A `latchway.yaml`, which may be JSON. No route is set aside: every turn meets the failure."""
    return json.dumps(
        {
            "providers": {
                name: {"base_url": f"http://127.0.0.1:{port}/v1"}
                for name, port in zip(NAMES, ports, strict=True)
            },
            "models": {model.name: _model(model) for model in MODELS},
            "health": {"enabled": False},
        }
    )


def _model(model: Model) -> dict[str, Any]:
    return {
        "price": {"input": 1, "output": 4},
        "context_tokens": 100_000,
        "max_output_tokens": 1000,
        "routes": [
            {"provider": name, "name": name, "origin": "shared", "store_default": model.keeps}
            for name in NAMES
        ],
    }
