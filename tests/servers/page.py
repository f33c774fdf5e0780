"""The printed part of docs/upstreams.md: for each server its versions, manners, and every turn."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

from clients import environments
from clients.roster import NEW
from servers.passed import Fetched
from servers.playing import Row
from servers.server import Server

PAGE = Path(__file__).resolve().parents[2] / "docs" / "upstreams.md"
HEAD = "| what | asked by | the client is told | verdicts | charged |"
LINE = "|---|---|---|---|---|"


def begin(server: Server) -> str:
    return f"<!-- printed by `make upstreams`: {server.name} -->"


END = "<!-- end of what is printed -->"


def section(
    server: Server, seen: tuple[str, ...], rows: Iterable[Row], fetched: Iterable[Fetched]
) -> str:
    """All that a run tells of one server."""
    versions = ", ".join(f"{name} {version}" for name, version in _versions(server))
    sdk = f"the SDK: openai-python {NEW.removeprefix('openai-')}"
    return "\n".join(
        [
            f"Tried: {versions}; {sdk}. Unusual in its events:",
            "",
            *(f"- {manner}" for manner in seen),
            "",
            "```yaml",
            server.snippet.rstrip(),
            "```",
            "",
            HEAD,
            LINE,
            *lines(rows),
            *(f"| {each.what} | raw HTTP | {each.told} | | |" for each in fetched),
        ]
    )


def lines(rows: Iterable[Row]) -> list[str]:
    """A line for all ways of asking that came to the same."""
    merged: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        charged = "nothing" if row.is_free else "as metered"
        verdicts = ", ".join(row.verdicts)
        cells = (row.played.what, str(row.played.told), verdicts, charged)
        merged.setdefault(cells, []).append(row.played.via.name)
    return [
        f"| {what} | {'; '.join(vias)} | {told} | {verdicts} | {charged} |"
        for (what, told, verdicts, charged), vias in merged.items()
    ]


def write(server: Server, printed: str) -> None:
    """Put it in its place in the page."""
    before, rest = PAGE.read_text(encoding="utf-8").split(begin(server))
    _, _, after = rest.partition(END)
    text = f"{before}{begin(server)}\n{printed}\n{END}{after}"
    PAGE.write_text(text, encoding="utf-8")


def _versions(server: Server) -> list[tuple[str, str]]:
    ask = "import importlib.metadata as m, sys; print(*map(m.version, sys.argv[1:]))"
    python = environments.python(*server.pins)
    words = [python, "-c", ask, *server.distributions]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()
    return list(zip(server.distributions, said, strict=True))
