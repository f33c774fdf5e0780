"""Prints the pages of docs/ that are made from the tables in the code, so that they cannot differ.

`make docs` writes them; a test fails when a page is not what it would print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from latchway import config
from latchway.turn import failures
from latchway.turn.decide import RULE_OF, SENTENCE, Verdict
from latchway.wire import bindings, errors

FOLDER = Path(__file__).resolve().parents[1] / "docs"

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
retryable; an `error` event is not.

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

What the gateway itself says to a client. An upstream's own failure keeps its own code, status and
message. `retryable` says that sending the request again is safe and may help:

- *no*, *yes*: always so;
- *if not called*: yes, if no upstream was called for it;
- *by rule (b)*: yes, if the failure left nothing behind: it came before any event, the request is
  stateless, nothing was delivered or metered, and no replay was used.

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
    return ERRORS_INTRO + table(
        ("code", "HTTP status", "retryable", "what it says"),
        (
            (f"`{code}`", str(row.status or "the upstream's"), row.retry.value, row.message)
            for code, row in errors.TABLE.items()
        ),
    )


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


def page(name: str) -> str:
    """The whole text of a page. KeyError: it is not a printed one."""
    source, text = PAGES[name]
    return PRINTED.format(source=source) + text().rstrip("\n") + "\n"


if __name__ == "__main__":
    for name in PAGES:
        (FOLDER / name).write_text(page(name), encoding="utf-8")
