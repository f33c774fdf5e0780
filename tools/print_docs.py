"""Prints the pages of docs/ that are made from the tables in the code, so that they cannot differ.

`make docs` writes them; a test fails when a page is not what it would print.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, get_args

import openai
from openai.types.responses import ResponseStreamEvent

from latchway import config
from latchway.turn import failures
from latchway.turn.decide import RULE_OF, SENTENCE, Verdict
from latchway.wire import bindings, errors, meaning

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "docs"
ADVICE = tomllib.loads((HERE / "advice.toml").read_text(encoding="utf-8"))

PRINTED = "<!-- Printed by `make docs` from {source}. Do not edit. -->\n\n"

RULE_INTRO = """\
# The rule

A turn is one client request. It is run a second time, once and on another route, only when nobody
can notice. The question is asked once, whenever an attempt has failed, in this order; the first
line that is true is the verdict, and stands in the turn's record with its rule. The numbers are
explained in [rules.md](rules.md).

## Verdicts

"""

FAILURES_INTRO = """
## Failures

Every way in which an attempt can fail. "Can be replayed" is one of the conditions, not the whole
rule: the verdicts above come first. Without a code of the gateway's own, the client gets the
upstream's failure as it is.

"""

CODES_INTRO = """
## Codes of upstreams

The code decides, never the error's `type` nor its message; an explicit `retryable` on the error
wins over this list. A `response.failed` with a code that is not listed, or with none, is
retryable; an `error` event is not. Retryable means here: by the gateway, on another route, which
may have what this one lacks. Whether a client may send again is told by the `retryable` of its own
error ([errors](errors.md)).

"""

BINDINGS_INTRO = """
## What ties a request to one place

The record of a turn names its binding. *stored*: `store` is true, or omitted where the route
stores by default. *continuation*: it has a `previous_response_id` or a `conversation`.
*origin_bound*: the header `x-latchway-route` or `x-codex-turn-state` came with it, or it holds one
of these and does not leave it empty:

"""

NOT_BINDING = """
`metadata`, `text` and the client's own schemas are not searched, and ids that tie items of the
request to each other (`call_id`) tie it to no place. With `encrypted_content` alone, routes of one
`origin` can stand in for each other.
"""

TOOLS_INTRO = """
## Tools that act

With `turn: {replay_acting_tools: false}` a request is not replayed on R2.2 if it has a tool that
may have acted before its first event. These do not act; every other type does, or may:
"""

ERRORS_INTRO = """\
# Errors

**To know whether you may send a request again, look at `retryable` and at nothing else.** It is in
every error of the gateway's own. Over HTTP the header `x-should-retry` says the same of every error
answer, an upstream's too. True means: sending it again is safe and may help. Once output has come,
it is false.

- `code` says what happened; `message` says it in words, with the mend. Messages may change.
- `retry_after`, if it is not null: seconds to wait before you send again, 60 at most.
- `request_id` finds the turn: `latchway requests show ID`.

