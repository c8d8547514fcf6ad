"""Torres, the board game: the rules of ten editions, notation, replays and search.

It needs the standard library only. If a C compiler was available at the installation,
the kernel is compiled; `compiled` is True if the compiled kernel runs. TORRES_PURE=1 in
the environment loads the plain Python source instead.
"""

import os
import sys
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, SourceFileLoader

if os.environ.get("TORRES_PURE") == "1":  # pragma: no branch - set for coverage
    # This finder of the package's modules does not see compiled files.
    for _folder in __path__:
        sys.path_importer_cache[_folder] = FileFinder(
            _folder, (SourceFileLoader, SOURCE_SUFFIXES)
        )

from engine import kernel
from engine.editions import PRESETS
from engine.errors import BadSwitch, EngineError, IllegalAction
from engine.game import TorresGame, seen_by
from engine.kernel import Position
from engine.rulesets import Rules, resolve
from engine.setup import Setup, derive, derive_seed

__all__ = [
    "PRESETS",
    "BadSwitch",
    "EngineError",
    "IllegalAction",
    "Position",
    "Rules",
    "Setup",
    "TorresGame",
    "compiled",
    "derive",
    "derive_seed",
    "resolve",
    "seen_by",
]

compiled = not kernel.__file__.endswith(".py")
