"""The two programs of examples/, as they stand: a mode is the name of one.

They print text, and return how the turn ended or raise: whether output had come, and the start of
the event. Both go to `raised`, for neither program keeps types or ids.
"""

from __future__ import annotations

import importlib.util
import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import ModuleType

from seen import Job, Seen, work

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
SAID = re.compile(r"after_output=(True|False): (.{1,300})", re.DOTALL)


def loaded(name: str) -> ModuleType:
    """The program, which does nothing when it is imported."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(job: Job) -> Seen:
    """One turn."""
    seen = Seen()
    program = loaded(f"stream_{job['mode']}")
    with redirect_stdout(StringIO()) as printed:
        try:
            seen.raised = program.stream(job["url"], job["key"], job["request"])
        except RuntimeError as error:
            note(seen, SAID.fullmatch(str(error)))
    seen.text = printed.getvalue()
    return seen


def note(seen: Seen, said: re.Match[str] | None) -> None:
    assert said is not None, "the error is not as the program promises"
    seen.raised = f"after_output={said[1]}"
    seen.code = code_in(said[2])


def code_in(problem: str) -> str | None:
    """The code in what the program raised: JSON, or Python's way to write it."""
    found = re.search(r"""["']code["']: ?["'](\w+)["']""", problem)
    return found[1] if found else None


if __name__ == "__main__":
    work(run)
