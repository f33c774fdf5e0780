"""Prints the pages of docs/ that are made from the tables in the code, so that they cannot differ.

`make docs` writes them; a test fails when a page is not what it would print.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from latchway import config
from latchway.turn import failures
from latchway.turn.decide import RULE_OF, SENTENCE, Verdict
from latchway.wire import errors

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
    return RULE_INTRO + verdicts + FAILURES_INTRO + ways + CODES_INTRO + codes


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


def _codes() -> Iterable[tuple[str, str]]:
    for code in sorted(failures.RETRYABLE_CODES):
        yield f"`{code}`", "yes"
    for code in sorted(failures.FINAL_CODES):
        yield f"`{code}`", "no"


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "the-rule.md": ("`turn/decide.py` and `turn/failures.py`", the_rule),
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
