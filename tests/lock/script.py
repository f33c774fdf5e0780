"""A scenario as it stands in its file: prose, a head of facts, what happens, what was recorded.

| line | is |
|---|---|
| `> …` | a stimulus: something that the world does |
| `< port  …` | recorded: what the turn made of it, on either transport |
| `<h`, `<w` | recorded over HTTP, over a WebSocket, where the two differ |

The head says only what is not usual. Scripts are abstract: who plays one decides what a route, an
upstream and a ledger are made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

SCENARIOS = Path(__file__).parent / "scenarios"

TRANSPORTS = ("http", "websocket")

USUAL = {
    "binding": "stateless",
    "made": "",
    "routes": "a b",
    "client": "http websocket",
    "streamed": "yes",
    "tools": "none",
    "room": "yes",
    "settings": "",
    "bytes": "usual",
    "probe": "",
}
"""The head's fields but for `rules`, with what holds if one is left out.

`routes`: each a name, then maybe `:disabled`, `:stores` (what is not said to be stored is stored
there), `:origin=NAME`, `:drops=FIELD` (its `drop_fields`) or a clock of its own (`CLOCKS`), in
seconds; `:aside` is set aside when the turn begins. What follows a comma in `binding` says how it
is bound (`stage.BOUND`). `made`: the route that made what the request continues or holds, or one of
`NOT_OURS`; not said: a continuation's is a, and nobody knows who made the rest. `tools: acting`
with the setting that forbids a replay then, `allowed` without it; `function`: one that the client
runs.
`room: no`: too many replays in flight. `bytes`: how the upstreams write, a dialect and manners
(`spoken.DIALECTS`, `spoken.MANNERS`). `probe`: cases of PROBE.md that it shows.
"""

NOT_OURS = ("nobody", "another")
"""Nobody here has seen it; another owner has."""

CLOCKS = {
    "hold": "hold_seconds",
    "first": "first_event_timeout_seconds",
    "idle": "idle_timeout_seconds",
}
"""Marks of a route that has a clock of its own, and the setting that each is."""

Recording = Mapping[str, Sequence[Sequence[str]]]
"""For each transport, the lines that each stimulus led to."""

FACT = re.compile(r"([a-z]+): (.+)")


@dataclass(frozen=True)
class Scenario:
    """`stimuli`: without their mark, in order. `opening`: the text before the first, untouched."""

    opening: str
    head: Mapping[str, str]
    rules: tuple[str, ...]
    stimuli: tuple[str, ...]

    @property
    def transports(self) -> list[str]:
        return self.head["client"].split()


def read(text: str) -> Scenario:
    """Read a file; what was recorded in it is left aside. ValueError: it is no scenario."""
    opening, mark, _ = text.partition("\n> ")
    if not mark:
        raise ValueError("a scenario needs a stimulus: a line that begins with `> `")
    matches = (FACT.fullmatch(line) for line in opening.splitlines())
    facts = {match[1]: match[2] for match in matches if match}
    rules = tuple(facts.pop("rules", "").split())
    unknown = set(facts) - set(USUAL)
    if unknown or not rules:
        raise ValueError(f"the head needs `rules`, and has no {sorted(unknown)}")
    stimuli = tuple(line[2:] for line in text.splitlines() if line.startswith("> "))
    return Scenario(opening, {**USUAL, **facts}, rules, stimuli)


def write(scenario: Scenario, recording: Recording) -> str:
    """The whole file, as it is if `recording` is what was recorded."""
    lines = [scenario.opening]
    for number, stimulus in enumerate(scenario.stimuli):
        lines.append(f"> {stimulus}")
        lines += _merged({name: recording[name][number] for name in scenario.transports})
    return "\n".join([*lines, ""])


def _merged(told: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Said once where the transports agree."""
    first, *others = told.items()
    if not others:
        yield from (f"< {line}" for line in first[1])
        return
    (name, lines), (other, other_lines) = first, others[0]
    matcher = SequenceMatcher(None, lines, other_lines, autojunk=False)
    for same, start, end, other_start, other_end in matcher.get_opcodes():
        if same == "equal":
            yield from (f"< {line}" for line in lines[start:end])
        else:
            yield from (f"<{name[0]} {line}" for line in lines[start:end])
            yield from (f"<{other[0]} {line}" for line in other_lines[other_start:other_end])
