"""What a user pastes from docs/upstreams.md is what the run used, and a sound configuration."""

from __future__ import annotations

from pathlib import Path

import pytest

from command import configured, latchway
from servers.page import PAGE, begin
from servers.run import SERVERS
from servers.server import Server


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: str(server.name))
def test_the_page_has_the_snippet_and_the_turns(server: Server) -> None:
    _, _, printed = PAGE.read_text(encoding="utf-8").partition(begin(server))
    assert server.snippet in printed.partition("<!-- end")[0], "say `make upstreams`"


@pytest.mark.parametrize("server", SERVERS, ids=lambda server: str(server.name))
def test_a_snippet_is_a_configuration_without_faults(tmp_path: Path, server: Server) -> None:
    file = configured(tmp_path, server.snippet)
    checked = latchway("check", folder=file.parent)
    assert (checked.returncode, checked.stderr) == (0, "latchway.yaml: good\n")
