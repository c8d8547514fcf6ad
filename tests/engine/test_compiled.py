"""The compiled kernel plays like the plain source and is never older."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import engine
from engine.build import MODULES

ROOT = Path(engine.__file__).parents[1]
needs_compiled = pytest.mark.skipif(
    not engine.compiled, reason="the kernel is not compiled"
)

PLAY = """
import hashlib, engine
from engine import kernel
digest = hashlib.sha256()
for ruleset in engine.PRESETS:
    for seats in (2, 3, 4):
        rules = engine.resolve(ruleset, seats)
        position = kernel.start(rules, engine.derive(rules, f"{ruleset} {seats}"))
        draw = 1
        while moves := position.legal():
            draw = draw * 6364136223846793005 % 2**64
            position.apply(moves[(draw >> 33) % len(moves)])
            digest.update(repr(moves).encode())
        digest.update(repr(list(position.track.scores)).encode())
print(engine.compiled, digest.hexdigest())
"""


def play(pure: str) -> list[str]:
    environment = os.environ | {"TORRES_PURE": pure, "PYTHONPATH": str(ROOT)}
    process = subprocess.run(
        [sys.executable, "-c", PLAY],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return process.stdout.split()


def test_the_plain_source_is_loaded_on_request() -> None:
    assert play("1")[0] == "False"


@needs_compiled
def test_compiled_and_plain_agree_move_for_move() -> None:
    compiled = play("0")
    plain = play("1")

    assert compiled == ["True", plain[1]]


@needs_compiled
@pytest.mark.parametrize("module", MODULES)
def test_a_compiled_file_is_not_older_than_its_source(module: str) -> None:
    folder = ROOT / "engine"
    compiled = Path(str(import_module(f"engine.{module}").__file__))

    for source in (folder / f"{module}.py", folder / f"{module}.pxd"):
        assert source.stat().st_mtime <= compiled.stat().st_mtime, "run make install"


def declarations(module: str) -> str:
    return (ROOT / "engine" / f"{module}.pxd").read_text()


@pytest.mark.parametrize("module", MODULES)
def test_methods_that_a_subclass_may_replace_are_not_called_through_python(
    module: str,
) -> None:
    classes = re.findall(
        r"^(.*\n)cdef class .*\n((?: .*\n|\n)*)", declarations(module), re.MULTILINE
    )

    for before, methods in classes:
        assert before == "@cython.final\n" or "cpdef" not in methods


@pytest.mark.parametrize("module", MODULES)
def test_functions_of_compiled_modules_are_imported_as_c(module: str) -> None:
    source = (ROOT / "engine" / f"{module}.py").read_text()
    imports = re.findall(r"^from engine\.(\w+) import (.*)", source, re.MULTILINE)

    for other, names in imports:
        if other not in MODULES:
            continue
        theirs = re.findall(r"^cpdef .*?(\w+)\(", declarations(other), re.MULTILINE)
        ours = re.findall(
            rf"^from engine.{other} cimport (.*)", declarations(module), re.MULTILINE
        )
        for name in set(re.findall(r"\w+", names)) & set(theirs):
            assert name in re.findall(r"\w+", "".join(ours))
