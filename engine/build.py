"""How the kernel is compiled when the project is installed (pyproject.toml names this).

Cython translates `MODULES`, in pure-Python mode with the types of the .pxd files beside
them, against the limited API: one wheel serves every CPython from 3.11 on. It is all or
nothing: without Cython or a compiler, or after an error, the installation goes on, and
the same source runs uncompiled. At run time nothing imports this module.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext

MODULES = ("board", "cards", "stock", "track", "state", "legal", "kernel")
_LIMITED_API = "0x030B0000"
_DIRECTIVES = {
    "language_level": 3,
    "annotation_typing": False,  # the types stand in the .pxd files
    "infer_types": True,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
}


# It runs while the project is installed, where nothing measures coverage.
class Compile(build_ext):  # type: ignore[misc]  # pragma: no cover
    """Compiles the kernel where that is possible, and says so where it is not."""

    def finalize_options(self) -> None:
        self.distribution.ext_modules = [_extension(module) for module in MODULES]
        super().finalize_options()
        self.parallel = os.cpu_count()

    def run(self) -> None:
        try:
            super().run()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing may stop us
            self._give_up(error)

    def build_extensions(self) -> None:
        # By name: a system without Cython has to get past this line, too.
        translated = import_module("Cython.Build").cythonize(
            [_extension(module) for module in MODULES],
            build_dir=self.build_temp,
            compiler_directives=_DIRECTIVES,
            nthreads=self.parallel,
            quiet=True,
        )
        for extension, done in zip(self.extensions, translated, strict=True):
            extension.sources = done.sources
        super().build_extensions()

    def _give_up(self, error: BaseException) -> None:
        self.warn(f"the kernel stays uncompiled, which is slower: {error}")
        # Half a compiled kernel does not work: take away what was built before.
        for output in self.get_outputs():
            Path(output).unlink(missing_ok=True)
        self.extensions: list[Extension] = []


def _extension(module: str) -> Extension:  # pragma: no cover
    unix = sys.platform != "win32"
    return Extension(
        f"engine.{module}",
        [f"engine/{module}.py"],
        define_macros=[("Py_LIMITED_API", _LIMITED_API)],
        py_limited_api=True,
        extra_compile_args=["-O3", "-g0"] if unix else [],
        extra_link_args=["-Wl,-s"] if sys.platform == "linux" else [],
    )
