"""Compile the kernel when the project is installed (pyproject.toml names this module).

Cython translates `MODULES` in pure-Python mode, with the types of their .pxd files,
against the limited API, so that one wheel works with every CPython from 3.11 on. Either
all modules are compiled or none: without Cython or a compiler, with TORRES_PURE=1, or
after an error, the installation continues, and the same source runs uncompiled. Nothing
imports this module at run time.
"""

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext

MODULES = (
    "board",
    "cards",
    "stock",
    "track",
    "state",
    "legal",
    "kernel",
    "playouts",
    "evaluation",
    "turns",
    "observation",
)
_LIMITED_API = "0x030B0000"
_DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # the types are in the .pxd files
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "binding": False,  # less code to compile: nothing inspects the functions
}


# This class runs during an installation, which does not measure coverage.
class Compile(build_ext):  # type: ignore[misc]  # pragma: no cover
    """Compile the kernel if possible; otherwise print a warning."""

    def finalize_options(self) -> None:
        self.distribution.ext_modules = [_extension(module) for module in MODULES]
        super().finalize_options()
        self.parallel = os.cpu_count()

    def run(self) -> None:
        try:
            super().run()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - no error may stop it
            self._give_up(error)

    def build_extensions(self) -> None:
        if os.environ.get("TORRES_PURE") == "1":
            raise RuntimeError("TORRES_PURE is 1")
        # Looked for first, because to translate for nothing takes most of a minute.
        command = getattr(self.compiler, "compiler_so", None)
        if command and shutil.which(command[0]) is None:
            raise FileNotFoundError(f"there is no compiler {command[0]!r}")
        # Imported here because the module must load without Cython.
        translated = import_module("Cython.Build").cythonize(
            [_extension(module) for module in MODULES],
            build_dir=self.build_temp,
            compiler_directives=_DIRECTIVES,
            nthreads=self.parallel,
            quiet=True,
        )
        for extension, result in zip(self.extensions, translated, strict=True):
            extension.sources = result.sources
        super().build_extensions()

    def _give_up(self, error: BaseException) -> None:
        self.warn(f"the kernel stays uncompiled, which is slower: {error}")
        # A kernel that is compiled in part does not work: delete the finished modules.
        for output in self.get_outputs():
            Path(output).unlink(missing_ok=True)
        self.extensions: list[Extension] = []
        self.distribution.ext_modules = []
        # A wheel without compiled modules fits every platform; its tag must say this.
        wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
        if wheel is not None:
            wheel.root_is_pure = True


def _extension(module: str) -> Extension:  # pragma: no cover
    unix = sys.platform != "win32"
    return Extension(
        f"engine.{module}",
        [f"engine/{module}.py"],
        define_macros=[("Py_LIMITED_API", _LIMITED_API)],
        py_limited_api=True,
        # -O3 takes a quarter longer, and the kernel is no faster. CFLAGS, if given,
        # decides instead.
        extra_compile_args=["-O2", "-g0"]
        if unix and "CFLAGS" not in os.environ
        else [],
        extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
    )