An upstream's own failure keeps its own code, status and message. Over SSE its events, `error` and
`response.failed`, pass unchanged: they have no `retryable` unless the upstream wrote one, and then
nobody has said that another request is safe. (The client library then goes by
[its own list of codes](client.md#what-is-retryable).) This page has the codes of the gateway
itself; [the rule](the-rule.md#codes-of-upstreams) has those of upstreams that are known to it. How
an error looks over HTTP, in a stream and on a socket: [http.md](http.md#errors).

## All codes

`retryable`: *no* and *yes* are always so. *If not called*, which is rule (a): yes, if no upstream
was called for it. *By rule (b)*: yes, if the failure left nothing behind: it came before any event,
the request is stateless, nothing was delivered or metered, and no replay was used.

"""


def the_rule() -> str:
    """docs/the-rule.md"""
    verdicts = table(
        ("verdict", "because", "rule"),
        ((f"`{each.value}`", SENTENCE[each], _rule(each)) for each in Verdict),
    )
    ways = table(
        ("failure", "rule", "can be replayed", "code, if it is the gateway's"),
        (
            (f"`{row.name}`", row.rule, "yes" if row.replayable else "no", _code(row.code))
            for row in vars(failures).values()
            if isinstance(row, failures.Failure)
        ),
    )
    codes = table(("code", "retryable"), _codes())
    ties = table(("in the request", "where", "why"), _ties())
    harmless = ", ".join(f"`{kind}`" for kind in sorted(bindings.ACTS_NOT))
    rule = RULE_INTRO + verdicts + FAILURES_INTRO + ways + CODES_INTRO + codes
    return rule + BINDINGS_INTRO + ties + NOT_BINDING + TOOLS_INTRO + harmless + ".\n"


def the_errors() -> str:
    """docs/errors.md"""
    rows = (
        (f"[`{code}`](#{code})", _status(row), row.retry.value, ADVICE[code].get("retry_after", ""))
        for code, row in errors.TABLE.items()
    )
    head = ("code", "status", "`retryable`", "`retry_after`")
    return ERRORS_INTRO + table(head, rows) + "".join(map(_entry, errors.TABLE))


def _entry(code: str) -> str:
    row, advice = errors.TABLE[code], ADVICE[code]
    facts = f"Status {_status(row)}. Retryable: {row.retry.value}. Mended by: {advice['who']}."
    return f"\n### `{code}`\n\n{row.message}\n\n{advice['todo']}\n\n{facts}\n"


def _status(row: errors.Row) -> str:
    return str(row.status or "the upstream's")


def the_events() -> str:
    """The tables of docs/streaming.md"""
    listed = table(
        ("type", "class"), ((f"`{name}`", kind.value) for name, kind in meaning.KINDS.items())
    )
    families: dict[str, list[str]] = {}
    for name in sorted({_type(each) for each in get_args(get_args(ResponseStreamEvent)[0])}):
        if name not in meaning.KINDS:
            family = ".".join(name.split(".")[:2])
            families.setdefault(family, []).append(f"`{name.removeprefix(family)}`")
    output = table(
        ("type begins with", "and ends with"),
        ((f"`{family}`", ", ".join(ends)) for family, ends in families.items()),
    )
    rest = f"Everything else is **output**. openai-python {openai.__version__} knows these:"
    return f"{listed}\n{rest}\n\n{output}"


def _type(event: Any) -> str:
    (name,) = get_args(event.model_fields["type"].annotation)
    return str(name)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rule(verdict: Verdict) -> str:
    return RULE_OF.get(verdict, "the failure's own")


def _code(code: str | None) -> str:
    return f"`{code}`" if code else ""


def _ties() -> Iterable[tuple[str, str, str]]:
    for rule in bindings.TABLE:
        if not rule.portable:
            yield f"`{rule.name}`", rule.where.value, rule.why
    yield "`id`", "alone in an item of `input`", bindings.BARE.why


def _codes() -> Iterable[tuple[str, str]]:
    for code in sorted(failures.RETRYABLE_CODES):
        yield f"`{code}`", "yes"
    for code in sorted(failures.FINAL_CODES):
        yield f"`{code}`", "no"


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "the-rule.md": ("`turn/decide.py`, `turn/failures.py` and `wire/bindings.py`", the_rule),
    "errors.md": ("`wire/errors.py`", the_errors),
    "configuration.md": ("`config/schema.py`", config.reference),
}


PARTS: dict[str, tuple[str, Callable[[], str]]] = {
    "streaming.md": ("`wire/meaning.py`", the_events),
}
"""Pages with one part that is printed, between two comments."""

BEGIN = "<!-- printed by `make docs` from {source} -->\n"
END = "<!-- end of what is printed -->\n"


def page(name: str) -> str:
    """The whole text of a page. KeyError: nothing of it is printed."""
    if name in PAGES:
        source, text = PAGES[name]
        return PRINTED.format(source=source) + text().rstrip("\n") + "\n"
    source, text = PARTS[name]
    before, begin, rest = (
        (FOLDER / name).read_text(encoding="utf-8").partition(BEGIN.format(source=source))
    )
    _, end, after = rest.partition(END)
    return before + begin + "\n" + text() + "\n" + end + after


if __name__ == "__main__":
    for name in (*PAGES, *PARTS):
        (FOLDER / name).write_text(page(name), encoding="utf-8")
