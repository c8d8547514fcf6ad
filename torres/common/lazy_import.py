"""Modules that are imported when they are first used, so that commands start fast."""

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any


class _LazyModule(ModuleType):
    """Stands for a module, and imports it at each access; all but the first are fast.

    `importlib.util.LazyLoader` would show a half-executed module to the other threads
    of a server, because Python 3.11 holds no lock there.
    """

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- as a module says
        return getattr(import_module(self.__name__), name)


def lazy_import(name: str) -> ModuleType:
    """Return a module whose code runs at the first access to one of its names.

    Raises ModuleNotFoundError at once if there is no such module.
    """
    if find_spec(name) is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    return _LazyModule(name)
