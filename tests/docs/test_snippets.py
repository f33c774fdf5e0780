"""Every snippet of README.md and docs/ works: it is run, or checked as far as it can be.

What a page tells a reader to do is one session; `test_programs.py` has what is run by itself.
"""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from clients.gateway import Gateway
from command import configured, latchway
from docs import session
from docs.pages import Block, all_blocks, blocks, pages
from docs.stage import serving
from latchway.lab.checked import parse
from repo.tree import ROOT, name_of, text_of

RUN = ("sh", "python")
"""Languages of a session."""

ASIDE = ("not run", "run with")
"""Marks of what is no part of it."""

PRINTED = ("prints", "prints alike")
"""Marks of what a session must print."""

REST = """\
providers: {primary: {base_url: "http://127.0.0.1:9001/v1"}}
models:
  m: {price: free, routes: [{provider: primary, store_default: false}]}
"""
"""What a configuration needs beside the part of it that a page shows."""

ENVIRONMENT = {"OPENAI_API_KEY": "sk-1", "BACKUP_KEY": "sk-2", "ADMIN_TOKEN": "a-long-token"}
"""The variables that the pages' configurations name."""


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with serving(tmp_path_factory.mktemp("docs")) as gateway:
        yield gateway


def in_session(block: Block) -> bool:
    return block.mark == "file" or (block.language in RUN and block.mark not in ASIDE)


WITH_SESSION = {
    name_of(page): each for page in pages() if (each := [*filter(in_session, blocks(page))])
}


@pytest.mark.parametrize("name", WITH_SESSION)
def test_what_a_page_says_to_do_works_in_its_order(
    name: str, gateway: Gateway, tmp_path: Path
) -> None:
    page = WITH_SESSION[name]
    own = any(session.SERVES in block.text for block in page)
    said = session.run(page, tmp_path if own else gateway.folder, gateway)
    assert [line for line, pattern in shown(name) if not re.search(pattern, said)] == [], said


def shown(name: str) -> Iterator[tuple[str, str]]:
    """What the page says that is printed: each line, and the pattern of what may stand for it."""
    for block in blocks(ROOT / name):
        if block.mark in PRINTED:
            for line in block.text.splitlines():
                yield line, as_pattern(line, alike=block.mark == "prints alike")


def as_pattern(line: str, alike: bool) -> str:
    """`…` is what varies; how wide the columns are varies, too. `alike`: so do figures."""
    pattern = r"\s+".join(re.escape(word).replace("…", ".*") for word in line.split())
    return re.sub(r"\d+", lambda _: r"\d+", pattern) if alike else pattern


def of_shell(block: Block, folder: Path) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def of_yaml(block: Block, folder: Path) -> None:
    """A configuration, whole or in part, or a script of the lab's."""
    value = YAML(typ="safe").load(block.text)
    if isinstance(value, list) or "calls" in value or "calls" in str(value.get("routes")):
        parse(value)
        return
    rest = json.dumps(YAML(typ="safe").load(REST) | value)
    file = configured(folder, block.text if {"providers", "models"} <= set(value) else rest)
    done = latchway("check", "--config", str(file), **ENVIRONMENT)
    assert done.returncode == 0, done.stdout


def of_nginx(block: Block, folder: Path) -> None:
    nginx = shutil.which("nginx")
    if nginx is None:
        pytest.skip("there is no nginx here")
    text = f"pid {folder}/pid; events {{}} http {{ access_log off; {block.text} }}"
    (folder / "nginx.conf").write_text(text, encoding="utf-8")
    done = subprocess.run(
        [nginx, "-t", "-p", str(folder), "-c", "nginx.conf", "-e", "stderr"], capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()


def of_unit(block: Block, folder: Path) -> None:
    unit = configparser.ConfigParser(strict=False)
    unit.read_string(block.text)
    assert unit.sections() == ["Unit", "Service", "Install"]


def of_toml(block: Block, folder: Path) -> None:
    assert tomllib.loads(block.text)


CHECKS: dict[str, Callable[[Block, Path], Any]] = {
    "sh": of_shell,
    "yaml": of_yaml,
    "nginx": of_nginx,
    "ini": of_unit,
    "toml": of_toml,
}
"""By language: what is not run, and can be checked all the same."""

NOT_RUN = [
    block
    for block in all_blocks()
    if not in_session(block) and block.mark not in ("run with", *PRINTED)
]


@pytest.mark.parametrize("block", [b for b in NOT_RUN if b.language in CHECKS], ids=str)
def test_what_is_not_run_is_what_its_language_says(block: Block, tmp_path: Path) -> None:
    CHECKS[block.language](block, tmp_path)


def test_what_is_neither_run_nor_checked_says_why() -> None:
    """A block in another language, or in none, is no exception."""
    says_why = [block for block in NOT_RUN if block.mark == "not run" and " " in block.value]
    checked = [block for block in NOT_RUN if block.language in CHECKS and block.mark == ""]
    assert [str(block) for block in NOT_RUN if block not in [*says_why, *checked]] == []


def test_no_block_is_overlooked() -> None:
    """A fence that is indented, or not closed, would be run by nobody."""
    marks = {name_of(page): len(re.findall(r"^\s*```", text_of(page), re.M)) for page in pages()}
    assert marks == {name_of(page): 2 * len(blocks(page)) for page in pages()}
