"""A copy of a commit in which mutants are tried, one after the other."""

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from compileall import compile_dir
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cosmic_ray.mutating import use_mutation
from cosmic_ray.plugins import get_operator

from tests.mutation.areas import Area
from tests.mutation.mutants import Mutant
from tests.mutation.results import Outcome

ROOT = Path(__file__).parents[2]
PLUGINS = Path(__file__).parent / "plugin"
NO_TESTS = 5  # an exit code of pytest


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The time that the tests of a module may take.

    Endless loops meet the limit of CPU time, which does not depend on the load of the
    machine. The other limit is for tests that wait for each other; it is so large that
    a busy machine does not meet it.
    """

    cpu_s: int
    wall_s: float


UNCHANGED = TimeLimits(cpu_s=600, wall_s=3600)


class Workshop:
    """The copy, with a data folder of its own for each run of the tests."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.source = folder / "source"
        self._data = folder / "data"
        self._empty_database = folder / "empty.db"
        self._limits: dict[tuple[str, ...], TimeLimits] = {}
        self._export(commit)

    def _export(self, commit: str) -> None:
        """Copy the files of a commit, and the compiled engine of the working tree."""
        self.source.mkdir()
        export = ["git", "archive", commit]
        archive = subprocess.run(export, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        subprocess.run(["tar", "-x"], cwd=self.source, check=True, input=archive.stdout)
        for library in (ROOT / "engine").glob("*.so"):
            shutil.copy(library, self.source / "engine")
        compile_dir(self.source, quiet=2)

    def outcome(self, mutant: Mutant, area: Area) -> Outcome:
        """Run the tests of its module with a mutant."""
        tests = area.tests[mutant.path]
        limits = self._limits_of(tests, area)
        operator = get_operator(mutant.operator)()
        path = self.source / mutant.path
        with use_mutation(path, operator, mutant.occurrence):
            return self._run(tests, area, limits)

    def _limits_of(self, tests: tuple[str, ...], area: Area) -> TimeLimits:
        """Return the limits of these tests; run them once without a mutant."""
        if tests not in self._limits:
            began, used = time.monotonic(), _cpu_of_children()
            if self._run(tests, area, UNCHANGED) != Outcome.SURVIVED:
                raise RuntimeError(f"These fail without a mutant: {' '.join(tests)}")
            cpu_s = _cpu_of_children() - used
            wall_s = time.monotonic() - began
            self._limits[tests] = TimeLimits(int(6 + 3 * cpu_s), 900 + 10 * wall_s)
            print(
                f"{wall_s:6.1f} s  {cpu_s:.1f} s of CPU: {' '.join(tests)}", flush=True
            )
        return self._limits[tests]

    def _run(self, tests: tuple[str, ...], area: Area, limits: TimeLimits) -> Outcome:
        environment = os.environ | area.environment
        environment |= {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # a start takes half the time
            "PYTHONDONTWRITEBYTECODE": "1",  # else a mutant may run instead of another
            "PYTHONPATH": str(PLUGINS),
            "TORRES_DATA": str(self._data),
        }
        command = [
            *("prlimit", f"--cpu={limits.cpu_s}", "--"),
            *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
            *("-p", "no_shrinking", "--assert=plain", "--tb=no"),
            *("-m", "not deep and not soak"),
            *tests,
        ]
        with self._fresh_data(), Path(os.devnull).open("w") as nothing:
            try:
                done = subprocess.run(
                    command,
                    cwd=self.source,
                    env=environment,
                    stdout=nothing,
                    stderr=nothing,
                    check=False,
                    timeout=limits.wall_s,
                )
            except subprocess.TimeoutExpired:
                return Outcome.TIMEOUT
        if done.returncode == NO_TESTS:
            raise RuntimeError(f"No test is in {' '.join(tests)}")
        if done.returncode < 0:  # the signal of a limit
            return Outcome.TIMEOUT
        return Outcome.KILLED if done.returncode else Outcome.SURVIVED

    @contextmanager
    def _fresh_data(self) -> Iterator[None]:
        """Provide a data folder. Its database is migrated once, and has no rows.

        A mutant may leave rows behind, which would let the next one fail.
        """
        self._data.mkdir()
        database = self._data / "test.db"
        try:
            if self._empty_database.exists():
                shutil.copy(self._empty_database, database)
            yield
            if database.exists() and not self._empty_database.exists():
                shutil.copy(database, self._empty_database)
        finally:
            shutil.rmtree(self._data)


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
