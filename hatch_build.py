"""The compiled build: the turn and the wire, made into C extensions from their source by mypyc.

Off unless asked for (`make compiled`), so that a plain install needs no compiler. Which modules are
compiled, and why others are not, stands in pyproject.toml with the rest of this hook's settings.
What is built lies in a folder of its own until the wheel is made, never beside the source, where
the next plain run would load it. The wheel keeps the source too: tracebacks name its lines.
"""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from mypyc.build import mypycify
from setuptools import Distribution
from setuptools.command.build_ext import build_ext

GROUP = "latchway"
"""All modules are one library, so that they call each other without Python in between."""


class CompiledBuildHook(BuildHookInterface[Any]):
    """Adds the extensions to a wheel, which is then one for this platform and interpreter."""

    _folder: TemporaryDirectory[str]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = TemporaryDirectory()
        folder = Path(self._folder.name)
        with chdir(Path(self.root) / "src"):
            _build(self.config["modules"], folder)
        library = folder / "lib"
        built = {str(path): str(path.relative_to(library)) for path in library.rglob("*.*")}
        build_data["force_include"].update(built)
        build_data["pure_python"], build_data["infer_tag"] = False, True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


def _build(modules: list[str], folder: Path) -> None:
    """Into `lib`, as they lie among installed packages. The modules' paths are those from there,
    too: a traceback names them."""
    extensions = mypycify(
        [f"--cache-dir={folder / 'types'}", *modules],
        opt_level="3",
        debug_level="0",
        target_dir=str(folder / "c"),
        group_name=GROUP,
    )
    build = build_ext(Distribution({"name": GROUP, "ext_modules": extensions}))
    build.build_lib, build.build_temp = str(folder / "lib"), str(folder / "objects")
    build.ensure_finalized()
    build.run()
