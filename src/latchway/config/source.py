"""From a file to YAML nodes: text, tags and lines, nothing constructed.

Nodes keep a number as it was written, so that a price is never a binary fraction on its way; and
they keep both of two equal keys, so that the second can be told instead of winning silently.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode
from ruamel.yaml.reader import ReaderError

from latchway.config.faults import Report, Where

MAX_FILE_BYTES = 1 << 20
"""A configuration of a thousand models is below this; a wrong file is not read whole."""

NULL_TAG = "tag:yaml.org,2002:null"


def read_tree(path: Path, report: Report) -> MappingNode | None:
    """The file's root mapping; None if there is none, and then the report says why."""
    text = _read_text(path, report)
    root = None if text is None else _compose(text, report)
    if root is None or isinstance(root, MappingNode):
        return root
    report.fault((), "must be a mapping of fields such as `listen: 127.0.0.1:8787`")
    return None


def members(node: Node, where: Where, report: Report) -> Iterator[tuple[str, Node]]:
    """The members of a mapping, in order, their lines noted. An empty value is an empty mapping."""
    if node.tag == NULL_TAG:
        return
    if not isinstance(node, MappingNode):
        report.fault(where, "must be a mapping of fields: `name: value`, one a line")
        return
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, ScalarNode) or not key.value:
            report.fault(where, "a field's name must be a word", line)
        elif report.said((*where, key.value)):
            first = report.lines[(*where, key.value)]
            message = f"is said a second time, first in line {first}; keep one"
            report.fault((*where, key.value), message, line)
        else:
            report.lines[(*where, key.value)] = line
            yield key.value, value


def _read_text(path: Path, report: Report) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
            mode = os.fstat(file.fileno()).st_mode
    except OSError as error:
        report.fault((), f"cannot be read: {error.strerror}; name a file that can, with --config")
        return None
    report.open_to_others = bool(mode & (stat.S_IRGRP | stat.S_IROTH))
    if len(data) > MAX_FILE_BYTES:
        report.fault((), f"is over {MAX_FILE_BYTES} bytes: this is hardly a configuration file")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        report.fault((), "is not UTF-8 here; save the file as UTF-8", line)
        return None


def _compose(text: str, report: Report) -> Node | None:
    yaml = YAML(typ="safe", pure=True)
    yaml.composer.warn_double_anchors = False  # An anchor may be given anew; YAML allows it.
    try:
        root: Node | None = yaml.compose(text)
    except ReaderError as error:
        line = text[: error.position].count("\n") + 1
        report.fault((), "holds a control character here; remove it", line)
        return None
    except MarkedYAMLError as error:
        report.fault((), _syntax_message(error), error.problem_mark.line + 1)
        return None
    except (YAMLError, RecursionError):
        report.fault((), "is not YAML that can be read: it nests too deeply, or has no end")
        return None
    if root is None:
        report.fault((), "is empty; `providers` and `models` are needed")
    return root


def _syntax_message(error: MarkedYAMLError) -> str:
    """The parser's words without what it quotes of the file, and the mend of the usual causes."""
    if "'\\t'" in str(error.problem):
        return "a tab cannot indent YAML; use spaces"
    problem = re.sub(r"'(?!<)[^']{2,}'", "'…'", str(error.problem))
    begun = error.context_mark
    if begun is not None and begun.line != error.problem_mark.line:
        problem += f", in what begins in line {begun.line + 1}"
    return f"is not YAML: {problem}; a value with : # * & @ % or ` in it needs quotes"
