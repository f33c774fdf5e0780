"""Every snippet of README.md and docs/ works: it is run, or checked as far as it can be."""

from __future__ import annotations

import ast
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
    return block.mark == "file" or (block.language in RUN and block.mark != "not run")


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
    assert [line for line in shown(name) if not re.search(as_pattern(line), said)] == [], said


def shown(name: str) -> list[str]:
    """What the page says that is printed, line by line."""
    printed = [block.text for block in blocks(ROOT / name) if block.mark == "prints"]
    return "".join(printed).splitlines()


def as_pattern(line: str) -> str:
    """`…` is what varies; how wide the columns are varies, too."""
    words = (re.escape(word).replace("…", ".*") for word in line.split())
    return r"\s+".join(words)


def of_python(block: Block, folder: Path) -> None:
    ast.parse(block.text)


def of_shell(block: Block, folder: Path) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True)
    assert done.returncode == 0, done.stderr


def of_json(block: Block, folder: Path) -> None:
    json.loads(block.text)


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


def of_javascript(block: Block, folder: Path) -> None:
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node here")
    (folder / "snippet.mjs").write_text(block.text, encoding="utf-8")
    done = subprocess.run([node, "--check", "snippet.mjs"], cwd=folder, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


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


def of_text(block: Block, folder: Path) -> None:
    """What a program says; there is nothing to run."""


CHECKS: dict[str, Callable[[Block, Path], Any]] = {
    "python": of_python,
    "sh": of_shell,
    "json": of_json,
    "yaml": of_yaml,
    "js": of_javascript,
    "nginx": of_nginx,
    "ini": of_unit,
    "toml": of_toml,
    "text": of_text,
}
"""By language. A block in another one, or in none, is a mistake."""


@pytest.mark.parametrize("block", all_blocks(), ids=str)
def test_every_block_is_what_its_language_says(block: Block, tmp_path: Path) -> None:
    CHECKS[block.language](block, tmp_path)


def test_what_is_not_run_says_why() -> None:
    silent = [
        str(block)
        for block in all_blocks()
        if block.language in RUN and block.mark == "not run" and len(block.value.split()) < 2
    ]
    assert silent == []


def test_no_block_is_overlooked() -> None:
    """A fence that is indented, or not closed, would be run by nobody."""
    marks = {name_of(page): len(re.findall(r"^\s*```", text_of(page), re.M)) for page in pages()}
    assert marks == {name_of(page): 2 * len(blocks(page)) for page in pages()}
